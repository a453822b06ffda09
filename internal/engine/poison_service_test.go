package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// service is what tasks need: it may be down, and some tasks fail at it.
type service struct {
	down   atomic.Bool
	probed atomic.Int32
	calls  sync.Map // *atomic.Int32 by job
}

func (s *service) probe(context.Context) error {
	s.probed.Add(1)
	if s.down.Load() {
		return modelDown()
	}
	return nil
}

func (s *service) called(id string) int {
	n, _ := s.calls.LoadOrStore(id, new(atomic.Int32))
	return int(n.(*atomic.Int32).Load())
}

// use is one call of it, which takes a while.
func (s *service) use(id string, took time.Duration) error {
	n, _ := s.calls.LoadOrStore(id, new(atomic.Int32))
	n.(*atomic.Int32).Add(1)
	time.Sleep(took)
	if s.down.Load() {
		return modelDown()
	}
	return nil
}

// crash takes it down for a while.
func (s *service) crash(lasts time.Duration) {
	s.down.Store(true)
	time.AfterFunc(lasts, func() { s.down.Store(false) })
}

func (s *service) probes() engine.Probes { return engine.Probes{taskerr.Model: s.probe} }

func poisonous(id string) bool { return strings.HasPrefix(id, "poison") }

// latencies sends a healthy task every 5 s, and returns how long each took, the longest last.
func (w *world) latencies(n int) (took []time.Duration) {
	w.Helper()
	begun := make([]time.Time, n)
	for i := range n {
		begun[i] = time.Now()
		w.send(w.queues.Normal, message(fmt.Sprint("healthy", i), ""))
		w.settled(5 * time.Second)
	}
	w.settled(time.Minute)
	for i := range n {
		r := w.row(fmt.Sprint("healthy", i))
		if r.State != job.Succeeded {
			w.Errorf("%s is %s after %d attempts", r.JobID, r.State, r.Attempts)
		}
		took = append(took, r.Ended.Sub(begun[i]))
	}
	slices.Sort(took)
	return took
}

// expectPoisoned checks that tasks have failed after all of their attempts, and how often they ran.
func (w *world) expectPoisoned(s *service, n, most int) {
	w.Helper()
	for i := range n {
		id := fmt.Sprint("poison", i)
		if r := w.row(id); r.State != job.Failed || r.Attempts != r.MaxAttempts || s.called(id) > most {
			w.Errorf("I11: %s is %s after %d attempts and %d runs (%s)", id, r.State, r.Attempts, s.called(id),
				r.Error.Message)
		}
	}
	w.expectDepth(w.queues.DeadLetter, n)
}
