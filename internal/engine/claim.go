package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/event"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// decode decodes a message's text into a task, and fetches the blob of a claim check. When that fails it returns what
// could be decoded. The priority of a claim check applies if the blob has none.
func (e *Engine) decode(ctx context.Context, text string) (task.Decoded, error) {
	opts := task.Options{ClientID: e.cfg.ClientID}
	decoded, err := task.Decode(text, opts)
	if err != nil || decoded.ClaimCheck == "" {
		return decoded, err
	}
	claim := decoded
	text, err = e.claim(ctx, claim.ClaimCheck)
	if err != nil {
		return claim, err
	}
	opts.FromClaimCheck = true
	decoded, err = task.Decode(text, opts)
	decoded.Origin = claim.Origin
	decoded.Task.Ignored = append(claim.Task.Ignored, decoded.Task.Ignored...)
	if err != nil {
		decoded.Known = decoded.Known.Or(claim.Known)
	}
	if decoded.Priority == "" && claim.Priority != "" {
		decoded.Priority, decoded.Task.Priority = claim.Priority, claim.Priority
	}
	return decoded, err
}

// A claim check that can't be fetched has no job row that counts attempts. After this many deliveries and this long it
// is dead-lettered, from where it can be replayed.
const (
	claimTries    = 20
	claimPatience = 24 * time.Hour
)

// claimTime bounds a fetch of a claim check, which holds a slot: its blob is small.
const claimTime = 10 * time.Second

// givenUp reports whether a message without a job row was tried often enough. Both limits must be exceeded: a backlog
// alone makes a message old, and crashes alone raise the dequeue count.
func (d *delivery) givenUp() bool {
	return d.msg.DequeueCount >= claimTries && time.Since(d.msg.InsertedAt) >= claimPatience
}

// claimWait doubles with each delivery, from 2 s to 10 min: other messages don't wait for it.
func (d *delivery) claimWait() time.Duration {
	return min(time.Second<<min(d.msg.DequeueCount, 10), 10*time.Minute)
}

// claim fetches the blob of a claim check, unless the container is known to be down, and tells the container's circuit
// breaker how that went.
func (e *Engine) claim(ctx context.Context, name string) (string, error) {
	if err := blob.CheckName(name); err != nil {
		return "", fmt.Errorf("claim_check.blob: %w", err)
	}
	storage, by := e.breakers.of(taskerr.Storage), "claim check "+name // no task's id has a space
	if storage.enter(ctx, by) > 0 {
		storage.withdraw(by) // it waits as one does whose fetch has failed
		return "", taskerr.Errorf(taskerr.DependencyUnavailable, "the claim check's blob can't be fetched now: %s",
			taskerr.Storage.Down())
	}
	defer storage.leave(by)
	began := time.Now()
	text, err := e.fetch(ctx, name)
	failure, failed := errors.AsType[*taskerr.Error](err)
	switch {
	case err == nil, failed && !taskerr.Classes[failure.Class].Retryable:
		storage.succeeds(by, began)
	case failed && failure.Dependency == taskerr.Storage:
		storage.fails(ctx, by, failure, false, began)
	}
	return text, err
}

// fetch reads the blob of a claim check.
func (e *Engine) fetch(ctx context.Context, name string) (string, error) {
	ctx, done := context.WithTimeout(ctx, claimTime)
	defer done()
	text, err := blob.Read(ctx, e.deps.Bucket, name, task.MaxBytes+1)
	if errors.Is(err, blob.ErrNotFound) {
		return "", taskerr.Errorf(taskerr.ContentMissing, "the claim check's blob is not in the tenant's container")
	}
	if err != nil {
		return "", late(ctx, fmt.Errorf("read a claim check's blob: %w", err))
	}
	return string(text), nil // the decoder refuses one that is too long
}

// late blames the container for an error of a fetch whose time was up.
func late(ctx context.Context, err error) error {
	if _, known := errors.AsType[*taskerr.Error](err); known || ctx.Err() == nil {
		return err
	}
	return &taskerr.Error{
		Class: taskerr.NetworkTimeout, Dependency: taskerr.Storage, Cause: err,
		Message: "the container did not send the claim check's blob within " + claimTime.String(),
	}
}

// awaitBucket puts a message back for claimWait.
func (d *delivery) awaitBucket(ctx context.Context, because string, err error) {
	wait := jittered(d.claimWait())
	d.log.Error("a message has to wait", event.Key, event.MessageWaits, "because", because, "error", err, "wait", wait)
	d.putBack(ctx, wait)
}
