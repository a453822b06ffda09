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

// Result is what became of a sabotage.
type Result struct {
	Failed []string // tests that went red, the innermost: package.TestName/case
	Wrong  []string // why the sabotage is not caught as it should be; empty: it is
	Output string   // the end of what the tests said, when something is wrong
	Took   time.Duration
}

// Run carries out a sabotage: by the go command's overlay, so that no file of the project is touched and several
// may run at once. The error says that it could not be carried out.
func Run(ctx context.Context, root string, s Sabotage) (Result, error) {
	began := time.Now()
	p, err := s.find(root)
	if err != nil {
		return Result{Wrong: []string{err.Error()}}, nil //nolint:nilerr // it is what is wrong with the list
	}
	text, err := s.changed(p)
	if err != nil {
		return Result{Wrong: []string{err.Error()}}, nil //nolint:nilerr // the same
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

// Clean runs a suite without a sabotage; what fails then proves nothing. It returns what failed.
func Clean(ctx context.Context, root string, suite Suite) ([]string, error) {
	seen := &verdict{}
	err := suite.run(ctx, root, nil, seen)
	if seen.red && err == nil {
		return append(seen.innermost(), seen.tail()), nil
	}
	return nil, err
}

// run adds to seen what the suite says while some files have another text.
func (s Suite) run(ctx context.Context, root string, texts map[string]string, seen *verdict) (err error) {
	dir, err := os.MkdirTemp("", "sabotage-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o711); err != nil { // started by root, Postgres is another user
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

// writeOverlay writes the texts beside the project, and what tells the go command of them.
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

// verdict is what the tests said.
type verdict struct {
	red    bool
	built  bool     // all that was to be tested
	failed []string // package.TestName/case
	lines  []line
	torn   string // a line that says that the sabotage is no SQL
}

// line is one that a test printed, or (test empty) the go command.
type line struct{ test, text string }

// read takes in the events of `go test -json`; see `go doc test2json`.
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

// torn says whether a line tells of SQL that can't be run: a syntax error, or a name that is not there. A right
// that is missing (42501) is of the same class, and no such thing.
func torn(line string) bool {
	return strings.Contains(line, "SQLSTATE 42") && !strings.Contains(line, "SQLSTATE 42501") ||
		strings.Contains(line, "migrate the database")
}

// judge says what is wrong with how a sabotage was caught.
func (v *verdict) judge(s Sabotage) []string {
	switch {
	case !v.built:
		return []string{"it does not compile, which shows nothing"}
	case v.torn != "":
		return []string{"it is no SQL, which shows nothing: " + v.torn}
	case len(v.failed) == 0 && v.red:
		return []string{"the tests ended without saying which one failed"}
	case len(v.failed) == 0:
		return []string{fmt.Sprintf("not caught: %s is broken, and all tests are green", strings.Join(s.Breaks, ", "))}
	case !slices.ContainsFunc(v.failed, func(f string) bool {
		return slices.ContainsFunc(s.Tests,
			func(t Test) bool { return t.is(f) })
	}):
		return []string{"caught, but not by a test that RELIABILITY.md names: " + strings.Join(v.innermost(), ", ")}
	}
	return nil
}

// is says whether a test that failed is this one, or a case of it.
func (t Test) is(failed string) bool {
	pkg, name, _ := strings.Cut(failed, ".")
	parts := strings.Split(name, "/")
	if strings.HasPrefix(t.Name, "Test") {
		return pkg == t.In && parts[0] == t.Name
	}
	return strings.HasPrefix(pkg, path.Dir(t.In)+"/") && slices.Contains(parts, strings.ReplaceAll(t.Name, " ", "_"))
}

// innermost are the failed tests without those that failed by a case of theirs alone.
func (v *verdict) innermost() []string {
	return slices.DeleteFunc(slices.Clone(v.failed), func(f string) bool {
		return slices.ContainsFunc(v.failed, func(o string) bool { return strings.HasPrefix(o, f+"/") })
	})
}

// tail is the end of what the failed tests and the go command said.
func (v *verdict) tail() string {
	const most = 30
	var said []string
	for _, l := range v.lines {
		if strings.HasSuffix(l.test, ".") || slices.Contains(v.failed, l.test) {
			said = append(said, l.text)
		}
	}
	return strings.Join(said[max(0, len(said)-most):], "\n")
}
