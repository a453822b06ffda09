package rpc

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (c *client) Partials(ctx context.Context, q store.PartialQuery) ([]store.Partial, error) {
	return call[[]store.Partial](ctx, c, "aw_partials_get", q)
}

func (c *client) KeepPartials(ctx context.Context, jobID string, partials []store.Partial) error {
	return c.run(ctx, "aw_partials_put", struct {
		JobID    string          `json:"job_id"`
		Partials []store.Partial `json:"partials"`
	}{jobID, partials})
}

func (c *client) ExpirePartials(ctx context.Context, olderThan time.Duration, limit int) (int, error) {
	answer, err := call[removed](ctx, c, "aw_expire_partials", expiry{millis(olderThan), limit})
	return answer.Removed, err
}
