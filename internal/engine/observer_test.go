package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// witness is an observer that writes down its calls.
type witness struct {
	engine.NopObserver
	mu    sync.Mutex
	calls []string
	waits []time.Duration // of each that came
}

func (w *witness) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, fmt.Sprintf(format, args...))
}

func (w *witness) Accepted(t task.Type, waited time.Duration) {
	w.note("%s came", t)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waits = append(w.waits, waited)
}
func (w *witness) Started(t task.Type, attempt int) { w.note("%s started %d", t, attempt) }

func (w *witness) Ended(t task.Type, e engine.Ending) {
	w.note("%s ended %d %s %s after %v", t, e.Attempt, e.Outcome, e.Class, e.Took.Truncate(2*time.Second))
	if e.Warnings > 0 {
		w.note("%s has %d warnings", t, e.Warnings)
	}
	if e.JobTook > e.Took {
		w.note("%s took longer than its last attempt", t)
	}
}

func (w *witness) Finished(t task.Type, e engine.Ending) {
	w.note("%s over %d %s %s", t, e.Attempt, e.Outcome, e.Class)
}

// What the observer is told of each life: once that it came, and of every attempt that it started and ended.
func TestObserver(t *testing.T) {
	busy := work(2*time.Second, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
		if c.Attempt == 1 {
			return handlers.Outcome{}, taskerr.Errorf(taskerr.ModelOverloaded, "busy")
		}
		return done(ctx, c)
	})
	damaged := func(context.Context, handlers.Call) (handlers.Outcome, error) {
		return handlers.Outcome{}, taskerr.Errorf(taskerr.CorruptionDetected, "cut off")
	}
	for _, c := range []struct {
		name    string
		handler handlerFunc
		text    string
		before  func(w *world) // the message is sent
		during  func(w *world) // after 5 s
		want    []string
	}{
		{name: "a retry", handler: busy, want: []string{
			"test came", "test started 1", "test ended 1 retry model_overloaded after 2s", "test started 2",
			"test ended 2 succeeded  after 2s",
			"test took longer than its last attempt",
		}},
		{
			name: "a failure", handler: damaged,
			want: []string{"test came", "test started 1", "test ended 1 failed corruption_detected after 0s"},
		},
		{
			name: "a refused payload", text: message("t1", `,"refuse":true`), handler: done,
			want: []string{"test over 0 failed validation_error"},
		},
		{
			name: "an unknown type", handler: done, text: `{"task_id":"t1","task_type":"brew","payload":{}}`,
			want: []string{"brew over 0 failed validation_error"},
		},
		{name: "no task at all", handler: done, text: `tea, please`, want: []string{" over 0 failed validation_error"}},
		{name: "a cancel", handler: work(time.Hour, done), during: func(w *world) {
			if _, err := w.store.RequestCancel(w.Context(), "t1", "a test"); err != nil {
				w.Fatal(err)
			}
		}, want: []string{"test came", "test started 1", "test ended 1 canceled  after 4s"}},
		{name: "a cancel before it runs", handler: done, before: func(w *world) {
			if _, err := w.store.RequestCancel(w.Context(), "t1", "a test"); err != nil {
				w.Fatal(err)
			}
		}, want: []string{"test over 0 canceled "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				seen := &witness{}
				w.observer = seen
				if c.before != nil {
					c.before(w)
				}
				w.start(c.handler)
				text := c.text
				if text == "" {
					text = message("t1", "")
				}
				w.send(w.queues.Normal, text)
				w.settled(5 * time.Second)
				if c.during != nil {
					c.during(w)
				}
				w.settled(time.Minute)
				seen.mu.Lock()
				defer seen.mu.Unlock()
				if !slices.Equal(seen.calls, c.want) {
					t.Errorf("its calls are\n%q, want\n%q", seen.calls, c.want)
				}
			})
		})
	}
}

// A job waits once, until it begins: not once more after each release, nor before its run_at.
func TestWaitIsObservedOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		seen := &witness{}
		w.observer = seen
		var runs atomic.Int32
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if runs.Add(1) < 3 {
				return handlers.Outcome{}, &store.BusyError{JobID: "other", RetryAfter: time.Minute}
			}
			return done(ctx, c)
		})
		w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","payload":{"n":1},"run_at":"`+
			time.Now().Add(40*time.Second).UTC().Format(time.RFC3339)+`"}`)
		w.settled(10 * time.Minute)
		w.expectState("t1", job.Succeeded, 1)
		late := 2*w.cfg.PollMax + 5*time.Second // see TestRunsLater
		if len(seen.waits) != 1 || seen.waits[0] > late || runs.Load() != 3 {
			t.Errorf("waits %v in %d runs, want one of at most %v", seen.waits, runs.Load(), late)
		}
	})
}

// brokenSends is a queue that nothing can be sent to while it is down.
type brokenSends struct {
	queue.Queue
	down  atomic.Bool
	tries atomic.Int32
}

func (q *brokenSends) Send(ctx context.Context, text string, o queue.SendOptions) (string, error) {
	q.tries.Add(1)
	if q.down.Load() {
		return "", taskerr.Errorf(taskerr.TransientStorage, "down")
	}
	return q.Queue.Send(ctx, text, o)
}

// While the dead-letter queue is down a refused message comes again and again, and counts once.
func TestRefusalCountsOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		seen := &witness{}
		w.observer = seen
		broken := &brokenSends{Queue: w.queues.DeadLetter}
		broken.down.Store(true)
		w.queues.DeadLetter = broken
		w.start(done)
		w.send(w.queues.Normal, `tea, please`)
		w.settled(5 * time.Minute)
		if len(seen.calls) != 0 || broken.tries.Load() < 3 {
			t.Errorf("after %d tries its calls are %q", broken.tries.Load(), seen.calls)
		}
		broken.down.Store(false)
		w.settled(time.Minute)
		if len(seen.calls) != 1 {
			t.Errorf("its calls are %q", seen.calls)
		}
	})
}

// A success that deserves a look says so: to the observer and in the log, which must not quote the document.
func TestWarningsAreReported(t *testing.T) {
	inWorld(t, func(w *world) {
		seen := &witness{}
		w.observer = seen
		w.start(func(context.Context, handlers.Call) (handlers.Outcome, error) {
			return handlers.Outcome{
				Result: map[string]any{"warnings": []string{"page 2 of TopSecret.pdf", "page 3"}},
			}, nil
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(5 * time.Second)
		w.expectState("t1", job.Succeeded, 1)
		w.expectLog("task done", "warnings=2", "async-worker jobs get t1")
		if !slices.Contains(seen.calls, "test has 2 warnings") || strings.Contains(w.logs.String(), "TopSecret") {
			t.Errorf("calls %q, and logged\n%s", seen.calls, w.logs)
		}
	})
}
