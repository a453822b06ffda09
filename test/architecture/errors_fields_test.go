package architecture_test

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
)

// block is a list of statements: the body of a function, of a case or of an if.
type block struct {
	from, to token.Pos
	fields   map[string]map[string]value // what it assigns to a field of a variable
}

// block reads what a list of statements assigns to fields. What adds to a text makes no other one.
func (f *callable) block(n ast.Node, list []ast.Stmt) {
	b := block{n.Pos(), n.End(), map[string]map[string]value{}}
	for _, one := range list {
		set, ok := one.(*ast.AssignStmt)
		if !ok || set.Tok == token.ADD_ASSIGN {
			continue
		}
		for i, to := range set.Lhs {
			field, ok := to.(*ast.SelectorExpr)
			if !ok {
				continue
			}
			if x, ok := field.X.(*ast.Ident); ok {
				if b.fields[x.Name] == nil {
					b.fields[x.Name] = map[string]value{}
				}
				b.fields[x.Name][field.Sel.Name] = f.assigned(set, i)
			}
		}
	}
	f.blocks = append(f.blocks, b)
}

// variants are the fields that are set of a variable that is made at a place: those of its block, and for each block in
// it that sets some, these with what surrounds them. What one block sets belongs together.
func (f *callable) variants(name string, at token.Pos) []map[string]value {
	var home block
	for _, b := range f.blocks {
		if b.from <= at && at < b.to {
			home = b
		}
	}
	all := []map[string]value{home.fields[name]}
	for i, b := range f.blocks {
		if b.from < at || b.from >= home.to || b.fields[name] == nil {
			continue
		}
		set := map[string]value{}
		for _, outer := range f.blocks[:i+1] {
			if home.from <= outer.from && b.to <= outer.to {
				maps.Copy(set, outer.fields[name])
			}
		}
		all = append(all, set)
	}
	return all
}

// variable reads an error that is made, and of which fields are set then: err := …; err.Hint = …
func (r *raiser) variable(n *ast.AssignStmt, f *callable) {
	to, ok := n.Lhs[0].(*ast.Ident)
	if !ok || len(n.Rhs) != 1 {
		return
	}
	variants := f.variants(to.Name, n.Pos())
	if len(variants) == 1 && variants[0] == nil {
		return
	}
	made := n.Rhs[0]
	if address, ok := made.(*ast.UnaryExpr); ok {
		made = address.X
	}
	var raises []raised
	for _, set := range variants {
		switch made := made.(type) {
		case *ast.CallExpr:
			raises = append(raises, r.set(r.byCall(made, f), set)...)
		case *ast.CompositeLit:
			raises = append(raises, r.byLiteral(made, f, set)...)
		}
	}
	if len(raises) == 0 {
		return
	}
	r.inner[made] = true
	r.record(raises, f)
}

// tells reports whether a value is more than what is filled in, and more than what the field had before.
func (r *raiser) tells(v value) bool {
	return slices.ContainsFunc(r.any([]value{v}), worded.MatchString)
}

// set changes the fields of errors that are set later.
func (r *raiser) set(raises []raised, fields map[string]value) []raised {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if len(raises) == 0 || !slices.Contains(known(raises[0].of), name) {
			continue
		}
		if v := fields[name]; named(name) || raises[0].fields[name] == "" || r.tells(v) {
			raises = with(raises, name, r.any([]value{v}))
		}
	}
	return raises
}
