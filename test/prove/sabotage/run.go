package sabotage

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// suiteTime bounds one run of `go test`, building included.
const suiteTime = 5 * time.Minute

// Result is the result of a sabotage.
type Result struct {
	Failed []string // the innermost failed tests: package.TestName/case
	Wrong  []string // why the sabotage is not caught as it should be; empty if it is
	Output string   // the end of the tests' output, if something is wrong
	Took   time.Duration
}

// Run runs a sabotage by the go command's overlay: it touches no file of the project, and several may run at once. The
// error reports that it could not run.
func Run(ctx context.Context, root string, s Sabotage) (Result, error) {
	began := time.Now()
	p, err := s.find(root)
	if err != nil {
		return Result{Wrong: []string{err.Error()}}, nil //nolint:nilerr // a finding
	}
	text, err := s.changed(p)
	if err != nil {
		return Result{Wrong: []string{err.Error()}}, nil //nolint:nilerr // a finding
	}
	var result Result
	seen := &verdict{}
	for _, suite := range s.Suites {
		err = errors.Join(err, suite.run(ctx, root, map[string]string{p.file: text}, seen))
	}
	result.Failed, result.Wrong, result.Took = seen.innermost(), seen.judge(s), time.Since(began)
	if len(result.Wrong) > 0 {
		result.Output = seen.tail()
	}
	return result, err
}

// Clean runs a suite without a sabotage and returns the failed tests: they would prove nothing.
func Clean(ctx context.Context, root string, suite Suite) ([]string, error) {
	seen := &verdict{}
	err := suite.run(ctx, root, nil, seen)
	if seen.red && err == nil {
		return append(seen.innermost(), seen.tail()), nil
	}
	return nil, err
}

// run adds to seen the results of the suite while some files have another text.
func (s Suite) run(ctx context.Context, root string, texts map[string]string, seen *verdict) (err error) {
	temp, err := stack.NewTempDir("", "sabotage-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, temp.Remove()) }()
	dir := temp.Path
	if err := os.Chmod(dir, 0o711); err != nil { // Postgres runs as another user if root runs the tests
		return err
	}
	overlay, err := writeOverlay(dir, root, texts)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, suiteTime)
	defer cancel()
	args := []string{"test", "-json", "-count=1", "-vet=off", "-timeout=4m", "-overlay", overlay}
	if s.Run != "" {
		args = append(args, "-run", s.Run)
	}
	args = append(append(args, "./"+s.Package), s.Flags...)
	var out bytes.Buffer
	p, err := stack.Start(ctx, stack.Command{
		Name: "go test", Path: "go", Args: args, Dir: root, Env: append(os.Environ(), "TMPDIR="+dir), Log: &out,
	})
	if err != nil {
		return err
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("test %s: %w", s.Package, ctx.Err()), p.Stop(syscall.SIGKILL, time.Second))
	}
	return seen.read(&out, p.Err() != nil)
}

// writeOverlay writes the texts to dir, and the overlay file for the go command.
func writeOverlay(dir, root string, texts map[string]string) (string, error) {
	root, err := filepath.Abs(root) // the go command compares whole paths
	if err != nil {
		return "", err
	}
	var overlay struct{ Replace map[string]string }
	overlay.Replace = map[string]string{}
	for file, text := range texts {
		instead := filepath.Join(dir, path.Base(file))
		overlay.Replace[filepath.Join(root, file)] = instead
		if err := os.WriteFile(instead, []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	raw, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, raw, 0o600)
}

// verdict is the results of the tests.
type verdict struct {
	red    bool
	built  bool     // all tested packages
	failed []string // package.TestName/case
	lines  []line
	torn   string // a line that shows that the sabotage isn't valid SQL
}

// line is a line of a test's output, or (test empty) of the go command's.
type line struct{ test, text string }

// read reads the events of `go test -json`; see `go doc test2json`.
func (v *verdict) read(out *bytes.Buffer, red bool) error {
	v.red, v.built = v.red || red, true
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct{ Action, Package, Test, Output string }
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			e.Output = lines.Text() + "\n" // of the go command itself
		}
		switch {
		case e.Action == "build-fail":
			v.built = false
		case e.Action == "fail" && e.Test != "":
			v.failed = append(v.failed, strings.TrimPrefix(e.Package, module+"/")+"."+e.Test)
		case e.Output != "":
			v.lines = append(v.lines, line{
				strings.TrimPrefix(e.Package, module+"/") + "." + e.Test, strings.TrimRight(e.Output, "\n"),
			})
			if v.torn == "" && torn(e.Output) {
				v.torn = strings.TrimSpace(e.Output)
			}
		}
	}
	return lines.Err()
}

// torn reports whether a line shows SQL that can't be run: a syntax error, or an unknown name. A missing privilege
// (42501) is of the same class, but SQL that runs.
func torn(line string) bool {
	return strings.Contains(line, "SQLSTATE 42") && !strings.Contains(line, "SQLSTATE 42501") ||
		strings.Contains(line, "migrate the database")
}

// judge returns what is wrong with how a sabotage was caught.
func (v *verdict) judge(s Sabotage) []string {
	switch {
	case !v.built:
		return []string{"it does not compile, which shows nothing"}
	case v.torn != "":
		return []string{"it is not valid SQL, which shows nothing: " + v.torn}
	case len(v.failed) == 0 && v.red:
		return []string{"the tests failed without naming a test"}
	case len(v.failed) == 0:
		return []string{fmt.Sprintf("not caught: %s is broken, and all tests pass", strings.Join(s.Breaks, ", "))}
	case !slices.ContainsFunc(v.failed, func(f string) bool {
		return slices.ContainsFunc(s.Tests,
			func(t Test) bool { return t.is(f) })
	}):
		return []string{"caught, but not by a test that RELIABILITY.md names: " + strings.Join(v.innermost(), ", ")}
	}
	return nil
}

// is reports whether a failed test is this one, or a case of it.
func (t Test) is(failed string) bool {
	pkg, name, _ := strings.Cut(failed, ".")
	parts := strings.Split(name, "/")
	if strings.HasPrefix(t.Name, "Test") {
		return pkg == t.In && parts[0] == t.Name
	}
	return strings.HasPrefix(pkg, path.Dir(t.In)+"/") && slices.Contains(parts, strings.ReplaceAll(t.Name, " ", "_"))
}

// innermost are the failed tests without those that failed only through one of their cases.
func (v *verdict) innermost() []string {
	return slices.DeleteFunc(slices.Clone(v.failed), func(f string) bool {
		return slices.ContainsFunc(v.failed, func(o string) bool { return strings.HasPrefix(o, f+"/") })
	})
}

// tail is the end of the output of the failed tests and the go command.
func (v *verdict) tail() string {
	const most = 30
	var lines []string
	for _, l := range v.lines {
		if strings.HasSuffix(l.test, ".") || slices.Contains(v.failed, l.test) {
			lines = append(lines, l.text)
		}
	}
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
