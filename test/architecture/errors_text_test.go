package architecture_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// most is how many texts an expression may have; one with more counts as variable.
const most = 24

// variable is the text of what the code doesn't fix.
func variable() []string { return []string{"…"} }

// reader finds out which texts an expression may have. A parameter's is a mark until a call fills it in.
type reader struct {
	*code
	used  map[ast.Node]bool // errors that are a part of another one
	texts map[ast.Expr][]string
}

func (r *reader) text(e ast.Expr, f *callable) []string {
	if known, ok := r.texts[e]; ok {
		return known
	}
	r.texts[e] = variable() // if it depends on itself
	r.texts[e] = r.find(e, f)
	return r.texts[e]
}

func (r *reader) find(e ast.Expr, f *callable) []string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return []string{s}
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return join(r.text(e.X, f), r.text(e.Y, f))
		}
	case *ast.ParenExpr:
		return r.text(e.X, f)
	case *ast.UnaryExpr:
		return r.text(e.X, f)
	case *ast.Ident:
		return r.name(e.Name, f)
	case *ast.SelectorExpr:
		return r.selector(e, f)
	case *ast.CallExpr:
		return r.call(e, 0, f)
	case *ast.CompositeLit:
		return r.wrapper(e, f)
	}
	return variable()
}

// wrapper is the text of an error of a type that is known by its method Error alone.
func (r *reader) wrapper(e *ast.CompositeLit, f *callable) (texts []string) {
	u, name := r.typeOf(e.Type, f)
	if u != nil && slices.Equal(u.structs[name], []string{""}) && len(e.Elts) == 1 { // it embeds the error
		r.used[e] = true
		return r.text(e.Elts[0], f)
	}
	if u == nil || u.errors[name] == nil || known(u.folder+"."+name) != nil {
		return variable()
	}
	for _, one := range r.described(u.errors[name], "", f.cells(e, u.structs[name]), f) {
		texts = append(texts, one.fields[whole])
	}
	if texts == nil {
		return variable()
	}
	r.used[e] = true
	return texts
}

func (r *reader) name(name string, f *callable) []string {
	for g := f; g != nil; g = g.outer {
		if i := slices.Index(g.params, name); i >= 0 {
			return []string{mark(g, strconv.Itoa(i))}
		}
		if all := g.locals[name]; all != nil {
			return r.any(all)
		}
	}
	if v, ok := f.unit.constants[name]; ok {
		return r.any([]value{v})
	}
	return r.declared(f.unit, name)
}

// declared is the text of an error that a package declares.
func (r *reader) declared(u *unit, name string) []string {
	v, ok := u.variables[name]
	if !ok || !strings.HasPrefix(strings.ToLower(name), "err") {
		return variable()
	}
	texts := r.any([]value{v})
	if call, ok := v.expr.(*ast.CallExpr); ok {
		delete(r.used, call) // it has a row of its own
	}
	return texts
}

// any are the texts of the values that a variable may have.
func (r *reader) any(all []value) (texts []string) {
	for _, v := range all {
		one := variable()
		if call, ok := v.expr.(*ast.CallExpr); ok && v.result > 0 {
			one = r.call(call, v.result, v.in)
		} else if v.result == 0 {
			one = r.text(v.expr, v.in)
		}
		texts = append(texts, one...)
	}
	if len(texts) == 0 || len(texts) > most {
		return variable()
	}
	if same := slices.Compact(slices.Clone(texts)); len(same) == 1 {
		return same
	}
	return texts
}

// selector is a constant or an error of another package, a field of the receiver, or a cell of a table.
func (r *reader) selector(e *ast.SelectorExpr, f *callable) []string {
	x, ok := e.X.(*ast.Ident)
	if !ok {
		return variable()
	}
	if u := r.imported(x.Name, f); u != nil {
		if v, ok := u.constants[e.Sel.Name]; ok {
			return r.any([]value{v})
		}
		return r.declared(u, e.Sel.Name)
	}
	if x.Name == f.receiver {
		return []string{mark(f, e.Sel.Name)}
	}
	var all []value
	for _, v := range r.values(x.Name, f) {
		row, ok := v.expr.(*ast.IndexExpr)
		if !ok || v.result > 0 {
			return variable()
		}
		cells := r.cells(row.X, e.Sel.Name, v.in)
		if cells == nil {
			return variable()
		}
		all = append(all, cells...)
	}
	if texts := r.any(all); !slices.ContainsFunc(texts, marked.MatchString) {
		return texts
	}
	return variable()
}

// values are what a name that is no parameter may stand for.
func (r *reader) values(name string, f *callable) []value {
	for g := f; g != nil; g = g.outer {
		if slices.Contains(g.params, name) {
			return nil
		}
		if all := g.locals[name]; all != nil {
			return all
		}
	}
	if v, ok := f.unit.variables[name]; ok {
		return []value{v}
	}
	return nil
}

// cells are the values of a field in the rows of a table, in their order.
func (r *reader) cells(table ast.Expr, field string, f *callable) (all []value) {
	var tables []value
	switch table := table.(type) {
	case *ast.CompositeLit:
		return f.column(table, field)
	case *ast.Ident:
		tables = r.values(table.Name, f)
	case *ast.CallExpr:
		for _, g := range r.callees(table, f) {
			for _, answers := range g.returns {
				tables = append(tables, value{expr: answers[0], in: g})
			}
		}
	}
	for _, v := range tables {
		cells := r.cells(v.expr, field, v.in)
		if cells == nil || v.result > 0 {
			return nil
		}
		all = append(all, cells...)
	}
	return all
}

// imported is the package of the program that a name stands for.
func (r *reader) imported(name string, f *callable) *unit {
	folder, _ := ours(f.imports[name])
	return r.packages[folder]
}

// call is the text of a call's result: a string, or an error's.
func (r *reader) call(n *ast.CallExpr, result int, f *callable) []string {
	if method, ok := n.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "Error" && len(n.Args) == 0 {
		if texts := r.target(method.X, f); texts != nil {
			return texts
		}
		return r.text(method.X, f)
	}
	switch name := called(n); {
	case name == "fmt.Sprintf" && len(n.Args) > 0:
		return r.format(n, 0, f)
	case (name == "fmt.Errorf" || name == "errors.New") && len(n.Args) > 0:
		r.used[n] = true
		return r.made(n, f)
	case (name == "string" || name == "strings.TrimSpace") && len(n.Args) == 1:
		return r.text(n.Args[0], f)
	case name == "cmp.Or":
		var all []string
		for _, arg := range n.Args {
			all = append(all, r.text(arg, f)...)
		}
		return all
	}
	for _, g := range r.callees(n, f) {
		if texts := r.results(g, result); texts != nil {
			var filled []string
			for _, text := range texts {
				filled = append(filled, r.fill(text, n, g, f)...)
			}
			return filled
		}
	}
	return variable()
}

// made is the text of fmt.Errorf or errors.New.
func (r *reader) made(n *ast.CallExpr, f *callable) []string {
	if called(n) == "fmt.Errorf" {
		return r.format(n, 0, f)
	}
	return r.text(n.Args[0], f)
}

// results are the strings that a function may return; nil: it returns nothing that the code fixes, or no string.
func (r *reader) results(g *callable, result int) (texts []string) {
	if result >= len(g.results) || g.results[result] != "string" {
		return nil
	}
	for _, answers := range g.returns {
		if len(answers) == len(g.results) {
			texts = append(texts, r.text(answers[result], g)...)
		}
	}
	if !slices.ContainsFunc(texts, func(s string) bool { return strings.Trim(s, "… ") != "" }) || len(texts) > most {
		return nil
	}
	return texts
}

// mark stands for a parameter, by its number, or for a field of the receiver, by its name.
func mark(f *callable, what string) string { return fmt.Sprintf("\x01%d.%s\x02", f.number, what) }
