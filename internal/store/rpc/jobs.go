package rpc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// settled is the answer of the functions that end an attempt.
type settled struct {
	N          int                  `json:"n"` // of aw_complete_all: the position of the completion, from 1
	State      string               `json:"state"`
	Attempts   int                  `json:"attempts"`
	Result     json.RawMessage      `json:"result"`
	DeadLetter *store.DeadLetterRef `json:"dead_letter"`
	Deliveries int                  `json:"deliveries"`
	Duration   millis               `json:"duration_ms"`
}

func (s *settled) store() store.Settlement {
	return store.Settlement{
		State: s.State, Attempts: s.Attempts, Result: orNil(s.Result), DeadLetter: s.DeadLetter,
		Deliveries: s.Deliveries, Duration: time.Duration(s.Duration),
	}
}

func (c *client) settle(ctx context.Context, fn string, args any) (store.Settlement, error) {
	s, err := call[settled](ctx, c, fn, args)
	if err != nil {
		return store.Settlement{}, err
	}
	return s.store(), nil
}

func (c *client) Submit(ctx context.Context, s store.Submission) (store.SubmitAnswer, error) {
	answer, err := call[struct {
		Created bool   `json:"created"`
		State   string `json:"state"`
		Sent    bool   `json:"sent"`
	}](ctx, c, "aw_submit", s)
	return store.SubmitAnswer(answer), err
}

func (c *client) MarkSent(ctx context.Context, jobID, message string) error {
	digest := sha256.Sum256([]byte(message)) // the text may be long
	return c.run(ctx, "aw_mark_sent", struct {
		JobID  string `json:"job_id"`
		Digest string `json:"digest"`
	}{jobID, hex.EncodeToString(digest[:])})
}

func (c *client) Heartbeat(ctx context.Context, b store.Heartbeat) (store.HeartbeatAnswer, error) {
	return call[store.HeartbeatAnswer](ctx, c, "aw_heartbeat", struct {
		store.Heartbeat
		Lease millis `json:"lease_ms"`
	}{b, millis(b.Lease)})
}

// Complete batches completions, see Batcher. One with an effect that is not brief is sent alone, since others would
// wait for it.
func (c *client) Complete(ctx context.Context, done store.Completion) (store.Settlement, error) {
	for _, effect := range done.Effects {
		if !effect.Brief() {
			return c.completeAlone(ctx, done)
		}
	}
	return c.ends.Do(ctx, done)
}

func (c *client) completeAlone(ctx context.Context, done store.Completion) (store.Settlement, error) {
	return c.settle(ctx, "aw_complete", done)
}

// completeTogether completes the jobs that are held, and returns nil for the others.
func (c *client) completeTogether(all []store.Completion) ([]*store.Settlement, error) {
	ends, err := call[[]settled](context.Background(), c, "aw_complete_all", struct {
		Completions []store.Completion `json:"completions"`
	}{all})
	if err != nil {
		return nil, err
	}
	answers := make([]*store.Settlement, len(all))
	for _, s := range ends {
		if s.N >= 1 && s.N <= len(all) {
			answers[s.N-1] = new(s.store())
		}
	}
	return answers, nil
}

func (c *client) Fail(ctx context.Context, f store.Failure) (store.Settlement, error) {
	return c.settle(ctx, "aw_fail", f)
}

func (c *client) Retry(ctx context.Context, r store.Retry) (store.Settlement, error) {
	return c.settle(ctx, "aw_retry", struct {
		store.Retry
		After millis `json:"after_ms"`
	}{r, millis(r.After)})
}

// holding is a Holder and the events not yet flushed.
type holding struct {
	store.Holder
	Events []store.Event `json:"events,omitempty"`
}

func (c *client) Release(ctx context.Context, r store.Release) (store.Settlement, error) {
	return c.settle(ctx, "aw_release", r)
}

func (c *client) Canceled(ctx context.Context, h store.Holder, events []store.Event) (store.Settlement, error) {
	return c.settle(ctx, "aw_canceled", holding{h, events})
}

// Reject tries again without the payload when the database can't store it (a number out of range). The row has the
// original text, and a message that can't be recorded would come back forever.
func (c *client) Reject(ctx context.Context, r store.Rejection) (store.Settlement, error) {
	s, err := c.settle(ctx, "aw_reject", r)
	if refused, ok := errors.AsType[*taskerr.Error](err); ok && refused.Class == taskerr.ValidationError &&
		r.Payload != nil {
		r.Payload = nil
		return c.settle(ctx, "aw_reject", r)
	}
	return s, err
}

func (c *client) RequestCancel(ctx context.Context, jobID, by string) (store.Job, error) {
	j, err := call[store.Job](ctx, c, "aw_request_cancel", struct {
		JobID string `json:"job_id"`
		By    string `json:"by"`
	}{jobID, by})
	return tidy(j), err
}

func (c *client) Canceling(ctx context.Context, attempts []store.Holder) ([]store.Holder, error) {
	if attempts == nil {
		attempts = []store.Holder{}
	}
	return call[[]store.Holder](ctx, c, "aw_canceling", struct {
		Attempts []store.Holder `json:"attempts"`
	}{attempts})
}

func (c *client) DeadLetterSent(ctx context.Context, id string) error {
	return c.run(ctx, "aw_dead_letter_sent", idArg{id})
}
