package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
)

// restarts runs one worker process after another, each with a name of its own, until stop is called. A poison task ends
// its process in the middle. deaths counts them.
func (w *world) restarts(f handlerFunc) (deaths *int, stop func()) {
	deaths = new(int)
	finish, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for n := 1; ; n++ {
			g, died := &gate{}, make(chan struct{}, 1)
			remove := w.behind(g)
			w.cfg.Worker = fmt.Sprint("process", n)
			w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
				if !poisonous(c.Task.ID) {
					return f(ctx, c)
				}
				time.Sleep(30 * time.Second) // virtual
				g.mu.Lock()
				g.dead = true
				g.mu.Unlock()
				died <- struct{}{}
				return handlers.Outcome{}, errDown
			})
			remove()
			select {
			case <-died:
				*deaths++
				w.engine.Abort()
				w.shutdown()
			case <-finish:
				w.shutdown()
				return
			}
		}
	}()
	return deaths, func() { close(finish); <-ended; w.stop = nil }
}

// A task that ends its process each time is dead-lettered after a bounded number of deaths. The tasks beside it, which take
// longer than it needs, end well, and pay no attempt for it: all begin together, and nobody else runs.
func TestPoisonOfTheProcess(t *testing.T) {
	for attempts := range 4 {
		t.Run(fmt.Sprint("attempts ", attempts), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.cfg.MaxAttempts = attempts // 0: by type, 3
				for i := range 3 {
					w.send(w.queues.Normal, message(fmt.Sprint("healthy", i), ""))
				}
				w.send(w.queues.Normal, message("poison0", ""))
				deaths, stop := w.restarts(work(2*time.Minute, done))
				w.settled(time.Hour)
				stop()
				p := w.row("poison0")
				w.expectState("poison0", job.Failed, p.MaxAttempts)
				w.expectDepth(w.queues.DeadLetter, 1)
				if want := p.MaxAttempts + 2; *deaths != want {
					t.Errorf("I6: %d deaths, want %d", *deaths, want)
				}
				for i := range 3 {
					w.expectState(fmt.Sprint("healthy", i), job.Succeeded, 1)
				}
			})
		})
	}
}

// So it is when there are always others to run beside it, and two such tasks.
func TestPoisonOfTheProcessWithABacklog(t *testing.T) {
	for _, takes := range []time.Duration{20 * time.Second, time.Minute} {
		t.Run(takes.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				const healthy, poisons = 40, 2
				w.cfg.MaxAttempts = 2
				for i := range healthy {
					if i%20 == 5 {
						w.send(w.queues.Normal, message(fmt.Sprint("poison", i/20), ""))
					}
					w.send(w.queues.Normal, message(fmt.Sprint("healthy", i), ""))
				}
				deaths, stop := w.restarts(work(takes, done))
				w.settled(4 * time.Hour)
				stop()
				for i := range poisons {
					w.expectState(fmt.Sprint("poison", i), job.Failed, 2)
				}
				if most := poisons * (2 + 5); *deaths > most {
					t.Errorf("I6: %d deaths, want at most %d", *deaths, most)
				}
				for i := range healthy {
					if r := w.row(fmt.Sprint("healthy", i)); r.State != job.Succeeded {
						t.Errorf("%s is %s after %d attempts; it lost %v", r.JobID, r.State, r.Attempts, r.Lost)
					}
				}
				w.expectDepth(w.queues.DeadLetter, poisons)
			})
		})
	}
}

// A task that waits for another one, as both were lost with the same workers, has its message: no sweep sends another.
func TestSuspectThatWaitsIsNotSentAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.MaxAttempts = 1
		for i := range 2 {
			w.send(w.queues.Normal, message(fmt.Sprint("healthy", i), ""))
		}
		w.send(w.queues.Normal, message("poison0", ""))
		_, stop := w.restarts(work(14*time.Minute, done))
		w.settled(2 * time.Hour)
		stop()
		for _, id := range []string{"healthy0", "healthy1", "poison0"} {
			r := w.row(id)
			if events := fmt.Sprint(r.Events); !r.State.Terminal() || strings.Contains(events, "sent again") {
				t.Errorf("%s is %s: %s", id, r.State, events)
			}
		}
	})
}
