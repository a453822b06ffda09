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

// listWatch polls a list of jobs until its context ends.
type listWatch struct {
	reader      store.Reader
	filter      store.JobFilter
	interval    time.Duration // between two polls, with 10 % jitter
	maxFailures int           // retryable errors in a row that are tolerated
}

func newListWatch(r store.Reader, f store.JobFilter) listWatch {
	return listWatch{reader: r, filter: f, interval: 2 * time.Second, maxFailures: 10}
}

// listDisplay shows a changing list of jobs.
type listDisplay interface {
	// list shows the first list.
	list(jobs []store.Job) error
	// change shows the current list. changed are new and changed jobs, the oldest first, and jobs that no longer match
	// the filter's state.
	change(jobs, changed []store.Job) error
}

// run always returns an error: that of ctx on an interruption.
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
		case ctx.Err() != nil: // services wrap it in errors of their own
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

// look returns the current list, and the changed jobs.
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

// left are the jobs that no longer match the filter's state. A job that newer ones pushed off the list has not
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

// visibleState is the variable part of a job that a list shows. A heartbeat, which only renews updated_at, is no
// change.
type visibleState struct {
	status, stage, trouble          string
	progress, attempts, maxAttempts int
	cancel                          bool
}

func visibleStateOf(j store.Job) visibleState {
	return visibleState{j.Status, j.Stage, problemOf(j), j.Progress, j.Attempts, j.MaxAttempts, j.CancelAsked}
}

// newListDisplay returns JSON lines for -o json, a redrawn screen on a terminal, plain lines otherwise.
func (p *program) newListDisplay(out format) listDisplay {
	switch {
	case out == asJSON:
		return jobLines{p.stdout}
	case p.terminal(p.stdout):
		return jobScreen{p.stdout, func() (int, int) {
			width, height, err := term.GetSize(int(p.stdout.(*os.File).Fd())) // terminal checked the type
			if err != nil {
				return helpWidth, 0
			}
			return width, height
		}}
	default:
		return jobLog{p.stdout}
	}
}

// jobLines prints each new or changed job as a line of JSON.
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

// jobLog prints the list, then a line for each new or changed job.
type jobLog struct{ w io.Writer }

func (l jobLog) list(jobs []store.Job) error { return jobTable(l.w, jobs) }

func (l jobLog) change(_, changed []store.Job) error {
	for _, j := range changed {
		line := printable(fmt.Sprintf("%s  %s  %s  %s  %d%%  %d/%d  %s", j.UpdatedAt.Local().Format(time.TimeOnly),
			j.ID, j.Type,
			stateOrStage(j), j.Progress, j.Attempts, j.MaxAttempts, documentOf(j)))
		line = strings.TrimRight(runewidth.Truncate(line, maxLineWidth, "…"), " ")
		if _, err := fmt.Fprintln(l.w, line); err != nil {
			return err
		}
		note(l.w, problemOf(j))
	}
	return nil
}

// jobScreen shows the part of the list that fits the terminal.
type jobScreen struct {
	w    io.Writer
	size func() (width, height int) // height 0: unknown
}

func (s jobScreen) list(jobs []store.Job) error { return s.change(jobs, nil) }

func (s jobScreen) change(jobs, _ []store.Job) error {
	const wipe = "\x1b[H\x1b[2J" // keeps the scrollback
	var text bytes.Buffer
	if err := jobTable(&text, jobs); err != nil {
		return err
	}
	width, height := s.size()
	lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	if room := height - 2; height > 2 && len(lines) > room { // one line for the hint, one for the cursor
		lines = append(lines[:room], "… and more: jobs list shows all")
	}
	for i := range lines {
		lines[i] = runewidth.Truncate(lines[i], width, "…")
	}
	_, err := io.WriteString(s.w, wipe+strings.Join(lines, "\n")+"\n")
	return err
}
