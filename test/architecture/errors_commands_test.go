package architecture_test

import (
	"go/ast"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// failure reads what a command says when an action fails: failure{doing, next, err}, and a service's ServiceError.
func (c *collector) failure(n *ast.CompositeLit) {
	if name := typeName(n.Type); name != "failure" && name != "ServiceError" || len(n.Elts) != 3 {
		return
	}
	cause, remedy := c.cause(n.Elts[2]), c.text(n.Elts[1])
	if strings.Trim(remedy, "… ") == "" { // it follows from the cause
		remedy = ""
	}
	if cause != "…" || remedy != "" {
		c.commands = append(c.commands, sentence{"", c.text(n.Elts[0]) + ": " + cause, remedy, c.where})
	}
}

// cause is the text of an error that the code makes where it is used; … for one that comes from elsewhere.
func (c *collector) cause(e ast.Expr) string {
	text := "…"
	ast.Inspect(e, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && (called(call) == "errors.New" || called(call) == "fmt.Errorf") && len(call.Args) > 0 {
			text = c.text(call.Args[0])
		}
		return text == "…"
	})
	return text
}

// worded is a text with at least two words of its own.
var worded = regexp.MustCompile(`[A-Za-z']{2,}[^A-Za-z]+[A-Za-z']{2,}`)

// ofType reads the sentences of an error's type: what its method Error returns.
func (c *collector) ofType(n *ast.FuncDecl) {
	if n.Name.Name != "Error" || n.Recv == nil || n.Body == nil {
		return
	}
	ast.Inspect(n.Body, func(inner ast.Node) bool {
		if answer, ok := inner.(*ast.ReturnStmt); ok && len(answer.Results) == 1 {
			if text := c.text(answer.Results[0]); worded.MatchString(text) {
				c.commands = append(c.commands, sentence{"", text, "", c.where})
			}
		}
		return true
	})
}

// sentinels reads the errors that a package declares. Of what to do about one, knownErrors has the last word.
func (c *collector) sentinels(tree *ast.File) {
	for _, decl := range tree.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok || general.Tok != token.VAR {
			continue
		}
		for _, spec := range general.Specs {
			value := spec.(*ast.ValueSpec)
			for i, name := range value.Names {
				if i >= len(value.Values) || !strings.HasPrefix(name.Name, "Err") {
					continue
				}
				if text := c.cause(value.Values[i]); worded.MatchString(text) {
					c.declared = append(c.declared, sentence{
						path.Base(filepath.ToSlash(filepath.Dir(c.where))) + "." + name.Name, text, "", c.where,
					})
				}
			}
		}
	}
}

// known reads a row of knownErrors: {store.ErrNotFound, verdict{code, next}}.
func (c *collector) known(n *ast.CompositeLit) {
	if n.Type != nil || len(n.Elts) != 2 {
		return
	}
	target, named := n.Elts[0].(*ast.SelectorExpr)
	v, ok := n.Elts[1].(*ast.CompositeLit)
	if !named || !ok || typeName(v.Type) != "verdict" || len(v.Elts) != 2 {
		return
	}
	if from, ok := target.X.(*ast.Ident); ok {
		c.knownNext[from.Name+"."+target.Sel.Name] = c.text(v.Elts[1])
	}
}

// others are the sentences of commands, with the remedies of declared errors.
func (c *collector) others() []sentence {
	all := slices.DeleteFunc(slices.Clone(c.commands), func(s sentence) bool {
		return strings.HasPrefix(s.where, "internal/devstack/") // of `make run`
	})
	for _, s := range c.declared {
		all = append(all, sentence{"", s.text, c.knownNext[s.class], s.where})
	}
	return all
}
