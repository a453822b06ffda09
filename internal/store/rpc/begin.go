package rpc

import (
	"context"
	"encoding/json"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

type beginArgs struct {
	store.Begin
	Lease millis `json:"lease_ms"`
	Away  millis `json:"away_ms,omitempty"`
}

// begun is the answer of aw_begin.
type begun struct {
	N           int                  `json:"n"` // of aw_begin_all: the position of the begin, from 1
	Decision    store.Decision       `json:"decision"`
	Fence       int64                `json:"fence"`
	Attempt     int                  `json:"attempt"`
	MaxAttempts int                  `json:"max_attempts"`
	Progress    int                  `json:"progress"`
	State       string               `json:"state"`
	Checkpoint  json.RawMessage      `json:"checkpoint"`
	Wait        millis               `json:"wait_ms"`
	Worker      string               `json:"worker"`
	Ran         bool                 `json:"ran"`
	First       bool                 `json:"first"`
	LastWait    millis               `json:"retry_wait_ms"`
	Duration    millis               `json:"duration_ms"`
	DeadLetter  *store.DeadLetterRef `json:"dead_letter"`
	Releases    int                  `json:"releases"`
	Waited      millis               `json:"waited_ms"`
	Duplicate   bool                 `json:"duplicate"`
	Deliveries  int                  `json:"deliveries"`
}

func (b *begun) store() store.BeginAnswer {
	return store.BeginAnswer{
		Decision: b.Decision, Fence: b.Fence, Attempt: b.Attempt, MaxAttempts: b.MaxAttempts,
		Progress: b.Progress, State: b.State, Checkpoint: orNil(b.Checkpoint), Wait: time.Duration(b.Wait),
		Worker: b.Worker, Ran: b.Ran, DeadLetter: b.DeadLetter, Duplicate: b.Duplicate, Deliveries: b.Deliveries,
		Releases: b.Releases, Waited: time.Duration(b.Waited), First: b.First, LastWait: time.Duration(b.LastWait),
		Duration: time.Duration(b.Duration),
	}
}

// Begin batches begins, see Batcher.
func (c *client) Begin(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
	return c.begins.Do(ctx, beginArgs{b, millis(b.Lease), millis(b.Away)})
}

// ReleaseUnanswered gives back jobs whose begin was not answered.
func (c *client) ReleaseUnanswered(ctx context.Context, begins []store.UnansweredBegins) (int, error) {
	if len(begins) == 0 {
		return 0, nil
	}
	answer, err := call[struct {
		Released int `json:"released"`
	}](ctx, c, "aw_release_unanswered", struct {
		Begins []store.UnansweredBegins `json:"begins"`
	}{begins})
	return answer.Released, err
}

// beginAlone begins one job in any state.
func (c *client) beginAlone(ctx context.Context, args beginArgs) (store.BeginAnswer, error) {
	answer, err := call[begun](ctx, c, "aw_begin", args)
	if err != nil {
		return store.BeginAnswer{}, err
	}
	return answer.store(), nil
}

// beginTogether begins the jobs that are new or pending, and returns nil for the others.
func (c *client) beginTogether(args []beginArgs) ([]*store.BeginAnswer, error) {
	begun, err := call[[]begun](context.Background(), c, "aw_begin_all", struct {
		Begins []beginArgs `json:"begins"`
	}{args})
	answers := make([]*store.BeginAnswer, len(args))
	for _, b := range begun {
		if b.N >= 1 && b.N <= len(args) {
			answers[b.N-1] = new(b.store())
		}
	}
	return answers, err
}
