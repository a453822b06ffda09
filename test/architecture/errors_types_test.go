package architecture_test

import (
	"go/ast"
	"slices"
	"strings"
)

// known are the fields of an error's type that are sentences, or parts of one. A type that is not here has what its
// method Error shows, and a remedy.
func known(of string) []string {
	switch of {
	case "internal/taskerr.Error":
		return []string{"Class", "Message", "Hint"}
	case "internal/task.Invalid":
		return []string{"Field", "Problem", "Remedy"}
	case "internal/api.Problem", "internal/front.problem":
		return []string{"Code", "Detail"}
	case "internal/config.Problem":
		return []string{"Name", "Problem", "Remedy"}
	case "internal/config.fault":
		return []string{"problem", "remedy"}
	case "internal/cli.usageError":
		return []string{"err", "next"}
	case "internal/doctor.Result":
		return []string{"Check", "State", "Seen", "Remedy"}
	case "internal/cli.failure", "internal/app.ServiceError":
		return []string{"doing", "err", "next"}
	}
	return nil
}

// sentenceOf is the field with the sentence.
func sentenceOf(of string) string {
	for _, name := range []string{"Message", "Problem", "Detail", "problem", "err", "Seen"} {
		if slices.Contains(known(of), name) {
			return name
		}
	}
	return whole
}

// order puts the sentence before what depends on it.
func order(of string, names []string) []string {
	return append([]string{sentenceOf(of)}, slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return name == sentenceOf(of)
	})...)
}

// named reports whether a field has a name and no sentence.
func named(field string) bool {
	return slices.Contains([]string{"Class", "Code", "Name", "Check"}, field)
}

// remedies are the names of fields that say what to do.
func remedies() []string { return []string{"Remedy", "remedy", "Hint", "Next", "next"} }

// byLiteral are the errors of a struct's literal, or of the elements of a slice's.
func (r *raiser) byLiteral(n *ast.CompositeLit, f *callable) (all []raised) {
	if of := element(n.Type); of != nil {
		for _, e := range n.Elts {
			if row, ok := e.(*ast.CompositeLit); ok && row.Type == nil {
				all = append(all, r.literal(row, of, f)...)
			}
		}
		return all
	}
	return r.literal(n, n.Type, f)
}

func (r *raiser) literal(n *ast.CompositeLit, t ast.Expr, f *callable) []raised {
	u, name := r.typeOf(t, f)
	if u == nil {
		return nil
	}
	of, given := u.folder+"."+name, cells(n, u.structs[name])
	names := known(of)
	if names == nil {
		if u.errors[name] == nil {
			return nil
		}
		return r.described(u.errors[name], of, given, f)
	}
	all := []raised{{of, f.path, map[string]string{}}}
	for _, field := range order(of, names) {
		texts := []string{""}
		if given[field] != nil {
			texts = r.text(given[field], f)
		}
		all = with(all, field, texts)
	}
	return all
}

// typeOf finds the type of a literal.
func (r *reader) typeOf(e ast.Expr, f *callable) (*unit, string) {
	switch e := e.(type) {
	case *ast.StarExpr:
		return r.typeOf(e.X, f)
	case *ast.Ident:
		return f.unit, e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			if u := r.imported(x.Name, f); u != nil {
				return u, e.Sel.Name
			}
		}
	}
	return nil, ""
}

// described are the texts of a type's method Error with the fields of a literal.
func (r *reader) described(method *callable, of string, given map[string]ast.Expr, f *callable) (all []raised) {
	for _, text := range r.results(method, 0) {
		if !marked.MatchString(text) {
			continue // it stands at the type
		}
		var parts []part
		from := 0
		for _, at := range marked.FindAllStringSubmatchIndex(text, -1) {
			filled := part{text[at[4]:at[5]], variable()}
			if e := given[filled.name]; e != nil {
				filled.texts = r.text(e, f)
			}
			parts = append(parts, fixed(text[from:at[0]]), filled)
			from = at[1]
		}
		one := with([]raised{{of, f.path, map[string]string{}}}, whole, compose(append(parts, fixed(text[from:]))))
		for _, name := range remedies() {
			if given[name] != nil && !strings.Contains(text, "."+name+"\x02") {
				one = with(one, "Remedy", r.text(given[name], f))
			}
		}
		all = append(all, one...)
	}
	return all
}

// ofTypes are the texts that a type's method Error fixes, whatever its fields are.
func (r *raiser) ofTypes() (all []raised) {
	for _, f := range r.functions {
		for name, method := range f.unit.errors {
			of := f.unit.folder + "." + name
			if method != f || known(of) != nil {
				continue
			}
			for _, text := range r.results(f, 0) {
				all = append(all, raised{of, f.path, map[string]string{whole: bare(text)}})
			}
		}
	}
	slices.SortFunc(all, func(a, b raised) int { return strings.Compare(a.key(), b.key()) })
	return all
}
