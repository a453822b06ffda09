package architecture_test

import (
	"go/ast"
	"path"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// hints reads the cases of the engine's hint: what to do by class.
func (r *raiser) hints() map[string]string {
	by := map[string]string{}
	hint := r.packages["internal/engine"].functions["hint"]
	ast.Inspect(hint.body[0], func(n ast.Node) bool {
		branch, ok := n.(*ast.CaseClause)
		if !ok || len(branch.Body) != 1 {
			return true
		}
		answer, ok := branch.Body[0].(*ast.ReturnStmt)
		if !ok || len(answer.Results) != 1 {
			return true
		}
		for _, e := range branch.List {
			by[r.text(e, hint)[0]] = r.text(answer.Results[0], hint)[0]
		}
		return true
	})
	return by
}

// verdicts reads the rows of knownErrors: {store.ErrNotFound, verdict{code, next}}.
func (r *raiser) verdicts() map[string]string {
	by := map[string]string{}
	f := r.packages["internal/cli"].functions["knownErrors"]
	ast.Inspect(f.body[0], func(n ast.Node) bool {
		row, ok := n.(*ast.CompositeLit)
		if !ok || row.Type != nil || len(row.Elts) != 2 {
			return true
		}
		target, named := row.Elts[0].(*ast.SelectorExpr)
		v, ok := row.Elts[1].(*ast.CompositeLit)
		if !named || !ok || len(v.Elts) != 2 {
			return true
		}
		if from, ok := target.X.(*ast.Ident); ok {
			by[path.Base(f.imports[from.Name])+"."+target.Sel.Name] = bare(r.text(v.Elts[1], f)[0])
		}
		return true
	})
	return by
}

// constant is the text of a constant, which must be there.
func (r *raiser) constant(folder, name string) string {
	v, ok := r.packages[folder].constants[name]
	if !ok {
		r.t.Fatalf("%s has no constant %s", folder, name)
	}
	return bare(r.any([]value{v})[0])
}

// flags adds what the library of flags says of a command line, as it is printed.
func (c *collector) flags(t *testing.T) {
	t.Helper()
	const next = "… --help lists the flags"
	for _, line := range [][]string{{"--FLAG"}, {"-x"}, {"--NUMBER"}, {"-n"}, {"--=1"}} {
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		set.IntP("NUMBER", "n", 0, "")
		err := set.Parse(line)
		if err == nil {
			t.Fatalf("the flags %q are accepted", line)
		}
		text := strings.NewReplacer("FLAG", "…", "NUMBER", "…", "'x'", "'…'", "'n'", "'…'", "-x", "-…", "-n", "-…",
			"--=1", "--=…").Replace(err.Error())
		c.usage = append(c.usage, sentence{"", text, next, "internal/cli/usage.go"})
	}
}
