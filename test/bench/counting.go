package main

import (
	"context"
	"sync/atomic"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// countingJobs counts the round trips that the engine makes to the store.
type countingJobs struct {
	store.Jobs
	heartbeats, others atomic.Int64
}

func (c *countingJobs) Begin(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
	c.others.Add(1)
	return c.Jobs.Begin(ctx, b)
}

func (c *countingJobs) Heartbeat(ctx context.Context, b store.Heartbeat) (store.HeartbeatAnswer, error) {
	c.heartbeats.Add(1)
	return c.Jobs.Heartbeat(ctx, b)
}

func (c *countingJobs) Complete(ctx context.Context, x store.Completion) (store.Settlement, error) {
	c.others.Add(1)
	return c.Jobs.Complete(ctx, x)
}

func (c *countingJobs) Fail(ctx context.Context, x store.Failure) (store.Settlement, error) {
	c.others.Add(1)
	return c.Jobs.Fail(ctx, x)
}

func (c *countingJobs) Retry(ctx context.Context, x store.Retry) (store.Settlement, error) {
	c.others.Add(1)
	return c.Jobs.Retry(ctx, x)
}

func (c *countingJobs) Release(ctx context.Context, r store.Release) (store.Settlement, error) {
	c.others.Add(1)
	return c.Jobs.Release(ctx, r)
}
