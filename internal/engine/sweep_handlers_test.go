package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	storememory "github.com/seed-7227ef26/async-worker/internal/store/memory"
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

// pageless is a database whose functions know no pages of stalled jobs.
type pageless struct {
	*storememory.Jobs
	sweeps atomic.Int64
}

func (s *pageless) Sweep(ctx context.Context, o store.SweepAges, limit int) (store.SweepAnswer, error) {
	if s.sweeps.Add(1) > 100 {
		return store.SweepAnswer{}, errDown
	}
	o.After = store.Mark{}
	return s.Jobs.Sweep(ctx, o, limit)
}

// A worker beside the functions of the version before goes on to the next round.
func TestSweepWithoutPages(t *testing.T) {
	gatedWorld(t, func(w *world, _ *atomic.Bool, _ *atomic.Int64) {
		s := &pageless{Jobs: w.store}
		w.jobs = s
		for i := range 60 {
			h := w.begun(message(fmt.Sprint("doc", i), ""), 3)
			if _, err := w.store.Release(t.Context(), store.Release{Holder: h, Waits: true}); err != nil {
				t.Fatal(err)
			}
		}
		w.send(w.queues.Normal, message("doc0", "")) // its probe finds that the gateway is down
		w.startWith(gated{handlerFunc: done})
		w.settled(20 * time.Minute)
		if n := s.sweeps.Load(); n > 10 {
			t.Errorf("%d sweeps in 20 minutes", n)
		}
	})
}

// Jobs that wait for a service hold up none whose message is lost, however many they are.
func TestWaitingJobsHoldUpNoLostOne(t *testing.T) {
	gatedWorld(t, func(w *world, _ *atomic.Bool, _ *atomic.Int64) {
		ids := make([]string, 120)
		for i := range ids {
			ids[i] = fmt.Sprint("doc", i)
			w.send(w.queues.Normal, message(ids[i], ""))
		}
		texts := w.watchSends()
		for _, id := range append(ids, "free") {
			if _, err := w.store.Release(t.Context(), store.Release{Holder: w.begun(message(id, ""), 3), Waits: true}); err != nil {
				t.Fatal(err)
			}
		}
		w.startWith(gated{handlerFunc: done})
		w.settled(20 * time.Minute)
		w.expectState("free", job.Succeeded, 1)
		if len(*texts) != 1 {
			t.Errorf("%d messages, want that of the lost one", len(*texts))
		}
	})
}

// stubborn is a database that can't record the message of one job.
type stubborn struct {
	*storememory.Jobs
	id        string
	now, most int // sweeps of a round
	last      time.Time
}

func (s *stubborn) Sweep(ctx context.Context, o store.SweepAges, limit int) (store.SweepAnswer, error) {
	if time.Since(s.last) > time.Minute {
		s.now = 0
	}
	s.now, s.last = s.now+1, time.Now()
	s.most = max(s.most, s.now)
	return s.Jobs.Sweep(ctx, o, limit)
}

func (s *stubborn) Resend(ctx context.Context, r store.Resend) (bool, error) {
	if r.JobID == s.id {
		return false, errDown
	}
	return s.Jobs.Resend(ctx, r)
}

// waits records a job that waits for a service, whose message is lost.
func (w *world) waits(id string) {
	w.Helper()
	if _, err := w.store.Release(w.Context(), store.Release{Holder: w.begun(message(id, ""), 3), Waits: true}); err != nil {
		w.Fatal(err)
	}
}

// A job whose message can't be sent again does not end a sweep: others may be on later pages.
func TestFailedRevivalHoldsUpNoOther(t *testing.T) {
	gatedWorld(t, func(w *world, _ *atomic.Bool, _ *atomic.Int64) {
		w.jobs = &stubborn{Jobs: w.store, id: "free-stubborn"}
		w.waits("free-stubborn")
		time.Sleep(time.Second) // virtual: the others come after it
		for i := range 60 {
			w.waits(fmt.Sprint("doc", i))
		}
		w.waits("free")
		w.send(w.queues.Normal, message("doc0", ""))
		w.startWith(gated{handlerFunc: done})
		w.settled(20 * time.Minute)
		w.expectState("free", job.Succeeded, 1)
	})
}

// A round looks at a bounded number of jobs that wait for a service, and the next one goes on after them.
func TestSweepOfManyWaitingJobs(t *testing.T) {
	gatedWorld(t, func(w *world, _ *atomic.Bool, _ *atomic.Int64) {
		s := &stubborn{Jobs: w.store}
		w.jobs = s
		for i := range 1300 {
			w.waits(fmt.Sprint("doc", i))
		}
		time.Sleep(time.Minute) // virtual
		w.waits("free")         // behind all of them
		w.send(w.queues.Normal, message("doc0", ""))
		w.startWith(gated{handlerFunc: done})
		w.settled(30 * time.Minute)
		w.expectState("free", job.Succeeded, 1)
		if s.most > 22 {
			t.Errorf("%d sweeps in one round", s.most)
		}
	})
}
