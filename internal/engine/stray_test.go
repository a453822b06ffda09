package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
)

// A handler that does not listen to its context keeps neither its job nor a shutdown waiting; only its slot.
func TestHandlerThatDoesNotStop(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.Concurrency, w.cfg.TaskTimeout, w.cfg.DrainMax = 2, time.Minute, time.Second
		loop := make(chan struct{})
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if c.Task.ID == "stuck" || c.Task.ID == "stuck-later" {
				<-loop
			}
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("stuck", ""))
		w.settled(3 * time.Minute)
		w.expectState("stuck", job.Failed, 1)
		if env := w.expectBuried("timeout"); env.TaskID != "stuck" {
			t.Errorf("the envelope is %+v", env)
		}
		for _, id := range []string{"a", "b", "c"} {
			w.send(w.queues.Normal, message(id, ""))
		}
		w.settled(time.Minute)
		w.expectState("c", job.Succeeded, 1) // by the other slot

		w.send(w.queues.Normal, message("stuck-later", ""))
		w.settled(30 * time.Second)
		w.shutdown() // returns
		w.stop = nil
		w.expectState("stuck-later", job.Pending, 0)
		close(loop)
		w.settled(time.Minute)
		w.expectState("stuck", job.Failed, 1)
	})
}
