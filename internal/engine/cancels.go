package engine

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// A cancel request is noticed within askEvery, as long as the store answers. Heartbeats notice it too, later.
const (
	askEvery = 500 * time.Millisecond // also how long a task runs before it is included: short tasks cost nothing
	askLimit = 5 * time.Second        // timeout of one query
	askPause = 30 * time.Second       // longest pause between two queries to a store that fails
)

// watch queries the store for cancel requests, for all running tasks of a worker at once. Without running tasks it
// queries nothing.
type watch struct {
	store   store.Jobs
	log     *slog.Logger
	outages *outages

	mu      sync.Mutex
	tasks   map[store.Holder]watched
	started chan struct{} // signaled, capacity 1, when the first task is added

	// only used by the loop
	pause   time.Duration // between two queries
	failing bool          // the last query failed
}

// watched is a running task.
type watched struct {
	since time.Time
	end   context.CancelCauseFunc
}

func newWatch(s store.Jobs, log *slog.Logger, o *outages) *watch {
	return &watch{
		store: s, log: log, outages: o, tasks: map[store.Holder]watched{}, started: make(chan struct{}, 1),
		pause: askEvery,
	}
}

// add watches a task, which ends with ErrCanceled on request, until the returned function is called.
func (w *watch) add(h store.Holder, end context.CancelCauseFunc) (forget func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tasks[h] = watched{since: time.Now(), end: end}
	if len(w.tasks) == 1 {
		select {
		case w.started <- struct{}{}:
		default: // the loop is already signaled
		}
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.tasks, h)
	}
}

// loop queries until ctx is done.
func (w *watch) loop(ctx context.Context) {
	var next time.Time // the earliest time of the next query
	for {
		since, some := w.oldest()
		if !some {
			select {
			case <-w.started:
				continue
			case <-ctx.Done():
				return
			}
		}
		if wait := max(time.Until(since.Add(askEvery)), time.Until(next)); wait > 0 {
			if retry.Sleep(ctx, wait) != nil {
				return
			}
			continue // that task may have ended
		}
		asked := time.Now()
		w.query(ctx)
		next = asked.Add(w.pause)
	}
}

// oldest returns the start of the task that has run longest, and whether there is one.
func (w *watch) oldest() (since time.Time, some bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.tasks {
		if !some || t.since.Before(since) {
			since, some = t.since, true
		}
	}
	return since, some
}

// query ends the tasks for which a cancel was requested. It sets the pause to the next query: longer while the store is
// slow, doubling while it fails.
func (w *watch) query(ctx context.Context) {
	asked := time.Now()
	bounded, done := context.WithTimeout(ctx, askLimit)
	defer done()
	over := w.outages.query()
	stop, err := w.store.Canceling(bounded, w.holders())
	over(transient(err) && ctx.Err() == nil, false)
	if err != nil {
		if !w.failing && ctx.Err() == nil {
			w.log.Warn("can't query cancel requests; until this works again heartbeats notice them", "error",
				err)
		}
		w.failing, w.pause = true, min(2*w.pause, askPause)
		return
	}
	for _, h := range stop {
		w.cancel(h)
	}
	w.failing, w.pause = false, max(askEvery, 2*time.Since(asked))
}

func (w *watch) holders() []store.Holder {
	w.mu.Lock()
	defer w.mu.Unlock()
	holders := make([]store.Holder, 0, len(w.tasks))
	for h := range w.tasks {
		holders = append(holders, h)
	}
	return holders
}

func (w *watch) cancel(h store.Holder) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t, ok := w.tasks[h]; ok {
		t.end(ErrCanceled)
		delete(w.tasks, h) // once is enough
	}
}
