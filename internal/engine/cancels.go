package engine

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// A cancel request is heard within askEvery, as long as the store answers. A heartbeat hears of it too, later.
const (
	askEvery = 500 * time.Millisecond // also how long a task runs before it is asked about: a short one costs nothing
	askLimit = 5 * time.Second        // for one answer
	askPause = 30 * time.Second       // at most, between two questions to a store that fails
)

// watch asks the store, for all running tasks of a worker in one question, which of them somebody wants to
// stop. Without running tasks it asks nothing.
type watch struct {
	store   store.Jobs
	log     *slog.Logger
	outages *outages

	mu      sync.Mutex
	tasks   map[store.Holder]watched
	started chan struct{} // signaled, capacity 1, when there is a task and was none

	// of the loop alone
	pause   time.Duration // from the last question to the next
	failing bool          // the last question was not answered
}

// watched is a running task.
type watched struct {
	since time.Time
	end   context.CancelCauseFunc
}

func newWatch(s store.Jobs, log *slog.Logger, away *outages) *watch {
	return &watch{
		store: s, log: log, outages: away, tasks: map[store.Holder]watched{}, started: make(chan struct{}, 1),
		pause: askEvery,
	}
}

// over watches a task, which is ended with ErrCanceled on request, until the returned function is called.
func (w *watch) over(h store.Holder, end context.CancelCauseFunc) (forget func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tasks[h] = watched{since: time.Now(), end: end}
	if len(w.tasks) == 1 {
		select {
		case w.started <- struct{}{}:
		default: // the loop will look anyway
		}
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.tasks, h)
	}
}

// loop asks until ctx is done.
func (w *watch) loop(ctx context.Context) {
	var next time.Time // the earliest time of the next question
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
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
				continue // that task may be over
			case <-ctx.Done():
				timer.Stop()
				return
			}
		}
		asked := time.Now()
		w.ask(ctx)
		next = asked.Add(w.pause)
	}
}

// oldest says since when the task has been running that runs for longest, and whether there is one.
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

// ask ends the tasks that somebody wants to stop. It sets the pause to the next question: longer while the
// store is slow or, doubling, while it fails.
func (w *watch) ask(ctx context.Context) {
	asked := time.Now()
	bounded, done := context.WithTimeout(ctx, askLimit)
	defer done()
	over := w.outages.call()
	stop, err := w.store.Canceling(bounded, w.holders())
	over(transient(err) && ctx.Err() == nil)
	if err != nil {
		if !w.failing && ctx.Err() == nil {
			w.log.Warn("can't ask for cancel requests; until this works again they are heard at heartbeats", "error",
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
		delete(w.tasks, h) // it was told
	}
}
