package engine_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	record "github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/store"
	storememory "github.com/seed-7227ef26/async-worker/internal/store/memory"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// TestRunsLater: a task starts at its run_at and not before, once, however often its message comes; its message waits
// in the job's row meanwhile.
func TestRunsLater(t *testing.T) {
	for name, ahead := range map[string]time.Duration{
		"past": -time.Hour, "soon": 40 * time.Second, "in hours": 5 * time.Hour, "in weeks": 8 * 24 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				late := 15 * time.Second
				if name == "soon" { // it waits on the queue, which an idle worker asks every other time
					late = 2*w.cfg.PollMax + 5*time.Second
				}
				began, due := time.Now(), time.Now().Add(ahead)
				var at []time.Time
				w.start(func(context.Context, handlers.Call) (handlers.Outcome, error) {
					at = append(at, time.Now())
					return handlers.Outcome{}, nil
				})
				text := `{"task_id":"t1","task_type":"test","payload":{"n":1},"run_at":"` + due.UTC().Format(time.RFC3339) + `"}`
				w.send(w.queues.Normal, text)
				w.send(w.queues.Normal, text)
				w.settled(20 * time.Second)
				if ahead > time.Minute {
					w.expectDepth(w.queues.Normal, 0)
					w.expectState("t1", job.Pending, 0)
				}
				// An idle worker asks one queue only in a while, and the second message may come back once more.
				w.settled(max(ahead, 0) + 5*time.Minute)
				w.expectState("t1", job.Succeeded, 1)
				if len(at) != 1 || at[0].Before(due.Truncate(time.Second)) || at[0].Sub(began)-max(ahead, 0) > late {
					t.Errorf("run at %v, due at %v, sent at %v", at, due, began)
				}
				w.expectInvariants()
			})
		})
	}
}

// TestForcedLater: a job that has ended is done again at the time that a forced message gives, once, and not before.
func TestForcedLater(t *testing.T) {
	inWorld(t, func(w *world) {
		var mu sync.Mutex
		var at []time.Time
		w.start(func(context.Context, handlers.Call) (handlers.Outcome, error) {
			mu.Lock()
			defer mu.Unlock()
			at = append(at, time.Now())
			return handlers.Outcome{}, nil
		})
		ran := func() []time.Time {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(at)
		}
		w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","payload":{"n":1}}`)
		w.settled(time.Minute)
		due := time.Now().Add(5 * time.Hour).UTC().Truncate(time.Second)
		text := `{"task_id":"t1","task_type":"test","payload":{"n":1},"hints":{"force":true},"run_at":"` +
			due.Format(time.RFC3339) + `"}`
		w.send(w.queues.Normal, text)
		w.send(w.queues.Normal, text)
		w.settled(time.Hour)
		w.expectDepth(w.queues.Normal, 0)
		if at := ran(); len(at) != 1 {
			t.Errorf("run at %v before %v", at, due)
		}
		w.settled(6 * time.Hour)
		if at := ran(); len(at) != 2 || at[1].Before(due) || at[1].Sub(due) > 15*time.Second {
			t.Errorf("run at %v, due at %v", at, due)
		}
	})
}

// TestForcedLaterTwice: of messages that ask for runs at different times, each gets its run.
func TestForcedLaterTwice(t *testing.T) {
	inWorld(t, func(w *world) {
		var runs atomic.Int64
		w.start(func(context.Context, handlers.Call) (handlers.Outcome, error) {
			runs.Add(1)
			return handlers.Outcome{}, nil
		})
		w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","payload":{"n":1}}`)
		w.settled(time.Minute)
		for i, minutes := range []int{300, 480, 180, 305, 240} {
			w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","payload":{"n":1},"hints":{"force":true},"run_at":"`+
				time.Now().Add(time.Duration(minutes)*time.Minute).UTC().Format(time.RFC3339)+`"}`)
			w.settled(time.Duration(i+1) * time.Minute)
		}
		if n := runs.Load(); n != 1 {
			t.Errorf("%d runs before their time", n)
		}
		w.settled(9 * time.Hour)
		if n := runs.Load(); n != 6 {
			t.Errorf("%d runs, want 6", n)
		}
	})
}

// TestSubmitBesideALaterRun: a submission that starts now leaves the job's later run alone, and so does one that is the
// same but for its time.
func TestSubmitBesideALaterRun(t *testing.T) {
	inWorld(t, func(w *world) {
		var runs atomic.Int64
		w.start(func(context.Context, handlers.Call) (handlers.Outcome, error) {
			runs.Add(1)
			return handlers.Outcome{}, nil
		})
		submit := func(what task.Task, ahead time.Duration) {
			t.Helper()
			what.Type, what.Payload = "test", []byte(`{"n":1}`)
			if ahead > 0 {
				what.RunAt = time.Now().Add(ahead)
			}
			s := engine.Submitter{Store: w.store, Queues: w.queues, MaxAttempts: func(task.Type) int { return 3 }}
			if _, err := s.Submit(t.Context(), what); err != nil {
				t.Fatal(err)
			}
			w.settled(5 * time.Minute)
		}
		submit(task.Task{ID: "t1"}, 5*time.Hour)
		submit(task.Task{ID: "t1"}, 0)
		if n := runs.Load(); n != 0 {
			t.Errorf("%d runs before its time", n)
		}
		w.settled(5 * time.Hour)
		forced := task.Task{ID: "t1", Hints: task.Hints{Force: true}}
		submit(forced, 5*time.Hour)
		submit(forced, 0)
		w.settled(6 * time.Hour)
		if n := runs.Load(); n != 3 {
			t.Errorf("%d runs, want 3", n)
		}
	})
}

// TestRecordedIsSentOnce: a sweep sends a recorded message once, though its job does not begin by it for long.
func TestRecordedIsSentOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		texts := w.watchSends()
		text := `{"task_id":"t1","task_type":"test","payload":{"n":1}}`
		h := w.begun(text, 3)
		if _, err := w.store.Heartbeat(t.Context(), store.Heartbeat{Holder: h, Lease: 2 * time.Hour}); err != nil {
			t.Fatal(err)
		}
		decoded, err := task.Decode(text, task.Options{ClientID: "acme"})
		if err != nil {
			t.Fatal(err)
		}
		s := store.Submission{
			Task: record.Record(decoded.Task, 3), Queue: w.queues.Normal.Name(), Message: text, SendAt: new(time.Now()),
		}
		s.Hints = []byte(`{"force":true}`)
		if _, err := w.store.Submit(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		w.start(done)
		w.settled(time.Hour)
		if n := len(*texts); n != 1 {
			t.Errorf("sent %d times, want once", n)
		}
	})
}

// slowSweeps is a store whose answers to a sweep take a second: two sweeps at once find the same.
type slowSweeps struct{ *storememory.Jobs }

func (s slowSweeps) Sweep(ctx context.Context, o store.SweepAges, limit int) (store.SweepAnswer, error) {
	found, err := s.Jobs.Sweep(ctx, o, limit)
	time.Sleep(time.Second)
	return found, err
}

// TestForcedLaterByTwoSweeps: it is done once, too, when the sweeps of two workers find its message at once and both send
// it, before and after the run (I2).
func TestForcedLaterByTwoSweeps(t *testing.T) {
	inWorld(t, func(w *world) {
		w.jobs = slowSweeps{w.store}
		texts := w.watchSends()
		var runs atomic.Int32
		run := func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			runs.Add(1)
			return done(ctx, c)
		}
		w.start(run)
		other := *w
		other.cfg.Worker = "w2"
		other.start(run)
		defer other.shutdown()
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(time.Minute)
		for round := range 2 { // the second at another time is another run
			before, sent := runs.Load(), len(*texts)+1
			w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","payload":{"n":1},"hints":{"force":true},"run_at":"`+
				time.Now().Add(5*time.Hour).UTC().Format(time.RFC3339)+`"}`)
			w.settled(6 * time.Hour)
			if n := len(*texts) - sent; n != 2 {
				t.Errorf("round %d: %d messages of the sweeps, want one of each", round, n)
			}
			if n := runs.Load() - before; n != 1 || w.row("t1").Series != round+2 {
				t.Errorf("round %d: %d runs, series %d, want one run", round, n, w.row("t1").Series)
			}
		}
		w.expectDepth(w.queues.Normal, 0)
	})
}

// lameSweeps is a store whose sweeps fail for a while.
type lameSweeps struct {
	*storememory.Jobs
	down  *atomic.Bool
	calls *atomic.Int32
}

func (s lameSweeps) Sweep(ctx context.Context, o store.SweepAges, limit int) (store.SweepAnswer, error) {
	if s.calls.Add(1); s.down.Load() {
		return store.SweepAnswer{}, errDown
	}
	return s.Jobs.Sweep(ctx, o, limit)
}

// TestRunsSoonAfterAnOutage: a task whose time comes while the database or its queue is away starts soon after that, and
// a long outage costs few tries.
func TestRunsSoonAfterAnOutage(t *testing.T) {
	for name, lasts := range map[string]time.Duration{"a moment": 2 * time.Second, "an hour": time.Hour} {
		for _, of := range []string{"database", "queue"} {
			t.Run(of+" "+name, func(t *testing.T) {
				inWorld(t, func(w *world) {
					var down atomic.Bool
					sweeps := lameSweeps{w.store, new(atomic.Bool), new(atomic.Int32)}
					if w.jobs = sweeps; of == "database" {
						sweeps.down = &down
						w.jobs = sweeps
					} else {
						w.queues.Normal = closedQueue{w.queues.Normal, &down}
					}
					w.start(done)
					due := time.Now().Add(2 * time.Hour).UTC().Truncate(time.Second)
					w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","payload":{},"run_at":"`+due.Format(time.RFC3339)+`"}`)
					w.settled(time.Until(due) - time.Second)
					down.Store(true)
					before := sweeps.calls.Load()
					w.settled(time.Second + lasts)
					if n := int(sweeps.calls.Load() - before); n > 6+2*int(lasts/engine.DefaultSweepEvery) {
						t.Errorf("%d sweeps in an outage of %v", n, lasts)
					}
					down.Store(false)
					w.settled(30*time.Second + min(lasts, engine.DefaultSweepEvery)) // a round beside the first try may fail, too
					w.expectState("t1", job.Succeeded, 1)
				})
			})
		}
	}
}

// TestRunsNever: a start that is more than a year ahead is refused.
func TestRunsNever(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(func(context.Context, handlers.Call) (handlers.Outcome, error) { return handlers.Outcome{}, nil })
		w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","payload":{"n":1},"run_at":"`+
			time.Now().AddDate(2, 0, 0).UTC().Format(time.RFC3339)+`"}`)
		w.settled(time.Minute)
		w.expectState("t1", job.Failed, 0)
		w.expectLog("run_at is more than a year ahead")
	})
}
