package rpc

import (
	"context"
	"encoding/json"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

type beginArgs struct {
	store.Begin
	LeaseMS int64 `json:"lease_ms"`
}

// begun is what aw_begin answers.
type begun struct {
	N           int                  `json:"n"` // of aw_begin_new: which of the begins this is, from 1
	Decision    store.Decision       `json:"decision"`
	Fence       int64                `json:"fence"`
	Attempt     int                  `json:"attempt"`
	MaxAttempts int                  `json:"max_attempts"`
	Progress    int                  `json:"progress"`
	State       string               `json:"state"`
	Checkpoint  json.RawMessage      `json:"checkpoint"`
	WaitMS      int64                `json:"wait_ms"`
	Worker      string               `json:"worker"`
	First       bool                 `json:"first"`
	RetryWaitMS int64                `json:"retry_wait_ms"`
	DurationMS  int64                `json:"duration_ms"`
	DeadLetter  *store.DeadLetterRef `json:"dead_letter"`
	Releases    int                  `json:"releases"`
	WaitedMS    int64                `json:"waited_ms"`
	Duplicate   bool                 `json:"duplicate"`
	Deliveries  int                  `json:"deliveries"`
}

func (b *begun) store() store.Begun {
	return store.Begun{
		Decision: b.Decision, Fence: b.Fence, Attempt: b.Attempt, MaxAttempts: b.MaxAttempts,
		Progress: b.Progress, State: b.State, Checkpoint: orNil(b.Checkpoint),
		Wait: time.Duration(b.WaitMS) * time.Millisecond, Worker: b.Worker, DeadLetter: b.DeadLetter,
		Duplicate: b.Duplicate, Deliveries: b.Deliveries, Releases: b.Releases,
		Waited: time.Duration(b.WaitedMS) * time.Millisecond,
		First:  b.First, LastWait: time.Duration(b.RetryWaitMS) * time.Millisecond,
		Duration: time.Duration(b.DurationMS) * time.Millisecond,
	}
}

// Begin of a new job is batched with others: see batcher.
func (c *client) Begin(ctx context.Context, b store.Begin) (store.Begun, error) {
	return c.begins.do(ctx, beginArgs{b, ms(b.Lease)})
}

// beginAlone decides about one message, whatever state its job is in.
func (c *client) beginAlone(ctx context.Context, args beginArgs) (store.Begun, error) {
	var answer begun
	err := c.call(ctx, "aw_begin", struct {
		tenantArg
		beginArgs
	}{c.tenant(), args}, &answer)
	if err != nil {
		return store.Begun{}, err
	}
	return answer.store(), nil
}

// beginTogether begins those of the jobs that are new.
func (c *client) beginTogether(args []beginArgs) ([]*store.Begun, error) {
	var begun []*begun
	err := c.call(context.Background(), "aw_begin_new", struct {
		tenantArg
		Begins []beginArgs `json:"begins"`
	}{c.tenant(), args}, &begun)
	answers := make([]*store.Begun, len(args))
	for _, b := range begun {
		if b.N >= 1 && b.N <= len(args) {
			answers[b.N-1] = new(b.store())
		}
	}
	return answers, err
}
