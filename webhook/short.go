package webhook

import (
	"errors"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// judge reports whether an attempt was none, because this machine lacks something, e.g. open files. This is not the
// receiver's fault and counts for nothing: the delivery goes back to the outbox with all that are held, as any of them
// would fail in the same way, and the next claim waits. It logs when that begins and when it ends.
func (r *round) judge(f finished) bool {
	if f.lacked == nil {
		if r.lacking {
			r.lacking = false
			r.lacks.Reset()
			r.Log.Info("webhooks are sent again: this machine has what they need")
		}
		return false
	}
	if !r.lacking {
		r.lacking = true
		cause := f.lacked
		if reach, ok := errors.AsType[*ReachError](cause); ok {
			cause = reach.cause
		}
		r.Log.Warn("webhooks can't be sent, they wait: the worker's machine lacks something", "host", host(f.delivery.URL),
			"error", cause, "hint", taskerr.Remedy(cause))
	}
	r.renew([]store.DeliveryClaim{{ID: f.delivery.ID, Fence: f.delivery.Fence}}, 0)
	r.release(func(held) bool { return true })
	if wait := time.Now(); !r.failing || wait.After(r.next) {
		r.failing = true
		r.next = wait.Add(r.lacks.Next())
	}
	return true
}
