package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// goTest runs `go test -json` with args and collects the results.
func goTest(ctx context.Context, args ...string) (*results, error) {
	res := newResults()
	p, err := runGoTest(ctx, res, append([]string{"-json"}, args...)...)
	if err != nil {
		return nil, err
	}
	res.ended(p.Err(), p.Tail())
	return res, nil
}

// runGoTest runs `go test` with args in the project's folder until it ends. All processes and temporary files are
// gone when it returns, also when ctx ends before.
func runGoTest(ctx context.Context, log io.Writer, args ...string) (p *stack.Process, err error) {
	root, err := stack.Root()
	if err != nil {
		return nil, err
	}
	path, err := exec.LookPath("go")
	if err != nil {
		return nil, fmt.Errorf("the go command is needed: %w", err)
	}
	dir, err := stack.NewTempDir("", "prove-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Remove()) }()
	if err := os.Chmod(dir.Path, 0o711); err != nil { // a Postgres that is started as another user has its folder below
		return nil, err
	}
	p, err = stack.Start(ctx, stack.Command{
		Name: "go test", Path: path, Args: append([]string{"test"}, args...), Dir: root,
		Env: append(os.Environ(), "TMPDIR="+dir.Path, stack.ProveEnv+"=1"), Log: log,
	})
	if err != nil {
		return nil, err
	}
	select {
	case <-p.Done():
		return p, nil
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), p.Stop(syscall.SIGTERM, 10*time.Second))
	}
}

// results are those of one or more packages' tests. Write takes the output of `go test -json`.
type results struct {
	mu     sync.Mutex
	rest   []byte                 // an incomplete last line
	tests  map[testName]string    // to pass, fail or skip; a package's own result has the test ""
	output map[testName]*lastPart // of what has not passed
	sums   map[string]int         // by prefix of a line, see sum
}

type testName struct{ pkg, test string }

func newResults() *results {
	return &results{tests: map[testName]string{}, output: map[testName]*lastPart{}, sums: map[string]int{}}
}

// testEvent is a line of test2json; see go doc test2json and go help buildjson.
type testEvent struct {
	Action, Package, ImportPath, Test, Output string
}

// Write implements io.Writer.
func (r *results) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rest = append(r.rest, b...)
	for {
		line, rest, whole := bytes.Cut(r.rest, []byte("\n"))
		if !whole {
			return len(b), nil
		}
		r.line(line)
		r.rest = slices.Clone(rest)
	}
}

func (r *results) line(line []byte) {
	var e testEvent
	if json.Unmarshal(line, &e) != nil {
		e = testEvent{Action: "output", Output: string(line) + "\n"} // of the go command itself
	}
	if e.Package == "" {
		e.Package, _, _ = strings.Cut(e.ImportPath, " ")
	}
	name := testName{strings.TrimPrefix(e.Package, module+"/"), e.Test}
	if r.tests[name] == "fail" {
		return // one failure of a test that runs several times counts, and its output stays
	}
	switch e.Action {
	case "output", "build-output":
		if r.output[name] == nil {
			r.output[name] = &lastPart{}
		}
		r.output[name].add(e.Output)
		r.sum(e.Output)
	case "pass", "skip":
		r.tests[name] = e.Action
		delete(r.output, name)
	case "fail", "build-fail":
		r.tests[name] = "fail"
	}
}

const module = "github.com/seed-7227ef26/async-worker"

// sum adds up what tests report: sequences of rapid. Of a fuzz target the last count stays.
func (r *results) sum(line string) {
	var n int
	if _, rest, ok := strings.Cut(line, "[rapid] OK, passed "); ok {
		if _, err := fmt.Sscan(rest, &n); err == nil {
			r.sums["sequences"] += n
		}
	}
	if _, rest, ok := strings.Cut(line, ", execs: "); ok {
		if _, err := fmt.Sscan(rest, &n); err == nil {
			r.sums["execs"] = n
		}
	}
}

// ended records how the command ended: one that fails before any test is a failure of its own.
func (r *results) ended(err error, tail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil && !slices.Contains(slices.Collect(maps.Values(r.tests)), "fail") {
		r.tests[testName{}] = "fail"
		r.output[testName{}] = &lastPart{text: tail}
	}
}

// count is how many tests have this result, subtests included.
func (r *results) count(end string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, e := range r.tests {
		if name.test != "" && e == end {
			n++
		}
	}
	return n
}

// passed is how many tests of a package have passed whose names begin with prefix.
func (r *results) passed(pkg, prefix string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, e := range r.tests {
		if name.pkg == pkg && strings.HasPrefix(name.test, prefix) && e == "pass" {
			n++
		}
	}
	return n
}

// failed lists what failed and has no failed part of its own, with the end of its output.
func (r *results) failed() map[testName]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := map[testName]string{}
	for name, end := range r.tests {
		if end != "fail" || r.failedPart(name) {
			continue
		}
		found[name] = ""
		if o := r.output[name]; o != nil {
			found[name] = o.text
		}
	}
	return found
}

// forgive counts a test as passed whose output is only these last words.
func (r *results) forgive(words string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, end := range r.tests {
		o := r.output[name]
		if end != "fail" || name.test == "" || o == nil {
			continue
		}
		_, output, found := strings.Cut(o.text, "--- FAIL: "+name.test)
		if _, output, _ = strings.Cut(output, "\n"); !found || output != words {
			continue
		}
		r.tests[name] = "pass"
		if whole := (testName{name.pkg, ""}); r.tests[whole] == "fail" {
			r.tests[whole] = "pass"
		}
	}
}

func (r *results) failedPart(of testName) bool {
	for name, end := range r.tests {
		if end != "fail" || name == of {
			continue
		}
		if of.test == "" && name.pkg == of.pkg || strings.HasPrefix(name.test, of.test+"/") && name.pkg == of.pkg {
			return true
		}
	}
	return false
}

// lastPart keeps the last 4 KB of an output.
type lastPart struct{ text string }

func (l *lastPart) add(s string) {
	l.text += s
	if over := len(l.text) - 4<<10; over > 0 {
		l.text = l.text[over:]
	}
}

// take adds a command's results to the report; each failing test is a violation.
func (r *report) take(kind string, res *results) {
	r.ran()
	r.add("tests passed", res.count("pass"))
	r.add("failed", res.count("fail"))
	r.add("skipped", res.count("skip"))
	for name, output := range res.failed() {
		what := name.test
		if what == "" {
			what = "the package itself, outside its tests"
		}
		r.violated(kind+"/"+name.pkg, []string{what + " fails"}, output)
	}
}
