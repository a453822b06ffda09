// Package sabotage removes the lines that hold the invariants, one at a time, and checks that a test fails: a line
// that can be removed while all tests pass is a line that nothing guards. The list names the tests for each line;
// RELIABILITY.md's table of invariants is generated from it.
package sabotage

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/seed-7227ef26/async-worker"

// Sabotage is one change that breaks what a line holds. It names a function and statements, and no file: code may
// move within its package.
type Sabotage struct {
	Name   string   // a slug: what goes wrong
	Breaks []string // invariants, by ID
	Dir    string   // the package's folder, from the project's folder, as all paths here
	Func   string   // function, Type.Method, table, trigger …; for SQL that creates nothing the file without .sql
	Old    string   // code that is in Func exactly once; comments, semicolons (Go) and layout make no difference
	New    string   // replaces it
	Suites []Suite  // these have to fail
	Tests  []Test   // at least one of these fails; RELIABILITY.md names them
}

// Suite is one run of `go test`.
type Suite struct {
	Package string   // its folder
	Run     string   // -run; empty: all its tests
	Flags   []string // of the test program
}

// Test is a test function, or a case of a conformance suite, which many packages run.
type Test struct {
	In   string // the folder whose files define it
	Name string // TestSomething, or the name of the case
}

// Invariant is a promise of RELIABILITY.md.
type Invariant struct {
	ID       string
	Promise  string
	Together []Test // attack it as a whole
}

// changed is the file's text after the sabotage. The error says that it isn't Go.
func (s Sabotage) changed(p place) (string, error) {
	text := p.text[:p.start] + s.New + p.text[p.end:]
	if s.sql() {
		return text, nil
	}
	if _, err := parser.ParseFile(token.NewFileSet(), p.file, text, parser.SkipObjectResolution); err != nil {
		return "", fmt.Errorf("%s: the changed file is not Go: %w", s.Name, err)
	}
	return text, nil
}

// Check returns what is wrong with the list: a sabotage that applies nowhere or breaks no invariant, a test
// that does not exist, an invariant without a sabotage.
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
			errs = append(errs, fmt.Errorf("%s: no sabotage breaks it", v.ID))
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
		errs = append(errs, fmt.Errorf("%s: it needs an invariant, a suite and a test", s.Name))
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

// check reports a test that its folder does not define.
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
