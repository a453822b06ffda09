package architecture_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/test/generated"
)

// sentence is an error that the program can tell, as the code has it; … stands for what is filled in.
type sentence struct{ class, text, remedy, where string }

// collector finds the sentences of the code, by how it makes them.
type collector struct {
	where     string
	tasks     []sentence // taskerr.Errorf and taskerr.Error
	usage     []sentence // badUsage
	settings  []sentence // problem and warn of the settings' loader
	byClass   map[string]string
	constants map[string]string // of the package: their values
	locals    map[string]string // of the function
	classes   map[string]string // what error classes are called, by their names in the code
}

// meant is what to do about the classes of which the engine has no hint, since nothing of the worker is to be mended.
func meant() map[string]string {
	const again = "the same id with the same payload is the same task, so send it under a new task_id or with " +
		"hints.force"
	return map[string]string{
		"ContentMissing":     "The document is not there, or says nothing: upload it; " + again,
		"CorruptionDetected": "The document is damaged or protected: mend and upload it; " + again,
		"QuotaExceeded": "It is larger than what is allowed: split it, or raise the limit that the sentence " +
			"names; " + again,
		"UnsupportedFormat": "Convert the document to a format that is read, and upload it; " + again,
		"ValidationError":   "The message asks for what can't be done: mend it and send it under a new task_id",
		"WorkerLost": "Each attempt lost its worker: look in its log and the kernel's for why (killed, out " +
			"of memory), and replay the dead letter",
		"WaitExceeded": "A service was down for longer than WAIT_MAX_HOURS: mend it, and replay the dead letter",
	}
}

// TestErrorList: each error that a task, a command line or a setting can have is in docs/errors.md with what to do, and
// none that somebody has to act upon is left without.
func TestErrorList(t *testing.T) {
	t.Parallel()
	c := &collector{byClass: map[string]string{}}
	trees := map[string]*ast.File{}
	constants := map[string]map[string]string{} // by package
	for _, f := range sources(t) {
		if f.test || support(f.pkg) || strings.HasPrefix(f.pkg, "dev") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, f.path), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		trees[f.path] = tree
		if constants[f.pkg] == nil {
			constants[f.pkg] = map[string]string{}
		}
		readConstants(tree, constants[f.pkg])
	}
	for _, path := range slices.Sorted(maps.Keys(trees)) {
		c.where = path
		c.constants = constants[filepath.ToSlash(filepath.Dir(path))]
		ast.Inspect(trees[path], c.visit)
	}
	c.classes = constants["internal/taskerr"]
	c.sql(t)
	for _, s := range slices.Concat(c.usage, c.settings) {
		if s.remedy == "" {
			t.Errorf("%s: %q says not what to do", s.where, s.text)
		}
	}
	generated.File(t, filepath.Join(root, "docs", "errors.md"), c.document())
	for _, s := range c.tasks {
		if s.class != "…" && c.byClass[s.class] == "" && meant()[s.class] == "" {
			t.Errorf("nothing says what to do about %s", s.class)
		}
	}
	if len(c.tasks) < 150 || len(c.usage) < 40 || len(c.settings) < 40 {
		t.Errorf("found %d, %d and %d sentences: the search is broken", len(c.tasks), len(c.usage), len(c.settings))
	}
}

// readConstants reads those of a package, which are outside of functions.
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
	case *ast.FuncDecl:
		c.locals = map[string]string{}
		ast.Inspect(n, func(inner ast.Node) bool {
			if general, ok := inner.(*ast.GenDecl); ok {
				readDeclared(general, c.locals)
			}
			return true
		})
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

// class is the name of an error class, or … where the code computes it.
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

// text is a string as far as the code has it.
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

func (c *collector) document() string {
	var b strings.Builder
	b.WriteString("# What can go wrong, and what to do\n\n<!-- made by: make docs (TestErrorList of " +
		"test/architecture) -->\n\n" +
		"Every error sentence of the program, as the code has it; … stands for what is filled in. Commands are in\n" +
		"[commands.md](commands.md), checks of the live services in [doctor.md](doctor.md), alerts in " +
		"[runbooks.md](runbooks.md).\n")
	b.WriteString("\n## Tasks, by error class\n\nThe contract has the classes and their codes. Where a row says " +
		"nothing of its own, the class's line counts.\n")
	by := map[string][]sentence{}
	for _, s := range c.tasks {
		if strings.Trim(s.text, "… :()") == "" {
			continue // it is all filled in
		}
		by[s.class] = append(by[s.class], s)
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		title := "`" + c.classes[name] + "`"
		if name == "…" {
			title = "Of a class that follows from the cause"
		}
		fmt.Fprintf(&b, "\n### %s\n\n", title)
		if r := cmp.Or(c.byClass[name], meant()[name]); r != "" {
			fmt.Fprintf(&b, "%s.\n\n", strings.ToUpper(r[:1])+r[1:])
		}
		rows(&b, by[name])
	}
	b.WriteString("\n## Settings\n\n")
	rows(&b, c.settings)
	b.WriteString("\n## Command lines\n\n")
	rows(&b, c.usage)
	return b.String()
}

// rows writes each sentence once.
func rows(b *strings.Builder, all []sentence) {
	b.WriteString("| what is said | what to do | where |\n|---|---|---|\n")
	seen := map[string]bool{}
	var lines []string
	for _, s := range all {
		text := s.text
		if s.class != "" && s.class == strings.ToUpper(s.class) && s.class != "…" {
			text = "`" + s.class + "`: " + text
		}
		line := fmt.Sprintf("| %s | %s | %s |\n", cell(text), cell(s.remedy), filepath.ToSlash(filepath.Dir(s.where)))
		if !seen[line] && strings.Trim(s.text, "… :") != "" {
			seen[line] = true
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, ""))
}

func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(s)
}
