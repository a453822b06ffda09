package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// TestHoldersAreFirstAfterAnOutage: the lease of another worker's job ends while the store is away. When it answers
// again, this worker leaves the job to its holder for a moment, so that no attempt is counted (I9). If the holder is
// gone, it takes the job over soon.
func TestHoldersAreFirstAfterAnOutage(t *testing.T) {
	const outage = 2 * time.Minute
	for name, c := range map[string]struct {
		holderLives bool
		attempts    int
	}{"the holder lives": {true, 1}, "the holder is gone": {false, 2}} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				over := time.Now().Add(outage)
				var asked, answered atomic.Int32
				w.hook().begin = func(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
					if asked.Add(1) == 1 {
						theirs := b
						theirs.ID, theirs.Worker = "theirs", "another"
						begun, err := w.store.Begin(ctx, theirs)
						if err != nil || begun.Decision != store.Run {
							t.Errorf("the holder's begin: %+v, %v", begun, err)
						}
						if c.holderLives { // its commit is tried again just after the store has come back
							time.AfterFunc(outage+2*time.Second, func() {
								holder := store.Holder{JobID: b.JobID, Fence: begun.Fence}
								if _, err := w.store.Release(context.WithoutCancel(ctx), store.Release{Holder: holder}); err != nil {
									t.Errorf("the holder can't give it back: %v", err)
								}
							})
						}
					}
					if time.Now().Before(over) {
						return store.BeginAnswer{}, errDown
					}
					answered.Add(1)
					return w.store.Begin(ctx, b)
				}
				w.cfg.Lease, w.cfg.PollMin, w.cfg.PollMax = 30*time.Second, 100*time.Millisecond, time.Second
				w.start(done)
				w.send(w.queues.Normal, message("t1", ""))
				w.settled(outage + 20*time.Second)
				w.expectState("t1", job.Succeeded, c.attempts)
				if n := answered.Load(); n < 2 {
					t.Errorf("%d begins were answered: the first was to come before the holder", n)
				}
			})
		})
	}
}

// TestRenewsSoonAfterAnOutage: a task at work renews its lease before another worker may take its job over.
func TestRenewsSoonAfterAnOutage(t *testing.T) {
	inWorld(t, func(w *world) {
		begins, ends := 5*time.Second, 55*time.Second // of a lease of a minute
		began, renewed := time.Now(), time.Duration(0)
		w.hook().heartbeat = func(ctx context.Context, b store.Heartbeat) (store.HeartbeatAnswer, error) {
			if at := time.Since(began); at > begins && at < ends {
				return store.HeartbeatAnswer{}, errDown
			} else if at >= ends && renewed == 0 {
				renewed = at
			}
			return w.store.Heartbeat(ctx, b)
		}
		w.cfg.Lease, w.cfg.PollMin, w.cfg.PollMax = time.Minute, 100*time.Millisecond, 2*time.Second
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			time.Sleep(2 * time.Minute)
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(3 * time.Minute)
		w.expectState("t1", job.Succeeded, 1)
		if most := ends + 2300*time.Millisecond; renewed == 0 || renewed > most {
			t.Errorf("renewed at %v, want within %v", renewed, most)
		}
	})
}
