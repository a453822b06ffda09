package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// A document that another job works on is asked for again soon at first, then less and less often; the
// other's lease, which a living worker goes on renewing, is not waited for.
func TestBusyDocumentIsAskedForSoonThenSeldom(t *testing.T) {
	inWorld(t, func(w *world) {
		free := time.Now().Add(10 * time.Second)
		var asked atomic.Int64
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			asked.Add(1)
			if time.Now().Before(free) {
				return handlers.Outcome{}, &store.BusyError{JobID: "other", RetryAfter: 55 * time.Second}
			}
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(35 * time.Second)
		w.expectState("t1", job.Succeeded, 1) // I9: waiting cost no attempt
		if n := asked.Load(); n < 3 || n > 12 {
			t.Errorf("the document was asked for %d times, want some", n)
		}
	})
}

// The webhook of a cancel goes out when the message is dropped, not at the outbox' next look.
func TestDroppedMessageWakesTheOutbox(t *testing.T) {
	inWorld(t, func(w *world) {
		woken := make(chan struct{}, 8)
		w.outbox = func() { woken <- struct{}{} }
		w.start(done)
		if _, err := w.store.RequestCancel(t.Context(), "t1", "a test"); err != nil {
			t.Fatal(err)
		}
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(time.Minute)
		w.expectState("t1", job.Canceled, 0)
		select {
		case <-woken:
		default:
			t.Error("the outbox sleeps on")
		}
	})
}

// So does the webhook of a success, of a failure and of a refusal.
func TestCommitWakesTheOutbox(t *testing.T) {
	for name, payload := range map[string]string{"succeeds": "{}", "fails": `{"n":1}`, "refused": `{"refuse":true}`} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				woken := make(chan struct{}, 8)
				w.outbox = func() { woken <- struct{}{} }
				w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
					if len(c.Task.Payload) > len("{}") {
						return handlers.Outcome{}, taskerr.Errorf(taskerr.CorruptionDetected, "broken")
					}
					return done(ctx, c)
				})
				w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","webhook_url":"https://example.com/","payload":`+payload+`}`)
				w.settled(time.Minute)
				if len(woken) != 1 {
					t.Errorf("the outbox was woken %d times, want once", len(woken))
				}
			})
		})
	}
}

// A message that was put back is received when it comes back, however seldom the idle queues are looked at.
func TestPutBackMessageIsNotLeftWaiting(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.PollMin, w.cfg.PollMax = time.Hour, time.Hour
		var second atomic.Int64
		start := time.Now()
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if c.Attempt == 1 {
				return handlers.Outcome{}, taskerr.Errorf(taskerr.ModelOverloaded, "busy")
			}
			second.Store(int64(time.Since(start)))
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.engine.Wake()
		w.settled(2 * time.Hour)
		w.expectState("t1", job.Succeeded, 2)
		if waited := time.Duration(second.Load()); waited > time.Minute {
			t.Errorf("it was tried again after %v", waited)
		}
	})
}
