package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/feed"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// follower shows the events of jobs as they come.
type follower struct {
	reader      store.Reader
	feed        *feed.Feed
	min, max    time.Duration // between two looks at a job's row without an event about its end
	maxFailures int           // retryable errors in a row that are tolerated
	untaken     *untaken      // nil: not reported
}

func newFollower(r store.Reader, f *feed.Feed) follower {
	return follower{reader: r, feed: f, min: 200 * time.Millisecond, max: 2 * time.Second, maxFailures: 10}
}

// followerOf follows jobs by reading them alone.
func followerOf(r store.Reader) follower {
	return newFollower(r, feed.New(feed.Config{Store: feed.OfReader(r), Log: slog.New(slog.DiscardHandler)}))
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
	ids []string // unfinished jobs
	err error
}

func (e *stillRunningError) Error() string { return e.err.Error() }
func (e *stillRunningError) Unwrap() error { return e.err }

// next is what to do. Ids are quoted for a shell.
func (e *stillRunningError) next() string {
	const most = 3 // fits a line that can be copied
	if len(e.ids) > most || len(e.ids) == 0 {
		return "the jobs go on: async-worker jobs list shows them"
	}
	quoted := make([]string, len(e.ids))
	for i, id := range e.ids {
		quoted[i] = shellQuoted(id)
	}
	list := strings.Join(quoted, " ")
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
	defer f.feed.Close()
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
	w := &watch{follower: f, id: id, d: d, listener: f.feed.Watch(id, 0)}
	defer func() { w.listener.Close() }()
	waits, failures := retry.Backoff{First: f.min, Max: f.max}.Waits(), 0
	began, answered := time.Now(), false
	for {
		before := w.seen
		j, err := w.look(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			return j, fmt.Errorf("watch job %s: %w", id, ctx.Err())
		case err != nil && retryable(err) && failures < f.maxFailures && (answered || patient(ctx, began)):
			failures++
		case err != nil:
			return j, &failure{"watch job " + id, nextStore, err}
		case job.State(j.Status).Terminal():
			d.ended(j)
			return j, nil
		default:
			failures, answered = 0, true
			waits.Reset()
			f.untaken.look(j, time.Since(began))
			continue
		}
		if w.seen > before {
			waits.Reset()
		}
		if retry.Sleep(ctx, waits.Next()) != nil {
			return j, fmt.Errorf("watch job %s: %w", id, ctx.Err())
		}
	}
}

// watch follows one job.
type watch struct {
	follower
	id       string
	d        display
	listener *feed.Listener
	seen     int64 // the last event that was shown
}

// look reads the job and shows its events until one ends it, or for a while. It returns the job as it was before. The
// last event of a finished job is committed with it (I8), so the events that are read afterwards are complete, except
// for later duplicates.
func (w *watch) look(ctx context.Context) (store.Job, error) {
	j, err := w.reader.Job(ctx, w.id)
	if err != nil {
		return j, err
	}
	if job.State(j.Status).Terminal() {
		return j, w.rest(ctx, j)
	}
	within, cancel := context.WithTimeout(ctx, w.max)
	defer cancel()
	for ended := false; !ended; {
		events, err := w.listener.Next(within)
		if err != nil && within.Err() != nil {
			return j, ctx.Err()
		}
		if err != nil {
			w.listener.Close()
			w.listener = w.feed.Watch(w.id, w.seen)
			if errors.Is(err, feed.ErrSlow) {
				continue
			}
			return j, err
		}
		for _, e := range events {
			w.show(j, e.JobEvent)
			ended = ended || job.IsEnd(e.Stage)
		}
	}
	return j, nil
}

// rest shows the remaining events of a finished job.
func (w *watch) rest(ctx context.Context, j store.Job) error {
	const page = 200
	for {
		events, err := w.reader.Events(ctx, w.id, w.seen, page)
		if err != nil {
			return err
		}
		for _, e := range events {
			w.show(j, e)
		}
		if len(events) < page {
			return nil
		}
	}
}

func (w *watch) show(j store.Job, e store.JobEvent) {
	if e.Seq > w.seen {
		w.d.event(j, e)
		w.seen = e.Seq
	}
}

// patient reports whether a database that has not answered since began may still do so (store.WithPatience).
func patient(ctx context.Context, began time.Time) bool {
	most := store.Patience(ctx)
	return most == 0 || time.Since(began) < most
}

// retryable reports whether another poll may succeed.
func retryable(err error) bool {
	e, ok := errors.AsType[*taskerr.Error](err)
	return ok && taskerr.Classes[e.Class].Retryable
}
