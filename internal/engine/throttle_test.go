package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// started runs an engine over a flood of high with tasks that take no time of their own, and says how many
// were started since it was last asked.
func (w *world) started() (since func() int64) {
	var n atomic.Int64
	w.queues.High = &flood{Queue: w.queues.High}
	w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
		n.Add(1)
		time.Sleep(100 * time.Millisecond)
		return done(ctx, c)
	})
	return func() int64 { return n.Swap(0) }
}

// A store that answers slowly is asked less often, in proportion, and soon again when it is quick.
func TestSlowStoreIsAskedLessOften(t *testing.T) {
	inWorld(t, func(w *world) {
		var took atomic.Int64
		w.cfg.Concurrency = 2
		w.hook().begin = func(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
			time.Sleep(time.Duration(took.Load()))
			return w.store.Begin(ctx, b)
		}
		since := w.started()
		inMinute := func(answer, settle time.Duration) int64 {
			took.Store(int64(answer))
			w.settled(settle)
			since()
			w.settled(time.Minute)
			return since()
		}
		normal := inMinute(10*time.Millisecond, time.Minute)
		below := inMinute(400*time.Millisecond, time.Minute)
		slow := inMinute(time.Second, time.Minute) // waits of 3 s
		slower := inMinute(20*time.Second, 10*time.Minute)
		again := inMinute(10*time.Millisecond, 3*time.Minute)
		t.Logf("tasks a minute: %d, at 400 ms %d, at 1 s %d, at 20 s %d, then again %d", normal, below, slow, slower,
			again)
		if below < 200 || slow > 60 || slow < 20 || slower < 2 || again < normal*9/10 {
			t.Error("want: not slowed below 500 ms, waits of 3 s at 1 s, never none, and full speed in the end")
		}
		if strings.Count(w.logs.String(), "the database answers slowly") != 1 ||
			strings.Count(w.logs.String(), "the database is quick again") != 1 {
			t.Errorf("the log:\n%s", w.logs)
		}
	})
}

// While many webhooks are due tasks are taken one by one, until few are.
func TestFullOutboxSlowsTheWorker(t *testing.T) {
	inWorld(t, func(w *world) {
		var due atomic.Int64
		w.cfg.Concurrency = 1
		w.due = func() int { return int(due.Load()) }
		since := w.started()
		var got []int64
		for _, n := range []int64{0, 1000, 1001, 600, 500, 499, 700} {
			due.Store(n)
			w.settled(15 * time.Second)
			since()
			for range 60 {
				w.engine.Wake() // is not a way around it
				w.settled(time.Second)
			}
			got = append(got, since())
		}
		t.Logf("tasks a minute: %v", got)
		for i, n := range got {
			if slow := i >= 2 && i <= 4; slow && (n < 5 || n > 8) || !slow && n < 500 {
				t.Errorf("step %d: %d tasks in a minute", i, n)
			}
		}
		if strings.Count(w.logs.String(), "webhooks are not delivered as fast") != 1 ||
			strings.Count(w.logs.String(), "webhooks are delivered in time again") != 1 {
			t.Errorf("the log:\n%s", w.logs)
		}
	})
}

// A moment in which the database does not answer is one trouble, however many messages meet it.
func TestOneTroubleIsWaitedForOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		var s service
		w.cfg.Concurrency = 32
		w.jobs = outage{w.store, &s.down}
		for i := range w.cfg.Concurrency {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		s.crash(500 * time.Millisecond)
		w.start(done)
		w.settled(4 * time.Second)
		for i := range w.cfg.Concurrency {
			w.expectState(fmt.Sprint("t", i), job.Succeeded, 1)
		}
	})
}
