// Package sabotage takes the lines out that hold the invariants, one at a time, and sees a test go red: a line
// that can be taken out with all tests green is a line that nobody guards. The list says for each line which
// test that is; RELIABILITY.md's table of invariants is made from it.
package sabotage

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const module = "github.com/seed-7227ef26/async-worker"

// Sabotage is one change that breaks what a line holds.
type Sabotage struct {
	Name   string   // a slug; says what goes wrong
	Breaks []string // invariants, by ID
	File   string   // from the project's folder, as all paths here
	Old    string   // a text that is in File exactly once
	New    string   // what stands there instead
	Suites []Suite  // where somebody has to notice
	Tests  []Test   // of which at least one goes red; RELIABILITY.md names them
}

// Suite is one run of `go test`.
type Suite struct {
	Package string   // its folder
	Run     string   // -run; empty: all its tests
	Flags   []string // of the test's program
}

// Test is a test function, or a case of a conformance suite, which many packages run.
type Test struct {
	In   string // the folder that it is written in
	Name string // TestSomething, or the name of the case
}

// Invariant is a promise of RELIABILITY.md.
type Invariant struct {
	ID       string
	Promise  string
	Together []Test // attack it as a whole
}

// place is where a sabotage applies.
type place struct {
	text string // of the file
	at   int    // where the first thing that it changes stands
	line int    // of that, from 1
	name string // of what it stands in: a function, a table; else the file's
}

// find looks up the place under the project's folder. The error says what is wrong with the sabotage.
func (s Sabotage) find(root string) (place, error) {
	raw, err := os.ReadFile(filepath.Join(root, s.File))
	if err != nil {
		return place{}, fmt.Errorf("%s: %w", s.Name, err)
	}
	p := place{text: string(raw)}
	if n := strings.Count(p.text, s.Old); n != 1 || s.Old == "" || s.Old == s.New {
		return place{}, fmt.Errorf("%s: its old text is in %s %d times, want once, and another text instead", s.Name,
			s.File, n)
	}
	p.at = strings.Index(p.text, s.Old) + firstChange(s.Old, s.New)
	p.line = 1 + strings.Count(p.text[:p.at], "\n")
	p.name, err = nameAt(s.File, p.text, p.at)
	return p, err
}

// firstChange is the index of the first byte of old that is no longer there, white space apart.
func firstChange(old, changed string) int {
	i := 0
	for i < len(old)-1 && i < len(changed) && old[i] == changed[i] {
		i++
	}
	for i < len(old)-1 && unicode.IsSpace(rune(old[i])) {
		i++
	}
	return i
}

// changed is the file's text after the sabotage. The error says that it is no Go.
func (s Sabotage) changed(p place) (string, error) {
	text := strings.Replace(p.text, s.Old, s.New, 1)
	if !strings.HasSuffix(s.File, ".go") {
		return text, nil
	}
	if _, err := parser.ParseFile(token.NewFileSet(), s.File, text, parser.SkipObjectResolution); err != nil {
		return "", fmt.Errorf("%s: the changed file is no Go: %w", s.Name, err)
	}
	return text, nil
}

// Check returns what is wrong with the list: a sabotage that applies nowhere or breaks no invariant, a test
// that does not exist, an invariant that nothing holds.
func Check(root string) error {
	var errs []error
	broken := map[string]bool{}
	for i, s := range All() {
		if slices.ContainsFunc(All()[:i], func(o Sabotage) bool { return o.Name == s.Name }) {
			errs = append(errs, fmt.Errorf("%s: two have this name", s.Name))
		}
		errs = append(errs, s.check(root))
		for _, id := range s.Breaks {
			broken[id] = true
			if !slices.ContainsFunc(Invariants(), func(v Invariant) bool { return v.ID == id }) {
				errs = append(errs, fmt.Errorf("%s: there is no invariant %s", s.Name, id))
			}
		}
	}
	for _, v := range Invariants() {
		if !broken[v.ID] {
			errs = append(errs, fmt.Errorf("%s: no line is named that holds it", v.ID))
		}
		for _, t := range v.Together {
			errs = append(errs, t.check(root))
		}
	}
	return errors.Join(errs...)
}

func (s Sabotage) check(root string) error {
	var errs []error
	if len(s.Breaks) == 0 || len(s.Suites) == 0 || len(s.Tests) == 0 {
		errs = append(errs, fmt.Errorf("%s: it breaks nothing, or nobody looks", s.Name))
	}
	if p, err := s.find(root); err != nil {
		errs = append(errs, err)
	} else if _, err := s.changed(p); err != nil {
		errs = append(errs, err)
	}
	for _, suite := range s.Suites {
		if files, err := filepath.Glob(filepath.Join(root, suite.Package, "*_test.go")); err != nil || len(files) == 0 {
			errs = append(errs, fmt.Errorf("%s: %s has no tests", s.Name, suite.Package))
		}
	}
	for _, t := range s.Tests {
		errs = append(errs, t.check(root))
	}
	return errors.Join(errs...)
}

// check says whether the test is written where it is said to be.
func (t Test) check(root string) error {
	pattern, want := "*_test.go", "func "+t.Name+"(t *testing.T) {"
	if !strings.HasPrefix(t.Name, "Test") {
		pattern, want = "*.go", fmt.Sprintf("{%q, test", t.Name)
	}
	files, err := filepath.Glob(filepath.Join(root, t.In, pattern))
	if err != nil {
		return err
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		if strings.Contains(string(raw), want) {
			return nil
		}
	}
	return fmt.Errorf("there is no test %q in %s", t.Name, t.In)
}

var sqlName = regexp.MustCompile(`(?m)^create (?:or replace )?(?:unique )?(?:function|table|trigger|index) (?:\{\{ \.schema \}\}\.)?(\w+)`)

// nameAt is the name of what encloses a place of a file.
func nameAt(file, text string, at int) (string, error) {
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if !strings.HasSuffix(file, ".go") {
		for _, m := range sqlName.FindAllStringSubmatchIndex(text, -1) {
			if m[0] <= at {
				name = text[m[2]:m[3]]
			}
		}
		return name, nil
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, text, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || at < files.Position(f.Pos()).Offset || at > files.Position(f.End()).Offset {
			continue
		}
		name = f.Name.Name
		if f.Recv != nil {
			receiver := f.Recv.List[0].Type
			if pointer, ok := receiver.(*ast.StarExpr); ok {
				receiver = pointer.X
			}
			switch generic := receiver.(type) { // its type parameters say nothing here
			case *ast.IndexExpr:
				receiver = generic.X
			case *ast.IndexListExpr:
				receiver = generic.X
			}
			name = fmt.Sprint(receiver, ".", name)
		}
	}
	return name, nil
}
