package architecture_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/test/generated"
)

// sentence is an error of the program, as in the code; … stands for variable parts.
type sentence struct{ class, text, remedy, where string }

// collector finds the sentences in the code, by the calls that make them.
type collector struct {
	where     string
	tasks     []sentence        // taskerr.Errorf and taskerr.Error
	usage     []sentence        // badUsage
	settings  []sentence        // problem and warn of the settings' loader
	commands  []sentence        // failures, ServiceErrors, and the methods Error
	declared  []sentence        // var Err… = errors.New; class is the name
	knownNext map[string]string // what to do about a declared error, by its name
	byClass   map[string]string
	constants map[string]string // of the package: their values
	locals    map[string]string // of the function
	classes   map[string]string // the names of error classes, by their names in the code
}

// meant has the remedies for the classes of which the engine has no hint, since they don't require a change of the
// worker.
func meant() map[string]string {
	const again = "the same id with the same payload is the same task, so send it under a new task_id or with " +
		"hints.force"
	return map[string]string{
		"ContentMissing":     "The document is missing or has no text: upload it; " + again,
		"CorruptionDetected": "The document is damaged or protected: repair it, then upload it; " + again,
		"QuotaExceeded": "It is larger than allowed: split it, or raise the limit that the sentence " +
			"names; " + again,
		"UnsupportedFormat": "Convert the document to a format that is read, and upload it; " + again,
		"ValidationError":   "The message requests what can't be done: correct it and send it under a new task_id",
		"WorkerLost": "Each attempt lost its worker: find out why in its log and the kernel's (killed, out " +
			"of memory), and replay the dead letter",
		"WaitExceeded": "A service was down for longer than WAIT_MAX_HOURS: repair it, and replay the dead letter",
	}
}

// TestErrorList: each error of a task, a setting, a command line or a command is in docs/errors.md, with a remedy if
// somebody has to act.
func TestErrorList(t *testing.T) {
	t.Parallel()
	c := &collector{byClass: map[string]string{}, knownNext: map[string]string{}}
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
		c.sentinels(trees[path])
	}
	c.classes = constants["internal/taskerr"]
	c.sql(t)
	for _, s := range slices.Concat(c.usage, c.settings) {
		if s.remedy == "" {
			t.Errorf("%s: %q lacks what to do", s.where, s.text)
		}
	}
	generated.File(t, filepath.Join(root, "docs", "errors.md"), c.document())
	for _, s := range c.tasks {
		if s.class != "…" && c.byClass[s.class] == "" && meant()[s.class] == "" {
			t.Errorf("there is no remedy for %s", s.class)
		}
	}
	if len(c.tasks) < 150 || len(c.usage) < 40 || len(c.settings) < 40 || len(c.others()) < 80 {
		t.Errorf("found %d, %d, %d and %d sentences: the search is broken", len(c.tasks), len(c.usage), len(c.settings),
			len(c.others()))
	}
}

func (c *collector) document() string {
	var b strings.Builder
	b.WriteString("# What can go wrong, and what to do\n\n<!-- made by: make docs (TestErrorList of " +
		"test/architecture) -->\n\n" +
		"Every error sentence of the program, as the code has it; … stands for what is filled in. Commands are in\n" +
		"[commands.md](commands.md), checks of the live services in [doctor.md](doctor.md), alerts in " +
		"[runbooks.md](runbooks.md).\n")
	b.WriteString("\n## Tasks, by error class\n\nThe contract has the classes and their codes. A row " +
		"without a remedy has that of its class.\n")
	by := map[string][]sentence{}
	for _, s := range c.tasks {
		if strings.Trim(s.text, "… :()") == "" {
			continue // all of it is variable
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
	b.WriteString("\n## Commands, services and this machine\n\nA row without a remedy comes with that of the action " +
		"that failed, or says it itself.\n\n")
	rows(&b, c.others())
	return b.String()
}

// rows writes each sentence once.
func rows(b *strings.Builder, all []sentence) {
	b.WriteString("| error | what to do | where |\n|---|---|---|\n")
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
