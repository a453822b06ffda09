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
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// A crowd that waits for the model is not received again and again.
func TestBreakerSlowsPolling(t *testing.T) {
	inWorld(t, func(w *world) {
		var counter pollTimes
		w.observer = &counter
		w.startWith(needing(taskerr.Model, func(context.Context, handlers.Call) (handlers.Outcome, error) {
			return handlers.Outcome{}, modelDown()
		}))
		for i := range 300 {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		w.settled(2 * time.Minute)
		if n := counter.most(); n > 3*(4+4) { // three queues, a wait of 250 ms, four ends in a second
			t.Errorf("%d receives in one second", n)
		}
	})
}

// A task that was held back while another one tried the model is found soon after that one succeeded,
// however seldom idle queues are looked at.
func TestBreakerWakesPolling(t *testing.T) {
	for _, probe := range []time.Duration{time.Second, 6 * time.Second} { // shorter and longer than the wait for it
		t.Run(probe.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.cfg.PollMin, w.cfg.PollMax = time.Hour, time.Hour
				var calls atomic.Int32
				w.startWith(needing(taskerr.Model,
					func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
						if calls.Add(1) <= 3 {
							return handlers.Outcome{}, modelDown()
						}
						time.Sleep(probe)
						return done(ctx, c)
					}))
				w.send(w.queues.Normal, message("t1", ""))
				w.send(w.queues.Normal, message("t2", ""))
				w.engine.Wake()
				w.settled(2 * time.Minute)
				for _, id := range []string{"t1", "t2"} {
					if r := w.row(id); r.State != job.Succeeded {
						t.Errorf("%s is %s", id, r.State)
					}
				}
			})
		})
	}
}

// An attempt that began before the outage and fails while another one tries the model is not counted.
func TestBreakerSparesTheOldOnes(t *testing.T) {
	inWorld(t, func(w *world) {
		began := time.Now()
		w.startWith(needing(taskerr.Model, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			switch since := time.Since(began); {
			case c.Task.ID == "old" && since < 10*time.Second:
				time.Sleep(30 * time.Second)
				return handlers.Outcome{}, modelDown()
			case since < 10*time.Second:
				return handlers.Outcome{}, modelDown()
			}
			time.Sleep(time.Minute)
			return done(ctx, c)
		}))
		for _, id := range []string{"old", "t1", "t2", "t3"} {
			w.send(w.queues.Normal, message(id, ""))
		}
		w.settled(5 * time.Minute)
		w.expectState("old", job.Succeeded, 1)
	})
}

// Tasks that succeed without a dependency do not say that it is up: those that need it are spared all the same.
func TestBreakerIgnoresWhoDoesNotNeedIt(t *testing.T) {
	inWorld(t, func(w *world) {
		var calls atomic.Int32
		w.startWith(needing(taskerr.Model, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if strings.HasPrefix(c.Task.ID, "needs-it") {
				calls.Add(1)
				return handlers.Outcome{}, modelDown()
			}
			out, err := done(ctx, c)
			out.Unused = []taskerr.Dependency{taskerr.Model}
			return out, err
		}))
		for i := range 3 { // three are evidence where there is no probe
			w.send(w.queues.Normal, message(fmt.Sprint("needs-it", i), ""))
		}
		for i := range 30 { // between any two attempts of the others
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
			w.settled(10 * time.Second)
		}
		for i := range 3 {
			if r := w.row(fmt.Sprint("needs-it", i)); r.State == job.Failed {
				t.Errorf("a task that waits for the model failed after %d attempts: %s", r.Attempts, r.Error.Message)
			}
		}
	})
}
