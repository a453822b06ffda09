package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// listWatch looks at a list of jobs until its context ends.
type listWatch struct {
	reader      store.Reader
	filter      store.JobFilter
	interval    time.Duration // between two looks, give or take a tenth
	maxFailures int           // how many looks in a row may fail for a reason that passes
}

func newListWatch(r store.Reader, f store.JobFilter) listWatch {
	return listWatch{reader: r, filter: f, interval: 2 * time.Second, maxFailures: 10}
}

// listDisplay shows a list of jobs that changes.
type listDisplay interface {
	// list shows what there is at first.
	list(jobs []store.Job) error
	// change shows what there is now; changed are those jobs that are new or other than before, the oldest first, and
	// those that the filter's state leaves out now.
	change(jobs, changed []store.Job) error
}

// run ends with an error: that of ctx when somebody interrupts.
func (w listWatch) run(ctx context.Context, d listDisplay) error {
	jobs, err := w.reader.Jobs(ctx, w.filter)
	if err != nil {
		return &failure{"list jobs", nextStore, err}
	}
	if err := d.list(jobs); err != nil {
		return err
	}
	for failures := 0; ; {
		if err := retry.Sleep(ctx, retry.Jitter(w.interval, 0.1)); err != nil {
			return err
		}
		now, changed, err := w.look(ctx, jobs)
		switch {
		case err == nil:
		case ctx.Err() != nil: // whatever the services made of it
			return ctx.Err()
		case retryable(err) && failures < w.maxFailures:
			failures++
			continue
		default:
			return &failure{"list jobs", nextStore, err}
		}
		if len(changed) > 0 || len(now) != len(jobs) {
			if err := d.change(now, changed); err != nil {
				return err
			}
		}
		failures, jobs = 0, now
	}
}

// look returns the list as it is now, and what a display shows as changed.
func (w listWatch) look(ctx context.Context, before []store.Job) (now, changed []store.Job, err error) {
	if now, err = w.reader.Jobs(ctx, w.filter); err != nil {
		return nil, nil, err
	}
	if changed, err = w.left(ctx, before, now); err != nil {
		return nil, nil, err
	}
	known := byID(before)
	for _, j := range slices.Backward(now) {
		if old, ok := known[j.ID]; !ok || visibleStateOf(old) != visibleStateOf(j) {
			changed = append(changed, j)
		}
	}
	return now, changed, nil
}

// left are the jobs that the filter's state leaves out now. One that newer jobs have pushed off the list has not
// changed.
func (w listWatch) left(ctx context.Context, before, now []store.Job) (left []store.Job, err error) {
	if w.filter.Status == "" {
		return nil, nil
	}
	listed := byID(now)
	for _, old := range before {
		if _, still := listed[old.ID]; still {
			continue
		}
		j, err := w.reader.Job(ctx, old.ID)
		switch {
		case errors.Is(err, store.ErrNotFound): // it was removed since
		case err != nil:
			return nil, err
		case j.Status != w.filter.Status:
			left = append(left, j)
		}
	}
	slices.SortFunc(left, func(a, b store.Job) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	return left, nil
}

func byID(jobs []store.Job) map[string]store.Job {
	all := make(map[string]store.Job, len(jobs))
	for _, j := range jobs {
		all[j.ID] = j
	}
	return all
}

// visibleState is what a list shows of a job that may change. A heartbeat alone, which renews updated_at, changes nothing.
type visibleState struct {
	status, stage, trouble          string
	progress, attempts, maxAttempts int
	cancel                          bool
}

func visibleStateOf(j store.Job) visibleState {
	return visibleState{j.Status, j.Stage, problemOf(j), j.Progress, j.Attempts, j.MaxAttempts, j.CancelAsked}
}

// newListDisplay redraws on a terminal, prints JSON lines when asked for, and lines otherwise.
func (p *program) newListDisplay(out format) listDisplay {
	switch {
	case out == asJSON:
		return jobLines{p.stdout}
	case p.terminal(p.stdout):
		return jobScreen{p.stdout, func() (int, int) {
			width, height, err := term.GetSize(int(p.stdout.(*os.File).Fd())) // terminal has seen that it is one
			if err != nil {
				return helpWidth, 0
			}
			return width, height
		}}
	default:
		return jobLog{p.stdout}
	}
}

// jobLines prints each job that is new or changed as JSON on a line.
type jobLines struct{ w io.Writer }

func (l jobLines) list(jobs []store.Job) error {
	jobs = slices.Clone(jobs)
	slices.Reverse(jobs)
	return l.change(nil, jobs)
}

func (l jobLines) change(_, changed []store.Job) error {
	for _, j := range changed {
		if err := printJSONLine(l.w, j); err != nil {
			return err
		}
	}
	return nil
}

// jobLog prints the list, and then a line for each job that is new or changed.
type jobLog struct{ w io.Writer }

func (l jobLog) list(jobs []store.Job) error { return jobTable(l.w, jobs) }

func (l jobLog) change(_, changed []store.Job) error {
	for _, j := range changed {
		line := printable(fmt.Sprintf("%s  %s  %s  %s  %d%%  %d/%d  %s", j.UpdatedAt.Local().Format(time.TimeOnly),
			j.ID, j.Type,
			stateOrStage(j), j.Progress, j.Attempts, j.MaxAttempts, documentOf(j)))
		if _, err := fmt.Fprintln(l.w, strings.TrimRight(runewidth.Truncate(line, maxLineWidth, "…"), " ")); err != nil {
			return err
		}
		note(l.w, problemOf(j))
	}
	return nil
}

// jobScreen shows as much of the list as there is room for on a terminal.
type jobScreen struct {
	w    io.Writer
	size func() (width, height int) // height 0: not known
}

func (s jobScreen) list(jobs []store.Job) error { return s.change(jobs, nil) }

func (s jobScreen) change(jobs, _ []store.Job) error {
	const wipe = "\x1b[H\x1b[2J" // what is further up stays to be scrolled to
	var text bytes.Buffer
	if err := jobTable(&text, jobs); err != nil {
		return err
	}
	width, height := s.size()
	lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	if room := height - 2; height > 2 && len(lines) > room { // a line says how many have none, and the cursor has one
		lines = append(lines[:room], "… and more: async-worker jobs list shows all")
	}
	for i := range lines {
		lines[i] = runewidth.Truncate(lines[i], width, "…")
	}
	_, err := io.WriteString(s.w, wipe+strings.Join(lines, "\n")+"\n")
	return err
}
