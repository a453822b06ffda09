package engine

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/task"
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
	if wait := e.limits.enter(t, a.spec.Concurrency, e.backlogPause(a)); wait > 0 {
		e.deferred.put(a.task.ID, false, wait)
		e.throttle.reject()
		return nil, &deferral{reason: "its type is at its limit of running tasks", wait: wait}
	}
	if down, wait := e.breakers.enter(ctx, a); down != "" {
		e.limits.leave(t)
		e.throttle.reject()
		return nil, &deferral{"the task can't be done now: " + down.Down(), wait, down}
	}
	e.throttle.admit()
	return func() {
		e.breakers.leave(a)
		e.limits.leave(t)
		e.deferred.ended(a)
	}, nil
}

// putOff hides the message of a deferred attempt. One that waits for a service that is down is looked at again when it
// has waited for as long as it may, or before its message expires.
func (e *Engine) putOff(ctx, bounded context.Context, a *attempt, d *deferral) {
	a.log.Debug("not started", "because", d.reason, "wait", d.wait)
	if d.down == "" {
		e.awaitPlace(bounded, a, d.wait)
		return
	}
	left := e.mayWait(a)
	if left <= 0 {
		e.waitOn(ctx, a, d.down)
		return
	}
	a.putBack(bounded, min(d.wait, max(left, time.Second)))
}

// awaitPlace hides a message whose type is at its limit. One that expires soon is replaced: its task may have no row of which a
// sweep could make another (I1).
func (e *Engine) awaitPlace(ctx context.Context, a *attempt, wait time.Duration) {
	if a.expiresSoon() {
		if e.replace(ctx, a.delivery, a.task, a.msg.Text, wait) {
			return
		}
		wait = max(min(wait, time.Until(a.msg.ExpiresAt)/2), time.Second) // to try it again
	}
	a.putBack(ctx, wait)
}

// specOf is the description of a handler's type, with what this task needs.
func specOf(h handlers.Handler, t task.Task) handlers.Spec {
	spec := h.Spec()
	if s, ok := h.(handlers.Selective); ok {
		spec.Needs = s.Needs(t)
	}
	return spec
}
