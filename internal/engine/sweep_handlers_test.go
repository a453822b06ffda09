package engine_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// lenient is a handler that refuses no task.
type lenient struct{ handlerFunc }

func (lenient) Check(task.Task) error { return nil }

// What only the handlers of the start refuse is sent again after a reload.
func TestSweepAsksTheHandlersOfTheReload(t *testing.T) {
	inWorld(t, func(w *world) {
		w.begun(message("t1", `,"refuse":true`), 3)
		w.start(done)
		w.settled(time.Minute)
		next := w.tuning(done)
		next.Handlers = handlers.Registry{"test": lenient{done}}
		if err := w.engine.Retune(next); err != nil {
			t.Fatal(err)
		}
		w.settled(30 * time.Minute)
		w.expectState("t1", job.Succeeded, 2)
	})
}

// A lost message is sent again while a service is down that others of its type need.
func TestSweepAsksWhatTheTaskNeeds(t *testing.T) {
	gatedWorld(t, func(w *world, _ *atomic.Bool, _ *atomic.Int64) {
		w.free = true // so that the one that waits tries the gateway at the end of each pause, and not at a later poll
		w.begun(message("free", ""), 3)
		w.send(w.queues.Normal, message("waits", ""))
		w.startWith(gated{handlerFunc: done})
		w.settled(20 * time.Minute)
		w.expectState("free", job.Succeeded, 2)
	})
}
