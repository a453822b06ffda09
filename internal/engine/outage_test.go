package engine_test

import (
	"context"
	"sync/atomic"

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
