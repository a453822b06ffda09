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
	case "internal/dashboard.login":
		return []string{"Error"}
	case "internal/store.Finding":
		return []string{"Problem", "Mend"}
	case "internal/httpd.Check":
		return []string{"Name", "State", "Hint"}
	case "internal/doctor.Result":
		return []string{"Check", "State", "Seen", "Remedy"}
	case "internal/cli.failure", "internal/app.ServiceError":
		return []string{"doing", "err", "next"}
	}
	return nil
}

// sentenceOf is the field with the sentence.
func sentenceOf(of string) string {
	for _, name := range []string{"Message", "Problem", "Detail", "problem", "err", "Seen", "Error", "Hint"} {
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

// byLiteral are the errors of a struct's literal, or of the elements of a slice's. set are fields that are set later.
func (r *raiser) byLiteral(n *ast.CompositeLit, f *callable, set map[string]value) (all []raised) {
	if of := element(n.Type); of != nil {
		for _, e := range n.Elts {
			if row, ok := e.(*ast.CompositeLit); ok && row.Type == nil {
				all = append(all, r.literal(row, of, f, nil)...)
			}
		}
		return all
	}
	return r.literal(n, n.Type, f, set)
}

func (r *raiser) literal(n *ast.CompositeLit, t ast.Expr, f *callable, set map[string]value) []raised {
	u, name := r.typeOf(t, f)
	if u == nil {
		return nil
	}
	of, given := u.folder+"."+name, f.cells(n, u.structs[name])
	for field, v := range set {
		if _, ok := given[field]; !ok || r.tells(v) {
			given[field] = v
		}
	}
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
		if v, ok := given[field]; ok {
			texts = r.any([]value{v})
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
		if of, ok := f.unit.aliases[e.Name]; ok {
			return r.typeOf(of.expr, of.in)
		}
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
func (r *reader) described(method *callable, of string, given map[string]value, f *callable) (all []raised) {
	for _, text := range r.results(method, 0) {
		if !marked.MatchString(text) {
			continue // it stands at the type
		}
		var parts []part
		from := 0
		for _, at := range marked.FindAllStringSubmatchIndex(text, -1) {
			filled := part{text[at[4]:at[5]], variable()}
			if v, ok := given[filled.name]; ok {
				filled.texts = r.any([]value{v})
			}
			parts = append(parts, fixed(text[from:at[0]]), filled)
			from = at[1]
		}
		one := with([]raised{{of, f.path, map[string]string{}}}, whole, compose(append(parts, fixed(text[from:]))))
		for _, name := range remedies() {
			if v, ok := given[name]; ok && !strings.Contains(text, "."+name+"\x02") {
				one = with(one, "Remedy", r.any([]value{v}))
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
