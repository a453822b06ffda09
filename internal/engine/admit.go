package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// deferral says why a message is not begun now, and how long it is hidden. It costs no attempt (I9).
type deferral struct {
	reason string
	wait   time.Duration
	down   taskerr.Dependency // the service it waits for; empty: none
}

// admit lets an attempt begin if its type is below its limit and everything it needs is up. Otherwise it returns a
// deferral. release has to be called when the attempt has ended.
func (e *Engine) admit(ctx context.Context, a *attempt) (release func(), deferred *deferral) {
	t := a.task.Type
	if wait := e.limits.enter(t); wait > 0 {
		e.throttle.reject()
		return nil, &deferral{reason: "its type is at its limit of running tasks", wait: wait}
	}
	if down, wait := e.breakers.enter(ctx, a); down != "" {
		e.limits.leave(t)
		e.throttle.reject()
		return nil, &deferral{fmt.Sprintf("the %s, which the task needs, is down", down), wait, down}
	}
	e.throttle.admit()
	return func() {
		e.breakers.leave(a, a.spec.Needs)
		e.limits.leave(t)
	}, nil
}
