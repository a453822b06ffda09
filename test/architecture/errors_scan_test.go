package architecture_test

import (
	"go/ast"
	"go/token"
)

// scan reads what a body assigns and returns. A function literal with a name is a function of its own.
func (c *code) scan(f *callable, body ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			g := c.add(&callable{unit: f.unit, path: f.path, imports: f.imports, outer: f})
			g.signature(n.Type)
			g.body = []ast.Node{n.Body}
			f.literals[n] = g
			c.scan(g, n.Body)
			return false
		case *ast.AssignStmt:
			f.assign(n)
		case *ast.BlockStmt:
			f.block(n, n.List)
		case *ast.CaseClause:
			f.block(n, n.Body)
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if _, of := n.Type.(*ast.SelectorExpr); of && n.Values == nil {
					f.locals[name.Name] = append(f.locals[name.Name], value{expr: n.Type, in: f})
				}
				if i < len(n.Values) {
					f.locals[name.Name] = append(f.locals[name.Name], value{expr: n.Values[i], in: f})
				}
			}
		case *ast.ReturnStmt:
			f.returns = append(f.returns, n.Results)
		case *ast.RangeStmt:
			if row, ok := n.Value.(*ast.Ident); ok {
				f.locals[row.Name] = append(f.locals[row.Name], value{expr: &ast.IndexExpr{X: n.X}, in: f})
			}
		}
		return true
	})
}

func (f *callable) assign(n *ast.AssignStmt) {
	for i, to := range n.Lhs {
		if to, ok := to.(*ast.Ident); ok {
			f.locals[to.Name] = append(f.locals[to.Name], f.assigned(n, i))
		}
	}
}

// assigned is what the left side i of an assignment becomes.
func (f *callable) assigned(n *ast.AssignStmt, i int) value {
	v := value{expr: n.Rhs[0], result: i, in: f}
	if len(n.Lhs) == len(n.Rhs) {
		v = value{expr: n.Rhs[i], in: f}
	}
	if n.Tok == token.ADD_ASSIGN {
		v.expr = &ast.BinaryExpr{X: n.Lhs[i], Op: token.ADD, Y: v.expr}
	}
	return v
}

// element is the type of the elements of a slice, an array or a map.
func element(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.ArrayType:
		return e.Elt
	case *ast.MapType:
		return e.Value
	}
	return nil
}

// fieldsOf are the names of the fields of a struct, declared in this package or where it is used.
func (f *callable) fieldsOf(e ast.Expr) []string {
	switch e := e.(type) {
	case *ast.StructType:
		return fieldNames(e.Fields)
	case *ast.Ident:
		return f.unit.structs[e.Name]
	}
	return nil
}

// column are the values of a field in a literal of structs; nil: it is none.
func (f *callable) column(n *ast.CompositeLit, field string) (all []value) {
	of := element(n.Type)
	names := f.fieldsOf(of)
	for _, e := range n.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			e = pair.Value
		}
		row, ok := e.(*ast.CompositeLit)
		if !ok || row.Type != nil || of == nil {
			return nil
		}
		cell, ok := f.cells(row, names)[field]
		if !ok {
			cell = value{expr: &ast.BasicLit{Kind: token.STRING, Value: `""`}, in: f}
		}
		all = append(all, cell)
	}
	return all
}

// cells are the values of a struct's literal by field.
func (f *callable) cells(n *ast.CompositeLit, names []string) map[string]value {
	by := map[string]value{}
	for i, e := range n.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok {
				by[key.Name] = value{expr: pair.Value, in: f}
			}
		} else if i < len(names) {
			by[names[i]] = value{expr: e, in: f}
		}
	}
	return by
}
