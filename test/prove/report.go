package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// report collects what a kind did and found. It is safe for concurrent use.
type report struct {
	ctx   context.Context // ends when somebody interrupts the proof
	kind  string
	seed  uint64
	out   io.Writer
	began time.Time

	mu     sync.Mutex
	runs   int
	counts []count // in the order in which they were first named
	found  []violation
	errs   []error // runs that could not be carried out
	cut    int     // what runs reported that an interruption cut off: it proves nothing
	took   time.Duration
}

type count struct {
	name string
	n    int
}

// violation is an invariant that did not hold.
type violation struct {
	run  string // its name, for -run
	what string
	log  string // the end of the worker's log
}

func newReport(ctx context.Context, kind string, seed uint64, out io.Writer) *report {
	return &report{ctx: ctx, kind: kind, seed: seed, out: out, began: time.Now()}
}

// add counts something.
func (r *report) add(name string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.counts {
		if r.counts[i].name == name {
			r.counts[i].n += n
			return
		}
	}
	r.counts = append(r.counts, count{name, n})
}

// counted is the sum of what was added under a name.
func (r *report) counted(name string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.counts {
		if c.name == name {
			return c.n
		}
	}
	return 0
}

// ran counts a run that was carried out, whatever its result.
func (r *report) ran() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs++
}

// printf prints a line of a kind's own figures.
func (r *report) printf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, "   "+format+"\n", args...)
}

// violated records a violation, and prints it at once.
func (r *report) violated(run string, whats []string, log string) {
	if len(whats) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		r.cut++
		return
	}
	for _, what := range whats {
		r.found = append(r.found, violation{run, what, log})
		fmt.Fprintf(r.out, "   VIOLATION in %s (seed %d): %s\n", run, r.seed, what)
	}
	if log != "" {
		fmt.Fprintf(r.out, "   the end of the workers' logs:\n%s\n", indent(log))
	}
}

// cantRun records that a run could not be carried out, which proves nothing.
func (r *report) cantRun(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		r.cut++
		return
	}
	r.errs = append(r.errs, err)
	fmt.Fprintf(r.out, "   BROKEN (seed %d): %v\n", r.seed, err)
}

func (r *report) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took = time.Since(r.began)
	parts := make([]string, len(r.counts))
	for i, c := range r.counts {
		parts[i] = fmt.Sprintf("%s %d", c.name, c.n)
	}
	fmt.Fprintf(r.out, "   %s: %d runs in %v, %d violations; %s\n", r.kind, r.runs, r.took.Round(time.Second),
		len(r.found), strings.Join(parts, ", "))
	if r.cut > 0 {
		fmt.Fprintf(r.out, "   interrupted: %d runs were cut off, which proves nothing about them\n", r.cut)
	}
}

func (r *report) good() bool { return r.verdict() == holds }

// The verdicts on a kind.
const (
	holds       = "holds"
	failed      = "FAILED"
	interrupted = "INTERRUPTED" // what was done until then held
)

func (r *report) verdict() string {
	switch {
	case len(r.found) > 0, len(r.errs) > 0:
		return failed
	case r.ctx.Err() != nil:
		return interrupted
	case r.runs == 0:
		return failed
	}
	return holds
}

// summarize prints the table of all kinds and returns the exit code. It keeps the failures in a file.
func summarize(out io.Writer, reports []*report) int {
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "kind\truns\tviolations\tbroken\ttook\tseed\tverdict")
	code := 0
	for _, r := range reports {
		if !r.good() {
			code = 1
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%v\t%d\t%s\n", r.kind, r.runs, len(r.found), len(r.errs),
			r.took.Round(time.Second), r.seed, r.verdict())
	}
	_ = w.Flush() // nobody to report a failed writer to
	for _, r := range reports {
		if !r.good() {
			fmt.Fprintf(out, "again: make prove KINDS=%s SEED=%d%s\n", r.kind, r.seed, r.failedRuns())
		}
	}
	if err := keep(reports); err != nil {
		fmt.Fprintln(out, "can't record the failing seeds:", err)
	}
	return code
}

// failedRuns names up to three runs for -run, or for a kind that always runs whole the queues of the failed ones.
func (r *report) failedRuns() string {
	if slices.Contains([]string{"kill", "zombie", "cancel"}, r.kind) {
		queues := map[string]bool{}
		for _, v := range r.found {
			if parts := strings.Split(v.run, "/"); len(parts) > 1 {
				queues[parts[1]] = true
			}
		}
		if len(queues) == 0 {
			return ""
		}
		return " QUEUES=" + strings.Join(slices.Sorted(maps.Keys(queues)), ",")
	}
	var names []string
	for _, v := range r.found {
		if len(names) < 3 && strings.Contains(v.run, "/") && !strings.Contains(strings.Join(names, "|"), v.run) {
			names = append(names, v.run)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " RUN='" + strings.NewReplacer("[", `\[`, "]", `\]`).Replace(strings.Join(names, "|")) + "'"
}

// keep appends the failing seeds to .dev/prove-failures.txt.
func keep(reports []*report) error {
	var b strings.Builder
	for _, r := range reports {
		for _, v := range r.found {
			fmt.Fprintf(&b, "%s kind=%s seed=%d run=%s %s\n", time.Now().UTC().Format(time.RFC3339), r.kind, r.seed,
				v.run, v.what)
		}
	}
	if b.Len() == 0 {
		return nil
	}
	root, err := stack.Root()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(root, ".dev"), 0o750); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(root, ".dev", "prove-failures.txt"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(b.String())
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

func indent(s string) string {
	return "     | " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n     | ")
}
