package architecture_test

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// raised is an error that the code makes: the texts of its fields, by their names.
type raised struct {
	of     string // the type, with its package's folder; madeHere for fmt.Errorf and errors.New
	path   string
	fields map[string]string
}

const (
	madeHere = "error"
	answered = "http.Error"
	logged   = "log.Error"
	whole    = "text" // the field of an error that is nothing but its text
)

// key tells errors apart. Marks that no call fills are …
func (e raised) key() string {
	var k strings.Builder
	k.WriteString(e.of)
	for _, name := range slices.Sorted(maps.Keys(e.fields)) {
		k.WriteString("\x00" + name + "\x00" + bare(e.fields[name]))
	}
	return k.String()
}

// open reports whether a text still depends on a parameter, and on whose.
func (e raised) open() (number int, ok bool) {
	for _, name := range slices.Sorted(maps.Keys(e.fields)) {
		for _, m := range marked.FindAllStringSubmatch(e.fields[name], -1) {
			if _, err := strconv.Atoi(m[2]); err == nil {
				number, _ = strconv.Atoi(m[1]) // the expression matches digits only
				return number, true
			}
		}
	}
	return 0, false
}

// with is the error with each of the texts in a field. As many texts as errors belong together, one by one.
func with(all []raised, name string, texts []string) (out []raised) {
	if len(all) > 1 && len(texts) > 1 && len(all) != len(texts) {
		texts = common(texts)
	}
	for i, e := range all {
		mine := texts
		if len(texts) > 1 && len(all) == len(texts) {
			mine = texts[i : i+1]
		}
		for _, text := range mine {
			next := raised{e.of, e.path, maps.Clone(e.fields)}
			next.fields[name] = text
			out = append(out, next)
		}
	}
	return out
}

// raiser finds the errors of a program. A function that makes one of its parameters' texts raises it where it is called.
type raiser struct {
	t testing.TB
	reader
	found  map[string]raised // by key and folder
	filled map[string]bool   // by number and key: a call gave a part of the text
	asIs   map[string]bool   // … and a call gave none
	inner  map[ast.Node]bool // calls that were read as a part of another one
}

// all reads the program again until it finds no more functions that raise an error for their callers.
func (r *raiser) all() []raised {
	r.pass() // it finds which errors are parts of others
	for _, f := range r.functions {
		f.raises = nil
	}
	for known := -1; known != r.open(); {
		known = r.open()
		r.pass()
	}
	for _, f := range r.functions {
		for _, e := range f.raises {
			if k := of(f, e); r.asIs[k] || !r.filled[k] {
				r.keep(e)
			}
		}
	}
	var out []raised
	for _, k := range slices.Sorted(maps.Keys(r.found)) {
		out = append(out, r.found[k])
	}
	return out
}

func (r *raiser) pass() {
	r.found, r.filled, r.asIs = map[string]raised{}, map[string]bool{}, map[string]bool{}
	for _, f := range r.functions {
		r.inner = map[ast.Node]bool{}
		for _, node := range f.body {
			ast.Inspect(node, func(n ast.Node) bool { return r.visit(n, f) })
		}
	}
}

func (r *raiser) open() (n int) {
	for _, f := range r.functions {
		n += len(f.raises)
	}
	return n
}

func of(f *callable, e raised) string { return fmt.Sprint(f.number, e.key()) }

func (r *raiser) keep(e raised) {
	for name, text := range e.fields {
		e.fields[name] = bare(text)
	}
	r.found[e.key()+"\x00"+e.path] = e
}

func (r *raiser) visit(n ast.Node, f *callable) bool {
	var raises []raised
	switch n := n.(type) {
	case *ast.FuncLit:
		return false // a function of its own
	case *ast.AssignStmt:
		r.variable(n, f)
	case *ast.CallExpr:
		if !r.inner[n] {
			raises = r.byCall(n, f)
		}
	case *ast.CompositeLit:
		if !r.inner[n] && !r.used[n] {
			raises = r.byLiteral(n, f, nil)
		}
	}
	r.record(raises, f)
	return true
}

// record keeps errors with a fixed text, and gives others to the function on whose parameters they depend.
func (r *raiser) record(raises []raised, f *callable) {
	for _, e := range raises {
		number, open := e.open()
		if !open {
			r.keep(e)
			continue
		}
		owner := r.functions[number]
		if !slices.ContainsFunc(owner.raises, func(known raised) bool { return known.key() == e.key() }) {
			if len(owner.raises) == 100 {
				r.t.Fatalf("%s: a function raises more than 100 errors for its callers: %q", owner.path, e.fields)
			}
			owner.raises = append(owner.raises, e)
		}
	}
}

// byCall are the errors that a call makes.
func (r *raiser) byCall(n *ast.CallExpr, f *callable) []raised {
	switch name := called(n); {
	case (name == "fmt.Errorf" || name == "errors.New") && len(n.Args) > 0:
		return slices.DeleteFunc(with([]raised{{madeHere, f.path, map[string]string{}}}, whole, r.made(n, f)), func(e raised) bool {
			_, open := e.open()
			return open && r.used[n] // callers have what it is a part of
		})
	case name == "http.Error" && len(n.Args) == 3:
		return with([]raised{{answered, f.path, map[string]string{}}}, whole, r.text(n.Args[1], f))
	}
	if isLogged(n) {
		return r.logged(n, f)
	}
	if to, ok := n.Fun.(*ast.Ident); ok && f.unit.errors[to.Name] != nil && len(n.Args) == 1 { // a string that is an error
		return with([]raised{{madeHere, f.path, map[string]string{}}}, whole, r.text(n.Args[0], f))
	}
	if raises := r.built(n, f); raises != nil {
		return raises
	}
	var all []raised
	for _, g := range r.callees(n, f) {
		for _, e := range g.raises {
			all = append(all, r.instance(e, n, g, f)...)
		}
	}
	return all
}

// isLogged reports whether a call logs an error: x.log.Error("…", …).
func isLogged(n *ast.CallExpr) bool {
	method, ok := n.Fun.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != "Error" || len(n.Args) == 0 {
		return false
	}
	switch x := method.X.(type) {
	case *ast.Ident:
		return x.Name == "log"
	case *ast.SelectorExpr:
		return strings.EqualFold(x.Sel.Name, "log")
	}
	return false
}

// logged is a line of the log. The catalog of the journal says what to do about those of an event.
func (r *raiser) logged(n *ast.CallExpr, f *callable) []raised {
	const explained = "journalctl -x explains it"
	var remedies []string
	for i, arg := range n.Args[1:] {
		var key string
		if literal, ok := arg.(*ast.BasicLit); ok {
			key, _ = strconv.Unquote(literal.Value)
		}
		switch selector, ok := arg.(*ast.SelectorExpr); {
		case (key == "hint" || key == "remedy") && i+2 < len(n.Args):
			remedies = append(remedies, r.text(n.Args[i+2], f)...)
		case ok && selector.Sel.Name == "Key":
			remedies = []string{explained}
		}
		if slices.Contains(remedies, explained) {
			break
		}
	}
	if n.Ellipsis.IsValid() {
		remedies = []string{explained} // the attributes are made before
	}
	if remedies = slices.DeleteFunc(remedies, func(s string) bool { return strings.Trim(bare(s), "… ") == "" }); len(remedies) == 0 {
		remedies = []string{""}
	}
	return with(with([]raised{{logged, f.path, map[string]string{}}}, whole, r.text(n.Args[0], f)), "Remedy", remedies)
}

// built reads a method that sets a field of an error and returns it: malformed("is empty").withRemedy("…").
func (r *raiser) built(n *ast.CallExpr, f *callable) []raised {
	method, ok := n.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	made, ok := method.X.(*ast.CallExpr)
	if !ok {
		return nil
	}
	for _, g := range r.named(method.Sel.Name, f.unit) {
		fields := g.blocks[0].fields[g.receiver]
		if g.receiver == "" || len(fields) == 0 || len(g.returns) != 1 {
			continue
		}
		raises := r.byCall(made, f)
		r.inner[made] = true
		for name, v := range fields {
			for _, text := range r.any([]value{v}) {
				raises = with(raises, name, r.fill(text, n, g, f))
			}
		}
		return raises
	}
	return nil
}

// instance is an error of a function with what a call gives. What precedes a sentence, such as the action that failed,
// and the names in it make no other sentence.
func (r *raiser) instance(e raised, n *ast.CallExpr, g, f *callable) []raised {
	if e.complete() && !r.adds(e, n, g, f) {
		r.asIs[of(g, e)] = true
		return nil
	}
	all := []raised{{e.of, f.path, map[string]string{}}}
	for _, name := range order(e.of, slices.Sorted(maps.Keys(e.fields))) {
		all = with(all, name, r.fill(e.fields[name], n, g, f))
	}
	var out []raised
	for _, one := range all {
		if _, open := one.open(); !open && one.key() == e.key() {
			r.asIs[of(g, e)] = true
			continue
		}
		r.filled[of(g, e)] = true
		out = append(out, one)
	}
	return out
}

// complete reports whether an error tells what is wrong, whatever its marks stand for.
func (e raised) complete() bool {
	for name, text := range e.fields {
		if named(name) && strings.HasPrefix(text, "\x01") {
			return false
		}
	}
	return worded.MatchString(bare(e.fields[sentenceOf(e.of)]))
}

// adds reports whether a call gives an error a reason or a remedy.
func (r *raiser) adds(e raised, n *ast.CallExpr, g, f *callable) bool {
	for _, text := range e.fields {
		for _, at := range marked.FindAllStringSubmatchIndex(text, -1) {
			first := at[0] == 0 && strings.HasPrefix(text[at[1]:], ":")
			if !first && text[at[2]:at[3]] == strconv.Itoa(g.number) &&
				slices.ContainsFunc(r.argument(text[at[4]:at[5]], at[6] < at[7], n, g, f), reason) {
				return true
			}
		}
	}
	return false
}
