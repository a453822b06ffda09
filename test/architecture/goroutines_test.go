package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// leakless are the packages whose goroutines are checked by the tests of others, and why.
func leakless() map[string]string {
	return map[string]string{
		"internal/stack":           "it starts servers of tests; each suite that uses it checks",
		"internal/store/storetest": "it is part of each store's tests",
		"queue/queuetest":          "it is part of each queue's tests",
		"test/bench":               "it measures, and ends",
	}
}

// TestGoroutinesAreLookedFor: the tests of a package that starts goroutines end with leaktest.
func TestGoroutinesAreLookedFor(t *testing.T) {
	t.Parallel()
	for pkg, files := range packages(t) {
		starts, looks := "", false
		for _, f := range files {
			if at := startsGoroutine(f.tree); at.IsValid() && !f.test {
				starts = f.fset.Position(at).String()
			}
			looks = looks || f.test && mentions(f.tree, "leaktest")
		}
		_, excused := leakless()[pkg]
		switch {
		case starts != "" && !looks && !excused:
			t.Errorf("%s starts a goroutine (%s) and no test of it ends with leaktest: write\n\tfunc TestMain(m "+
				"*testing.M) { leaktest.Main(m) }", pkg, starts)
		case excused && starts == "":
			t.Errorf("%s is in leakless and starts no goroutine: remove it", pkg)
		}
	}
}

// startsGoroutine finds a go statement or a call of a method Go, which WaitGroup and errgroup have.
func startsGoroutine(tree *ast.File) (at token.Pos) {
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			at = n.Pos()
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" {
				at = n.Pos()
			}
		}
		return true
	})
	return at
}

// mentions reports whether a package's name is used.
func mentions(tree *ast.File, pkg string) (found bool) {
	ast.Inspect(tree, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == pkg {
				found = true
			}
		}
		return true
	})
	return found
}

// TestNoTestSleeps: a test waits for a signal, or sleeps in the virtual time of a synctest bubble.
func TestNoTestSleeps(t *testing.T) {
	t.Parallel()
	for _, files := range packages(t) {
		for _, at := range newBubbles(files).sleeps() {
			t.Errorf("%s: a test sleeps outside a synctest bubble: wait for a signal, or use virtual time", at)
		}
	}
}

// bubbles records what the tests of a package call outside bubbles. It goes by names alone: a method stands for
// every method of its name. A literal that is passed to synctest.Test, or to a helper that calls it, is inside.
type bubbles struct {
	funcs   map[string][]function // by name
	opens   map[string]bool       // functions that open a bubble
	outside map[string]bool       // functions that are called outside one
	found   []token.Position      // sleeps outside one
}

type function struct {
	fset *token.FileSet
	decl *ast.FuncDecl
}

func newBubbles(files []parsed) *bubbles {
	b := &bubbles{
		funcs: map[string][]function{}, opens: map[string]bool{"synctest.Test": true}, outside: map[string]bool{},
	}
	for _, f := range files {
		if !f.test {
			continue
		}
		for _, d := range f.tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				b.funcs[name(fn)] = append(b.funcs[name(fn)], function{f.fset, fn})
			}
		}
	}
	for grown := true; grown; {
		grown = false
		for of, fns := range b.funcs {
			if !b.opens[of] && !entry(of) && slices.ContainsFunc(fns,
				func(f function) bool { return b.callsOpener(f.decl) }) {
				b.opens[of], grown = true, true
			}
		}
	}
	return b
}

// entry reports whether the testing package calls a function.
func entry(name string) bool {
	return slices.ContainsFunc([]string{"Test", "Fuzz", "Benchmark", "Example"},
		func(p string) bool { return strings.HasPrefix(name, p) })
}

func (b *bubbles) callsOpener(fn *ast.FuncDecl) (found bool) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && b.opener(call) {
			found = true
		}
		return true
	})
	return found
}

func (b *bubbles) opener(call *ast.CallExpr) bool {
	return slices.ContainsFunc(names(call), func(name string) bool { return b.opens[name] })
}

// sleeps follows the calls from every test. In a package without bubbles everything is outside.
func (b *bubbles) sleeps() []token.Position {
	for of := range b.funcs {
		if entry(of) || len(b.opens) == 1 && !b.anyBubble() {
			b.walk(of)
		}
	}
	return b.found
}

func (b *bubbles) anyBubble() bool {
	for _, fns := range b.funcs {
		if slices.ContainsFunc(fns, func(f function) bool { return b.callsOpener(f.decl) }) {
			return true
		}
	}
	return false
}

// walk follows a function that is called outside a bubble.
func (b *bubbles) walk(of string) {
	if b.outside[of] {
		return
	}
	b.outside[of] = true
	for _, f := range b.funcs[of] {
		b.through(f, f.decl.Body, kept(f.decl.Body))
	}
}

// through follows the calls in a body. A literal in a variable is followed where it is called.
func (b *bubbles) through(f function, body ast.Node, literals map[string]*ast.FuncLit) {
	ast.Inspect(body, func(n ast.Node) bool {
		if literal, ok := n.(*ast.FuncLit); ok && n != body {
			return !slices.Contains(slices.Collect(maps.Values(literals)), literal)
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		for _, name := range names(call) {
			if literal := literals[name]; literal != nil {
				rest := maps.Clone(literals)
				delete(rest, name)
				b.through(f, literal, rest)
			}
			if name == "time.Sleep" {
				b.found = append(b.found, f.fset.Position(call.Pos()))
			}
			if len(b.funcs[name]) > 0 && !b.opens[name] {
				b.walk(name)
			}
		}
		return !b.opener(call)
	})
}

// kept are the literals that variables of a function hold, by the variables' names.
func kept(body ast.Node) map[string]*ast.FuncLit {
	found := map[string]*ast.FuncLit{}
	ast.Inspect(body, func(n ast.Node) bool {
		if assign, ok := n.(*ast.AssignStmt); ok && len(assign.Lhs) == 1 {
			variable, named := assign.Lhs[0].(*ast.Ident)
			if literal, ok := assign.Rhs[0].(*ast.FuncLit); ok && named {
				found[variable.Name] = literal
			}
		}
		return true
	})
	return found
}

// names are those that a call may match: for w.settled() "w.settled" and ".settled".
func names(call *ast.CallExpr) []string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return []string{f.Name}
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return []string{x.Name + "." + f.Sel.Name, "." + f.Sel.Name}
		}
		return []string{"." + f.Sel.Name}
	}
	return nil
}

// name is the name by which a function is called: a method with a dot before it.
func name(fn *ast.FuncDecl) string {
	if fn.Recv != nil {
		return "." + fn.Name.Name
	}
	return fn.Name.Name
}

// parsed is one Go file.
type parsed struct {
	test bool
	fset *token.FileSet
	tree *ast.File
}

// packages parses all Go files, by their package's folder.
func packages(t *testing.T) map[string][]parsed {
	t.Helper()
	all := map[string][]parsed{}
	for _, f := range sources(t) {
		fset := token.NewFileSet()
		text, err := os.ReadFile(filepath.Join(root, f.path))
		if err != nil {
			t.Fatal(err)
		}
		tree, err := parser.ParseFile(fset, f.path, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		all[f.pkg] = append(all[f.pkg], parsed{f.test, fset, tree})
	}
	return all
}
