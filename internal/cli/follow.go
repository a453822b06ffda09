package cli

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// follower polls the store for the events of jobs, faster while events come.
type follower struct {
	reader      store.Reader
	min, max    time.Duration // between two polls
	maxFailures int           // retryable errors in a row that are tolerated
}

func newFollower(r store.Reader) follower {
	return follower{reader: r, min: 200 * time.Millisecond, max: 2 * time.Second, maxFailures: 10}
}

// display shows what a follower reads. It is safe for concurrent use.
type display interface {
	event(j store.Job, e store.JobEvent)
	ended(j store.Job)
	close() // flushes
}

// errUnsuccessful: a followed job failed or was canceled. The display has shown why.
var errUnsuccessful = errors.New("not every job succeeded")

// stillRunningError means that the follower was stopped before the jobs finished.
type stillRunningError struct {
	ids    []string // unfinished jobs
	tenant string   // the value of --tenant; empty: not given
	err    error
}

func (e *stillRunningError) Error() string { return e.err.Error() }
func (e *stillRunningError) Unwrap() error { return e.err }

// next is what to do. Ids are quoted for a shell.
func (e *stillRunningError) next() string {
	const most = 3 // fits a line that can be copied
	suffix := ""
	if e.tenant != "" {
		suffix = " --tenant " + e.tenant
	}
	if len(e.ids) > most || len(e.ids) == 0 {
		return "the jobs go on: async-worker jobs list" + suffix + " shows them"
	}
	quoted := make([]string, len(e.ids))
	for i, id := range e.ids {
		quoted[i] = shellQuoted(id)
	}
	list := strings.Join(quoted, " ") + suffix
	return "the jobs go on; follow them again, or stop them, with\nasync-worker jobs watch " + list +
		"\nasync-worker jobs cancel " + list
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,=-]+$`)

// shellQuoted quotes a word for a shell if needed.
func shellQuoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(printable(word), "'", `'\''`) + "'"
}

// all follows jobs until they finish. Its error is errUnsuccessful when one of them did not succeed.
func (f follower) all(ctx context.Context, ids []string, d display) error {
	errs := make([]error, len(ids))
	var following sync.WaitGroup
	for i, id := range ids {
		following.Go(func() {
			j, err := f.one(ctx, id, d)
			if err == nil && job.State(j.Status) != job.Succeeded {
				err = &reportedError{errUnsuccessful}
			}
			errs[i] = err
		})
	}
	following.Wait()
	d.close()
	if ctx.Err() != nil {
		var left []string
		for i, id := range ids {
			if errors.Is(errs[i], context.Canceled) {
				left = append(left, id)
			}
		}
		return &stillRunningError{ids: left, err: ctx.Err()}
	}
	for _, err := range errs { // a failure to follow says more than a failed job
		if err != nil && !errors.Is(err, errUnsuccessful) {
			return err
		}
	}
	return errors.Join(errs...)
}

// one follows a job until it finishes.
func (f follower) one(ctx context.Context, id string, d display) (store.Job, error) {
	var seen int64
	waits, failures := retry.Backoff{First: f.min, Max: f.max}.Waits(), 0
	waits.Next() // after a look without news the wait is longer already
	for {
		before := seen
		j, err := f.look(ctx, id, &seen, d)
		switch {
		case err != nil && retryable(err) && failures < f.maxFailures:
			failures++
		case err != nil:
			return j, &failure{"watch job " + id, nextStore, err}
		case job.State(j.Status).Terminal():
			d.ended(j)
			return j, nil
		default:
			failures = 0
		}
		if seen > before {
			waits.Reset()
		}
		if retry.Sleep(ctx, waits.Next()) != nil {
			return j, fmt.Errorf("watch job %s: %w", id, ctx.Err())
		}
	}
}

// look shows the events after *seen. It reads the job first: the last event of a finished job is committed with it
// (I8), so the events read afterwards are complete, except for later duplicates.
func (f follower) look(ctx context.Context, id string, seen *int64, d display) (store.Job, error) {
	const page = 200
	j, err := f.reader.Job(ctx, id)
	if err != nil {
		return j, err
	}
	for {
		events, err := f.reader.Events(ctx, id, *seen, page)
		if err != nil {
			return j, err
		}
		for _, e := range events {
			d.event(j, e)
			*seen = e.Seq
		}
		if len(events) < page {
			return j, nil
		}
	}
}

// retryable reports whether another poll may succeed.
func retryable(err error) bool {
	e, ok := errors.AsType[*taskerr.Error](err)
	return ok && taskerr.Classes[e.Class].Retryable
}
