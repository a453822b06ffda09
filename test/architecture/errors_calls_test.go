package architecture_test

import (
	"go/ast"
	"slices"
)

// callees are the functions that a call may mean.
func (r *reader) callees(n *ast.CallExpr, f *callable) []*callable {
	switch to := n.Fun.(type) {
	case *ast.Ident:
		for g := f; g != nil; g = g.outer {
			for _, v := range g.locals[to.Name] {
				if lit, ok := v.expr.(*ast.FuncLit); ok {
					return []*callable{g.literals[lit]}
				}
			}
		}
		if g := f.unit.functions[to.Name]; g != nil {
			return []*callable{g}
		}
	case *ast.SelectorExpr:
		if x, ok := to.X.(*ast.Ident); ok {
			if f.imports[x.Name] != "" {
				if u := r.imported(x.Name, f); u != nil && u.functions[to.Sel.Name] != nil {
					return []*callable{u.functions[to.Sel.Name]}
				}
				return nil
			}
			if r.foreign(x.Name, f) {
				return nil
			}
		}
		return r.named(to.Sel.Name, f.unit)
	}
	return nil
}

// foreign reports whether a variable is declared with the type of another program's package: var b strings.Builder.
func (r *reader) foreign(name string, f *callable) bool {
	return slices.ContainsFunc(r.values(name, f), func(v value) bool {
		of, ok := v.expr.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		from, ok := of.X.(*ast.Ident)
		return ok && v.in.imports[from.Name] != "" && r.imported(from.Name, v.in) == nil
	})
}

// named are the methods of a name: those of the package, or the only one of the program.
func (r *reader) named(name string, u *unit) (own []*callable) {
	for _, m := range r.methods[name] {
		if m.unit == u {
			own = append(own, m)
		}
	}
	if own == nil && len(r.methods[name]) == 1 {
		return r.methods[name]
	}
	return own
}

func called(n *ast.CallExpr) string {
	switch f := n.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}
	}
	return ""
}

// target are the texts of an error that is looked for by its type: known, ok := errors.AsType[*knownError](err).
func (r *reader) target(e ast.Expr, f *callable) (texts []string) {
	x, ok := e.(*ast.Ident)
	if !ok {
		return nil
	}
	for _, v := range r.values(x.Name, f) {
		call, ok := v.expr.(*ast.CallExpr)
		if !ok || v.result > 0 {
			continue
		}
		by, ok := call.Fun.(*ast.IndexExpr)
		if !ok {
			continue
		}
		u, name := r.typeOf(by.Index, v.in)
		if u == nil || u.errors[name] == nil || known(u.folder+"."+name) != nil {
			continue
		}
		for _, text := range r.results(u.errors[name], 0) {
			if text = bare(text); worded.MatchString(text) {
				texts = append(texts, text)
			}
		}
	}
	return texts
}
