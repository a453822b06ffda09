package rpc

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (c *client) Partials(ctx context.Context, q store.PartialQuery) ([]store.Partial, error) {
	var found []store.Partial
	err := c.call(ctx, "aw_partials_get", struct {
		tenantArg
		store.PartialQuery
	}{c.tenant(), q}, &found)
	return found, err
}

func (c *client) KeepPartials(ctx context.Context, jobID string, partials []store.Partial) error {
	return c.call(ctx, "aw_partials_put", struct {
		tenantArg
		JobID    string          `json:"job_id"`
		Partials []store.Partial `json:"partials"`
	}{c.tenant(), jobID, partials}, nil)
}

func (c *client) ExpirePartials(ctx context.Context, olderThan time.Duration, limit int) (int, error) {
	var answer struct {
		Removed int `json:"removed"`
	}
	err := c.call(ctx, "aw_expire_partials", struct {
		tenantArg
		OlderThanMS int64 `json:"older_than_ms"`
		Limit       int   `json:"limit"`
	}{c.tenant(), ms(olderThan), limit}, &answer)
	return answer.Removed, err
}
