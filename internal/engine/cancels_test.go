package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	storememory "github.com/seed-7227ef26/async-worker/internal/store/memory"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// questions counts what is asked about cancel requests, and may be told to fail.
type questions struct {
	*storememory.Jobs
	mu    sync.Mutex
	asked []time.Time
	most  int // attempts in one question
	down  bool
	takes time.Duration
}

func (q *questions) Canceling(ctx context.Context, attempts []store.Holder) ([]store.Holder, error) {
	q.mu.Lock()
	q.asked = append(q.asked, time.Now())
	q.most = max(q.most, len(attempts))
	down, takes := q.down, q.takes
	q.mu.Unlock()
	time.Sleep(takes)
	if down {
		return nil, errDown
	}
	return q.Jobs.Canceling(ctx, attempts)
}

// count returns how many questions there were, and forgets them.
func (q *questions) count() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.asked)
	q.asked = nil
	return n
}

func (w *world) question() *questions {
	q := &questions{Jobs: w.store}
	w.jobs = q
	return q
}

// forever works until it is told to stop.
func forever(ctx context.Context, _ handlers.Call) (handlers.Outcome, error) {
	<-ctx.Done()
	return handlers.Outcome{}, context.Cause(ctx)
}

// A cancel at any moment of a running task is acknowledged within a second, and nothing of the task is
// committed after it (I7).
func TestCancelIsHeardSoon(t *testing.T) {
	for seed := range uint64(50) {
		inWorld(t, func(w *world) {
			w.start(forever)
			w.send(w.queues.Normal, message("t1", ""))
			w.settled(time.Second)
			begun := w.row("t1").Started
			rnd := rand.New(rand.NewPCG(seed, 7))
			w.settled(time.Duration(rnd.Int64N(int64(90 * time.Second))))
			asked := time.Now()
			if _, err := w.store.RequestCancel(w.Context(), "t1", "a test"); err != nil {
				t.Fatal(err)
			}
			w.settled(time.Minute)
			w.expectState("t1", job.Canceled, 1)
			r := w.row("t1")
			if took := r.Ended.Sub(asked); took > time.Second {
				t.Errorf("asked %v after the start, the cancel took %v", asked.Sub(begun), took)
			}
			if r.Commits != 0 || len(r.Effects) != 0 || r.Events[len(r.Events)-1].Stage != "canceled" {
				t.Errorf("I7: %d commits, %d effects, events %+v", r.Commits, len(r.Effects), r.Events)
			}
			w.expectDepth(w.queues.Normal, 0)
		})
	}
}

// It is heard in a drain as well.
func TestCancelInADrain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(forever)
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(10 * time.Second)
		w.stop()
		w.settled(time.Second)
		if _, err := w.store.RequestCancel(w.Context(), "t1", "a test"); err != nil {
			t.Fatal(err)
		}
		w.settled(time.Second)
		w.expectState("t1", job.Canceled, 1)
	})
}

// One question serves all running tasks; without any, and for short ones, nothing is asked.
func TestCancelQuestions(t *testing.T) {
	inWorld(t, func(w *world) {
		q := w.question()
		w.cfg.Concurrency = 8
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			takes := 10 * time.Second
			if c.Task.ID[0] == 's' {
				takes = 400 * time.Millisecond
			}
			return work(takes, done)(ctx, c)
		})
		w.settled(24 * time.Hour)
		if n := q.count(); n != 0 {
			t.Errorf("%d questions in a day without tasks", n)
		}
		for i := range 20 {
			w.send(w.queues.Normal, message(fmt.Sprint("short-", i), ""))
			w.settled(time.Minute)
		}
		if n := q.count(); n != 0 {
			t.Errorf("%d questions about short tasks", n)
		}
		for i := range 8 {
			w.send(w.queues.Normal, message(fmt.Sprint("long-", i), ""))
		}
		w.settled(time.Hour)
		if n := q.count(); n < 19 || n > 20 || q.most != 8 {
			t.Errorf("%d questions about up to %d tasks in 10 s, want 19 or 20 about 8", n, q.most)
		}
	})
}

// A store that fails or is slow is asked less often, and heartbeats bring the request meanwhile.
func TestCancelQuestionsBackOff(t *testing.T) {
	inWorld(t, func(w *world) {
		q := w.question()
		q.down = true
		w.start(forever)
		w.send(w.queues.Normal, message("t1", ""))
		w.send(w.queues.Normal, message("t2", ""))
		w.settled(10 * time.Minute)
		if n := q.count(); n < 20 || n > 30 {
			t.Errorf("%d questions in 10 minutes of failure, want about two a minute", n)
		}
		if _, err := w.store.RequestCancel(w.Context(), "t1", "a test"); err != nil {
			t.Fatal(err)
		}
		w.settled(25 * time.Second)
		w.expectState("t1", job.Canceled, 1)

		q.mu.Lock()
		q.down, q.takes = false, 2*time.Second
		q.mu.Unlock()
		w.settled(time.Minute) // back within askPause
		q.count()
		w.settled(time.Minute)
		if n := q.count(); n < 14 || n > 16 {
			t.Errorf("%d questions in a minute, each taking 2 s: want about 15", n)
		}
		if _, err := w.store.RequestCancel(w.Context(), "t2", "a test"); err != nil {
			t.Fatal(err)
		}
		w.settled(time.Minute)
		w.expectState("t2", job.Canceled, 1)
	})
}

// TestCancelWhileItIsJudged: a cancel that comes while a failed attempt is judged takes effect at its end, however long the
// service is down.
func TestCancelWhileItIsJudged(t *testing.T) {
	for name, up := range map[string]bool{"released": false, "retried": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				webhooks := 0
				w.outbox = func() { webhooks++ }
				w.probes = engine.Probes{taskerr.Model: func(context.Context) error {
					if r, there := w.store.Row("t1"); there && r.State == job.Running {
						if _, err := w.store.RequestCancel(t.Context(), "t1", "a test"); err != nil {
							t.Error(err)
						}
					}
					if !up {
						return modelDown()
					}
					return nil
				}}
				w.startWith(needing(taskerr.Model, func(context.Context, handlers.Call) (handlers.Outcome, error) {
					return handlers.Outcome{}, modelDown()
				}))
				w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","payload":{},"webhook_url":"https://example.com/"}`)
				w.settled(time.Second)
				w.expectState("t1", job.Canceled, 1)
				w.expectDepth(w.queues.Normal, 0)
				w.expectLog("task canceled")
				if n := len(w.row("t1").Outbox); n != 1 || webhooks != 1 {
					t.Errorf("%d webhooks, the outbox was woken %d times", n, webhooks)
				}
			})
		})
	}
}
