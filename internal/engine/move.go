package engine

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

// route moves a message whose task requests another priority than its queue's to the right queue, before any work. It
// reports whether it did. A message is moved once: the copy names its source. A crash between copy and delete leaves
// two messages, and the second is moved again; begin treats all copies as the original message (I2, I6). A message that
// can't be moved is processed where it is.
func (e *Engine) route(ctx context.Context, d *delivery, asked task.Priority) bool {
	to := e.deps.Queues.For(asked)
	if asked == "" || d.origin != (task.Origin{}) || to.Name() == d.queue.Name() {
		return false
	}
	text, err := task.Moved(d.msg.Text, task.Origin{
		Queue: d.queue.Name(), MessageID: d.msg.ID, InsertedAt: d.msg.InsertedAt,
	})
	if err == nil {
		err = queue.SendEnsured(ctx, to, text, queue.SendOptions{})
	}
	if err != nil {
		d.log.Warn("can't move a message to the queue of its priority; it is processed from its current queue",
			"priority", asked, "to", to.Name(), "error", err)
		return false
	}
	d.acknowledge(ctx)
	d.log.Info("moved to the queue of its priority", "priority", asked, "to", to.Name())
	e.Wake()
	return true
}

// from records where a message was moved from. A sender may forge that, so only queues of this tenant and times in the
// past are accepted.
func (e *Engine) from(d *delivery, o task.Origin) {
	if _, ours := e.queueNamed(o.Queue); !ours {
		return
	}
	if o.InsertedAt.After(d.msg.InsertedAt) {
		o.InsertedAt = d.msg.InsertedAt
	}
	d.origin = o
}

// priorityOf is the priority of one of the queues that tasks come from.
func (e *Engine) priorityOf(name string) task.Priority {
	for _, p := range []task.Priority{task.PriorityHigh, task.PriorityLow} {
		if e.deps.Queues.For(p).Name() == name {
			return p
		}
	}
	return task.PriorityNormal
}
