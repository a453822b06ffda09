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
	"github.com/seed-7227ef26/async-worker/queue"
)

// refusedSends is a queue to which nothing can be sent while fail returns an error; ensure is called by Ensure.
type refusedSends struct {
	queue.Queue
	fail   func() error
	ensure func()
}

func (q *refusedSends) Send(ctx context.Context, text string, o queue.SendOptions) (string, error) {
	if err := q.fail(); err != nil {
		return "", err
	}
	return q.Queue.Send(ctx, text, o)
}

func (q *refusedSends) Ensure(ctx context.Context) error {
	q.ensure()
	return q.Queue.Ensure(ctx)
}

func broken(context.Context, handlers.Call) (handlers.Outcome, error) {
	return handlers.Outcome{}, taskerr.Errorf(taskerr.CorruptionDetected, "broken")
}

// A queue of dead letters that somebody deletes is made again: nobody receives from it, who would see that it is gone.
func TestDeletedDeadLetterQueue(t *testing.T) {
	inWorld(t, func(w *world) {
		gone := true
		w.queues.DeadLetter = &refusedSends{w.queues.DeadLetter, func() error {
			if gone {
				return fmt.Errorf("send: %w", queue.ErrNotFound)
			}
			return nil
		}, func() { gone = false }}
		w.start(broken)
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(time.Minute)
		w.expectState("t1", job.Failed, 1)
		w.expectBuried("permanent")
		w.expectDepth(w.queues.Normal, 0)
	})
}

// Messages whose dead letters can't be copied for days come back less and less often, and are copied soon after the
// queue takes them.
func TestForbiddenDeadLetterQueue(t *testing.T) {
	inWorld(t, func(w *world) {
		var forbidden atomic.Bool
		forbidden.Store(true)
		w.queues.DeadLetter = &refusedSends{w.queues.DeadLetter, func() error {
			if !forbidden.Load() {
				return nil
			}
			return &taskerr.Error{
				Class: taskerr.DependencyUnavailable, Dependency: taskerr.Queues,
				Message: "send: Azure answered 403 AuthorizationPermissionMismatch",
			}
		}, func() {}}
		w.start(broken)
		w.send(w.queues.Normal, message("t1", ""))
		const days = 2
		w.settled(days * 24 * time.Hour)
		w.expectState("t1", job.Failed, 1)
		if n, most := strings.Count(w.logs.String(), "can't copy a dead letter"), days*24*6+50; n < 10 || n > most {
			t.Errorf("the message came back %d times in %d days, want at most %d", n, days, most)
		}
		forbidden.Store(false)
		w.settled(11 * time.Minute)
		w.expectBuried("permanent")
		w.expectDepth(w.queues.Normal, 0)
	})
}
