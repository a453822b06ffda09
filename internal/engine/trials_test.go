package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// A task that tries a service without a probe, and runs on, does not hold up the others until it ends.
func TestLongTrialHoldsUpNoOther(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.TaskTimeout = 2 * time.Hour
		up := time.Now().Add(time.Minute)
		var long atomic.Bool
		w.startWith(needing(taskerr.Model, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if time.Now().Before(up) {
				return handlers.Outcome{}, modelDown()
			}
			if long.CompareAndSwap(false, true) {
				time.Sleep(40 * time.Minute)
			}
			return done(ctx, c)
		}))
		const tasks = 10
		for i := range tasks {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		ended := func() (n int) {
			for i := range tasks {
				if r, _ := w.store.Row(fmt.Sprint("t", i)); r.State == job.Succeeded {
					n++
				}
			}
			return n
		}
		w.settled(5 * time.Minute)
		if got := ended(); got != tasks-1 {
			t.Errorf("%d of %d tasks ended beside the long one", got, tasks-1)
		}
		w.settled(40 * time.Minute)
		if got := ended(); got != tasks {
			t.Errorf("%d of %d tasks ended", got, tasks)
		}
	})
}

// What tries the service beside a long task and fails opens the breaker again: its pauses go on growing, and no attempt is
// counted. The long task began before that, so its end shows nothing.
func TestTrialBesideALongOneFails(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.TaskTimeout = 2 * time.Hour
		began := time.Now()
		var long atomic.Bool
		var calls atomic.Int32
		w.startWith(needing(taskerr.Model, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if time.Since(began) > time.Minute && long.CompareAndSwap(false, true) {
				time.Sleep(40 * time.Minute)
				return done(ctx, c)
			}
			calls.Add(1)
			return handlers.Outcome{}, modelDown()
		}))
		const tasks = 10
		for i := range tasks {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		w.settled(30 * time.Minute)
		if n := calls.Load(); n < 9 || n > 3+4+60 { // what tripped it and ran beside that, and a trial in each pause
			t.Errorf("the model was called %d times in half an hour", n)
		}
		w.settled(30 * time.Minute)
		ended := 0
		for i := range tasks {
			switch r := w.row(fmt.Sprint("t", i)); {
			case r.State == job.Succeeded:
				ended++
			case r.State == job.Failed || r.Attempts > 2:
				t.Errorf("%s is %s after %d attempts", r.JobID, r.State, r.Attempts)
			}
		}
		if ended != 1 {
			t.Errorf("%d tasks ended, want the long one", ended)
		}
	})
}
