package rpc

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

type idempotency struct {
	Key     string `json:"key"`
	Request string `json:"fingerprint"`
	Keep    millis `json:"keep_ms"`
}

func (c *client) SubmitOnce(ctx context.Context, s store.OnceSubmission) (store.OnceAnswer, error) {
	args := struct {
		store.Submission
		Idempotency *idempotency `json:"idempotency,omitempty"`
		RunAt       time.Time    `json:"run_at,omitzero"`
		MostActive  int          `json:"most,omitempty"`
		MostLater   int          `json:"most_later,omitempty"`
		Repeated    bool         `json:"repeated,omitempty"`
	}{Submission: s.Submission, RunAt: s.RunAt, MostActive: s.MostActive, MostLater: s.MostLater, Repeated: s.Repeated}
	if s.Key != "" {
		args.Idempotency = &idempotency{s.Key, s.Request, millis(s.KeepKey)}
	}
	answer, err := call[store.OnceAnswer](ctx, c, "aw_submit_once", args)
	answer.Job = tidy(answer.Job)
	return answer, err
}

func (c *client) ForgetKeys(ctx context.Context, olderThan time.Duration, limit int) (int, error) {
	answer, err := call[removed](ctx, c, "aw_forget_keys", expiry{millis(olderThan), limit})
	return answer.Removed, err
}
