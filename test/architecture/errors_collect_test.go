package architecture_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// readConstants reads a package's constants outside of functions.
func readConstants(tree *ast.File, into map[string]string) {
	for _, decl := range tree.Decls {
		if general, ok := decl.(*ast.GenDecl); ok {
			readDeclared(general, into)
		}
	}
}

func readDeclared(general *ast.GenDecl, into map[string]string) {
	for _, spec := range general.Specs {
		value, ok := spec.(*ast.ValueSpec)
		if !ok || general.Tok != token.CONST || len(value.Values) != len(value.Names) {
			continue
		}
		for i, name := range value.Names {
			if text := (&collector{constants: into}).text(value.Values[i]); text != "…" {
				into[name.Name] = text
			}
		}
	}
}

func (c *collector) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		c.call(n)
	case *ast.CompositeLit:
		c.literal(n)
		c.failure(n)
		c.known(n)
	case *ast.FuncDecl:
		c.locals = map[string]string{}
		ast.Inspect(n, func(inner ast.Node) bool {
			if general, ok := inner.(*ast.GenDecl); ok {
				readDeclared(general, c.locals)
			}
			return true
		})
		c.ofType(n)
		if n.Name.Name == "hint" && n.Recv == nil {
			ast.Inspect(n, c.remedies)
		}
	}
	return true
}

func (c *collector) call(n *ast.CallExpr) {
	name, args := called(n), n.Args
	switch {
	case (name == "taskerr.Errorf" || name == "Errorf" && strings.HasPrefix(c.where, "internal/taskerr/")) && len(args) > 1:
		c.tasks = append(c.tasks, sentence{class(args[0]), c.text(args[1]), "", c.where})
	case name == "badUsage" && len(args) > 1:
		c.usage = append(c.usage, sentence{"", c.text(args[1]), c.text(args[0]), c.where})
	case (name == "l.problem" || name == "l.warn") && len(args) == 3:
		c.settings = append(c.settings, sentence{c.text(args[0]), c.text(args[1]), c.text(args[2]), c.where})
	}
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

// class is the name of an error class, or … if the code computes it.
func class(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		if ast.IsExported(e.Name) {
			return e.Name
		}
	}
	return "…"
}

func (c *collector) literal(n *ast.CompositeLit) {
	switch name := typeName(n.Type); {
	case name == "taskerr.Error":
		s := sentence{class: "…", where: c.where}
		for _, e := range n.Elts {
			pair, ok := e.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			switch pair.Key.(*ast.Ident).Name {
			case "Class":
				s.class = class(pair.Value)
			case "Message":
				s.text = c.text(pair.Value)
			case "Hint":
				s.remedy = c.text(pair.Value)
			}
		}
		if strings.Trim(s.text, "… ") != "" {
			c.tasks = append(c.tasks, s)
		}
	case name == "fault" && len(n.Elts) == 2: // of a setting's value
		c.settings = append(c.settings, sentence{"", c.text(n.Elts[0]), c.text(n.Elts[1]), c.where})
	}
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name + "." + e.Sel.Name
		}
	}
	return ""
}

// remedies reads the cases of the engine's hint: what to do by class.
func (c *collector) remedies(n ast.Node) bool {
	branch, ok := n.(*ast.CaseClause)
	if !ok || len(branch.Body) != 1 {
		return true
	}
	answer, ok := branch.Body[0].(*ast.ReturnStmt)
	if !ok || len(answer.Results) != 1 {
		return true
	}
	for _, e := range branch.List {
		c.byClass[class(e)] = c.text(answer.Results[0])
	}
	return true
}

var verb = regexp.MustCompile(`%[-+# 0]*[0-9.*]*[a-zA-Z]`)

// text is the constant part of a string.
func (c *collector) text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); err == nil {
			return strings.ReplaceAll(verb.ReplaceAllString(strings.ReplaceAll(s, "%%", "\x00"), "…"), "\x00", "%")
		}
	case *ast.BinaryExpr:
		return c.text(e.X) + c.text(e.Y)
	case *ast.ParenExpr:
		return c.text(e.X)
	case *ast.Ident:
		if value, ok := c.locals[e.Name]; ok {
			return value
		}
		if value, ok := c.constants[e.Name]; ok {
			return value
		}
	case *ast.CallExpr:
		if name := called(e); name == "fmt.Sprintf" && len(e.Args) > 0 {
			return c.text(e.Args[0])
		}
	}
	return "…"
}
