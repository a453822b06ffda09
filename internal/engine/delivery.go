package engine

import (
	"context"
	"log/slog"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

// settleTime bounds each step after a handler has returned: one commit, and the settlement of the message.
const settleTime = 30 * time.Second

// settling is a context for settling: it outlives a shutdown and a cancel, but not for long.
func settling(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), settleTime)
}

// delivery is one received message on its way through the engine.
type delivery struct {
	msg    *queue.Message
	queue  queue.Queue
	log    *slog.Logger
	origin task.Origin // where it was moved from, if it was
	trace  string      // the task's trace; empty: none
}

func (d *delivery) source() store.Source {
	if d.origin != (task.Origin{}) {
		return store.Source{Queue: d.origin.Queue, MessageID: d.origin.MessageID, InsertedAt: d.origin.InsertedAt}
	}
	return store.Source{Queue: d.queue.Name(), MessageID: d.msg.ID, InsertedAt: d.msg.InsertedAt}
}

// acknowledge deletes the message. When that fails the message comes back, and begin answers done.
func (d *delivery) acknowledge(ctx context.Context) {
	ctx, done := settling(ctx)
	defer done()
	if err := d.msg.Lease.Delete(ctx); err != nil {
		d.log.Warn("can't delete a settled message; it comes back once and is then dropped", "error", err)
	}
}

// putBack makes the message visible after wait, its text unchanged.
func (d *delivery) putBack(ctx context.Context, wait time.Duration) {
	d.release(ctx, wait, d.msg.Lease.Release)
}

// putBackFirst is putBack for a message whose task has begun: that of a worker that died must not go behind all that
// wait.
func (d *delivery) putBackFirst(ctx context.Context, wait time.Duration) {
	if l, ok := d.msg.Lease.(queue.FirstReleaser); ok {
		d.release(ctx, wait, l.ReleaseFirst)
		return
	}
	d.putBack(ctx, wait)
}

func (d *delivery) release(ctx context.Context, wait time.Duration, do func(context.Context, time.Duration) error) {
	ctx, done := settling(ctx)
	defer done()
	if err := do(ctx, wait); err != nil {
		d.log.Warn("can't release a message; it comes back when its lease ends", "error", err)
	}
}
