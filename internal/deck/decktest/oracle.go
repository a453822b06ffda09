package decktest

import (
	_ "embed"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

//go:embed read.py
var script string

// Python is an interpreter with python-pptx: of the environment that dev/install-deck-deps.sh makes, or DECK_PYTHON. It
// skips the test without one.
func Python(t testing.TB) string {
	t.Helper()
	candidates := []string{os.Getenv("DECK_PYTHON"), venv(t)}
	for _, path := range candidates {
		if path != "" && exec.CommandContext(t.Context(), path, "-c", "import pptx").Run() == nil {
			return path
		}
	}
	t.Skip("python-pptx is not installed; run: dev/install-deck-deps.sh .tools/decks")
	return ""
}

// venv is the interpreter that dev/install-deck-deps.sh installs above the working directory; empty: there is none.
func venv(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		file := filepath.Join(dir, ".tools/decks/bin/python")
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	return ""
}

// Presentation is what python-pptx reads of a file.
type Presentation struct {
	Size   [2]int64
	Slides []Slide
}

// Slide is what python-pptx reads of a slide.
type Slide struct {
	Layout string
	Title  string
	Shapes []Shape
	Hidden bool
	Notes  string
}

// Shape is what python-pptx reads of a shape.
type Shape struct {
	Name    string
	Box     [4]*int64
	Alt     string
	Text    string
	Levels  []int
	Links   [][2]string
	Table   [][]Cell
	Chart   *ReadChart
	Picture string
	Click   string // the link of all of it
	RTL     []bool // by paragraph
	Crop    []float64
	Grouped bool

	Rotation     float64
	FlipH, FlipV bool
}

// Cell is what python-pptx reads of a cell.
type Cell struct {
	Text    string
	Span    [2]int
	Spanned bool
}

// ReadChart is what python-pptx reads of a chart.
type ReadChart struct {
	Title    string
	Workbook bool
	Plots    []struct {
		Kind       string
		Categories []any
		Look       []string // the type of the plot; of each axis its title, whether it is shown, its direction
		Series     []struct {
			Name   string
			Values []*float64
			Look   []bool // whether its line is a curve, and its points are marked
		}
	}
}

// Oracle reads presentations by python-pptx.
func Oracle(t testing.TB, files ...string) []Presentation {
	t.Helper()
	python := Python(t)
	out, err := exec.CommandContext(t.Context(), python, append([]string{"-c", script}, files...)...).Output()
	if err != nil {
		if failed, ok := err.(*exec.ExitError); ok { //nolint:errorlint // Output returns it bare
			t.Fatalf("python-pptx: %s", failed.Stderr)
		}
		t.Fatal(err)
	}
	var all []Presentation
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// Audit checks presentations against the schemas of ECMA-376, their relations, and what PowerPoint is known to repair,
// by openxml-audit. It skips the test without it.
func Audit(t testing.TB, folder string) {
	t.Helper()
	out := checker(t, "openxml-audit", "--format", "office2013", "--output", "json", "--max-errors", "0", "--recursive", folder)
	var all []struct {
		File   string
		Errors []struct {
			Description string
			Part        string `json:"part_uri"`
			Path        string
		}
	}
	if err := json.Unmarshal(out, &all); err != nil || len(all) == 0 {
		t.Fatalf("openxml-audit: %v: %.400s", err, out)
	}
	for _, f := range all {
		for _, e := range f.Errors {
			t.Errorf("%s, %s, %s: %s", filepath.Base(f.File), e.Part, e.Path, e.Description)
		}
	}
	t.Logf("%d files are valid for openxml-audit, or are named above", len(all))
}

// Accessible checks the tags of a PDF file by pdfua. It skips the test without it.
func Accessible(t testing.TB, path string) {
	t.Helper()
	out := checker(t, "pdfua", "check", "--format", "json", path)
	var found struct {
		Findings []struct {
			Rule string `json:"rule_id"`

			Severity, Location, Message string
		}
		Coverage struct{ Summary string }
	}
	if err := json.Unmarshal(out, &found); err != nil || found.Coverage.Summary == "" {
		t.Fatalf("pdfua: %v: %.400s", err, out)
	}
	for _, f := range found.Findings {
		if f.Rule != "UA-28-004" { // the file doesn't claim to be PDF/UA
			t.Errorf("%s, %s: %s: %s", f.Rule, f.Location, f.Severity, f.Message)
		}
	}
	t.Log("pdfua has checked ", found.Coverage.Summary)
}

// checker runs a program of the environment with python-pptx. Its status says that it has found something.
func checker(t testing.TB, program string, args ...string) []byte {
	t.Helper()
	path := filepath.Join(filepath.Dir(Python(t)), program)
	if _, err := exec.LookPath(path); err != nil {
		t.Skipf("%s is not installed; run: dev/install-deck-deps.sh .tools/decks", program)
	}
	// by the interpreter: the script names the one of the folder in which it was installed, which may have moved
	out, err := exec.CommandContext(t.Context(), Python(t), append([]string{path}, args...)...).Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || len(out) == 0) {
		t.Fatalf("%s: %v, %v", program, err, failed)
	}
	return out
}
