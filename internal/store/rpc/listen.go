package rpc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// answerGrace is how long the first call may take before OnUnanswered is called.
const answerGrace = 3 * time.Second

// hangError is the end of a call to a database that has not answered anything.
type hangError struct{ patience time.Duration }

func (e *hangError) Error() string { return fmt.Sprintf("within %v", e.patience) }
func (*hangError) Unwrap() error   { return context.DeadlineExceeded }

// listen observes the calls until the database has answered one. It calls OnUnanswered if the first has no answer within
// answerGrace. Under a context with a patience (store.WithPatience) it also aborts a call that has no answer within it,
// unless the database has answered a probe: then the call takes long, and the database does not hang. The caller
// calls heard when its call has returned, and ends ctx after that.
func (c *client) listen(ctx context.Context, abort context.CancelCauseFunc) (heard func()) {
	patience := store.Patience(ctx)
	if c.heard.Load() || c.options.OnUnanswered == nil && patience == 0 {
		return func() {}
	}
	late := time.AfterFunc(answerGrace, func() {
		if c.options.OnUnanswered != nil && !c.heard.Load() {
			c.unanswered.Do(func() { c.options.OnUnanswered(answerGrace) })
		}
	})
	timers := []*time.Timer{late}
	if patience > 0 {
		timers = append(timers, time.AfterFunc(min(answerGrace, patience/2), func() { c.probe(ctx) }),
			time.AfterFunc(patience, func() {
				if !c.heard.Load() {
					abort(&hangError{patience})
				}
			}))
	}
	return func() {
		for _, t := range timers {
			t.Stop()
		}
		if ctx.Err() == nil {
			c.heard.Store(true)
		}
	}
}

// probe makes a cheap call. Any answer of the database, with success or an error, is one.
func (c *client) probe(ctx context.Context) {
	p, err := c.encode(struct{}{})
	if err != nil {
		return // of the tenant's id, which the call beside it reports
	}
	_, err = c.caller.Call(ctx, "aw_check", p)
	if _, raised := errors.AsType[*SQLError](err); err == nil || raised {
		c.heard.Store(true)
	}
}
