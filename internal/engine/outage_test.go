package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	storememory "github.com/seed-7227ef26/async-worker/internal/store/memory"
)

// outage is a store that does nothing while it is down.
type outage struct {
	*storememory.Jobs
	down *atomic.Bool
}

func (o outage) err() error {
	if o.down.Load() {
		return errDown
	}
	return nil
}

func (o outage) Begin(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
	if err := o.err(); err != nil {
		return store.BeginAnswer{}, err
	}
	return o.Jobs.Begin(ctx, b)
}

func (o outage) Heartbeat(ctx context.Context, b store.Heartbeat) (store.HeartbeatAnswer, error) {
	if err := o.err(); err != nil {
		return store.HeartbeatAnswer{}, err
	}
	return o.Jobs.Heartbeat(ctx, b)
}

func (o outage) Complete(ctx context.Context, c store.Completion) (store.Settlement, error) {
	if err := o.err(); err != nil {
		return store.Settlement{}, err
	}
	return o.Jobs.Complete(ctx, c)
}

func (o outage) Fail(ctx context.Context, f store.Failure) (store.Settlement, error) {
	if err := o.err(); err != nil {
		return store.Settlement{}, err
	}
	return o.Jobs.Fail(ctx, f)
}

func (o outage) Retry(ctx context.Context, r store.Retry) (store.Settlement, error) {
	if err := o.err(); err != nil {
		return store.Settlement{}, err
	}
	return o.Jobs.Retry(ctx, r)
}

func (o outage) Release(ctx context.Context, r store.Release) (store.Settlement, error) {
	if err := o.err(); err != nil {
		return store.Settlement{}, err
	}
	return o.Jobs.Release(ctx, r)
}

// TestRefusedCommitIsKept: an outcome whose commit the database refuses, because the worker's key was changed or the
// schema is being migrated, is committed when that is mended: no attempt is lost, and the handler runs once.
func TestRefusedCommitIsKept(t *testing.T) {
	for name, tt := range map[string]struct {
		refusal    error
		heartbeats bool // are refused as well
	}{
		"another key": {store.ErrForbidden, true}, "another login": {store.ErrLogin, true},
		"a migration": {store.ErrSchema, true}, "one missing right": {store.ErrForbidden, false},
	} {
		t.Run(name, func(t *testing.T) {
			refusal := tt.refusal
			inWorld(t, func(w *world) {
				began, runs := time.Now(), 0
				h := w.hook()
				refuses := func() bool { return runs > 0 && time.Since(began) < 3*time.Minute }
				h.complete = func(ctx context.Context, c store.Completion) (store.Settlement, error) {
					if refuses() {
						return store.Settlement{}, refusal
					}
					return w.store.Complete(ctx, c)
				}
				h.heartbeat = func(ctx context.Context, b store.Heartbeat) (store.HeartbeatAnswer, error) {
					if refuses() && tt.heartbeats {
						return store.HeartbeatAnswer{}, refusal
					}
					return w.store.Heartbeat(ctx, b)
				}
				w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
					runs++
					return done(ctx, c)
				})
				w.send(w.queues.Normal, message("t1", ""))
				w.settled(2 * time.Minute)
				if h := w.engine.Health(); h.Store == nil || h.Store.Class == "" {
					t.Errorf("while the outcome waits the worker says that all is well: %+v", h)
				}
				w.settled(3 * time.Minute)
				if h := w.engine.Health(); h.Store != nil {
					t.Errorf("after it was committed: %+v", h.Store)
				}
				w.expectState("t1", job.Succeeded, 1)
				if runs != 1 {
					t.Errorf("the handler ran %d times, want once", runs)
				}
			})
		})
	}
}
