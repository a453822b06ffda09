package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

func TestTaskSucceeds(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if id := task.IDFrom(ctx); id != "t1" {
				t.Errorf("the work is for the task %q", id)
			}
			for _, s := range []string{"first", "second"} {
				if err := c.Progress.Stage(s); err != nil {
					return handlers.Outcome{}, err
				}
			}
			return done(t.Context(), c)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(time.Minute)
		w.expectState("t1", job.Succeeded, 1)
		w.expectDepth(w.queues.Normal, 0)
		if r := w.row("t1"); !strings.Contains(string(r.Result), `"answer":42`) ||
			!strings.Contains(string(r.Result), "processing_time_ms") {
			t.Errorf("the result is %s", r.Result)
		}
	})
}

// A message that is delivered again after its job is done has no second effect (I2).
func TestRedeliveryIsAnsweredDone(t *testing.T) {
	inWorld(t, func(w *world) {
		var runs atomic.Int32
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			runs.Add(1)
			return done(ctx, c)
		})
		for range 3 {
			w.send(w.queues.Normal, message("t1", ""))
			w.settled(time.Minute)
		}
		w.expectDepth(w.queues.Normal, 0)
		if runs.Load() != 1 || w.row("t1").Commits != 1 {
			t.Errorf("the handler ran %d times and committed %d times, want once", runs.Load(), w.row("t1").Commits)
		}
	})
}

func TestRetrySucceedsLater(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if c.Attempt < 3 {
				return handlers.Outcome{}, taskerr.Errorf(taskerr.TransientStorage, "not yet")
			}
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(5 * time.Minute)
		w.expectState("t1", job.Succeeded, 3)
		w.expectDepth(w.queues.DeadLetter, 0)
	})
}

// A long task keeps both its leases: nobody else gets it, and its message does not even come back.
func TestHeartbeatKeepsLeases(t *testing.T) {
	inWorld(t, func(w *world) {
		var runs, begins atomic.Int32
		w.hook().begin = func(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
			begins.Add(1)
			return w.store.Begin(ctx, b)
		}
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			runs.Add(1)
			time.Sleep(30 * time.Minute)
			return done(ctx, c)
		})
		w.cfg.TaskTimeout = time.Hour
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(29 * time.Minute)
		if left := time.Until(w.row("t1").LeaseEnds); left <= 0 {
			t.Errorf("the job's lease ran out %v ago", -left)
		}
		w.settled(10 * time.Minute)
		if runs.Load() != 1 || begins.Load() != 1 {
			t.Errorf("the task ran %d times and its message came %d times, want once", runs.Load(), begins.Load())
		}
	})
}

func TestTimeout(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(func(ctx context.Context, _ handlers.Call) (handlers.Outcome, error) {
			<-ctx.Done()
			return handlers.Outcome{}, context.Cause(ctx)
		})
		w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","payload":{},"hints":{"timeout_seconds":"7"}}`)
		w.settled(time.Minute)
		w.expectState("t1", job.Failed, 1)
		w.expectBuried("timeout")
	})
}

func TestCancelWhileRunning(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(func(ctx context.Context, _ handlers.Call) (handlers.Outcome, error) {
			<-ctx.Done()
			return handlers.Outcome{}, context.Cause(ctx)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(15 * time.Second)
		if _, err := w.store.RequestCancel(t.Context(), "t1", "a test"); err != nil {
			t.Fatal(err)
		}
		w.settled(time.Minute)
		w.expectState("t1", job.Canceled, 1)
		w.expectDepth(w.queues.Normal, 0)
	})
}

// A worker that lost the job commits nothing and leaves the message alone (I4).
func TestStaleFence(t *testing.T) {
	inWorld(t, func(w *world) {
		stolen := make(chan struct{})
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if c.Attempt == 1 {
				<-stolen
			}
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(5 * time.Second)
		r := w.row("t1")
		// Somebody else retries it, and so raises the fence.
		if _, err := w.store.Retry(t.Context(),
			store.Retry{Holder: store.Holder{JobID: "t1", Fence: r.Fence}}); err != nil {
			t.Fatal(err)
		}
		close(stolen)
		w.settled(5 * time.Minute)
		w.expectState("t1", job.Succeeded, 2)
		if w.row("t1").Commits != 1 {
			t.Errorf("%d commits, want one", w.row("t1").Commits)
		}
		w.expectDepth(w.queues.Normal, 0)
	})
}

// slowQueue answers a receive only when told to.
type slowQueue struct {
	queue.Queue
	once      sync.Once
	receiving chan struct{}
	answer    chan struct{}
}

func (q *slowQueue) Receive(ctx context.Context, n int, d time.Duration) ([]*queue.Message, error) {
	q.once.Do(func() { close(q.receiving) })
	<-q.answer
	return q.Queue.Receive(ctx, n, d)
}

func TestPriorities(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.Concurrency = 1
		for _, q := range []queue.Queue{w.queues.Low, w.queues.Normal, w.queues.High} {
			for i := range 3 {
				w.send(q, message(fmt.Sprintf("%s.%d", q.Name(), i), ""))
			}
		}
		var mu sync.Mutex
		var order []string
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, strings.Split(c.Task.ID, ".")[0])
			return done(ctx, c)
		})
		w.settled(5 * time.Minute)
		want := "acme-tasks-high acme-tasks-high acme-tasks-high acme-tasks acme-tasks acme-tasks acme-tasks-low " +
			"acme-tasks-low acme-tasks-low"
		if got := strings.Join(order, " "); got != want {
			t.Errorf("served %s", got)
		}
	})
}

// No more is received than there are free slots.
func TestConcurrencyIsTheLimit(t *testing.T) {
	inWorld(t, func(w *world) {
		var now, most atomic.Int32
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Second)
			now.Add(-1)
			return done(ctx, c)
		})
		for i := range 50 {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		w.settled(time.Minute)
		w.expectDepth(w.queues.Normal, 0)
		if most.Load() != 4 {
			t.Errorf("%d tasks ran at a time, want 4", most.Load())
		}
	})
}
