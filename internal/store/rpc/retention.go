package rpc

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (c *client) ExpireEvents(ctx context.Context, q store.EventExpiry) (store.ExpiredEvents, error) {
	return call[store.ExpiredEvents](ctx, c, "aw_expire_events", struct {
		Keep   millis `json:"keep_ms"`
		Jobs   int    `json:"limit"`
		Events int    `json:"max_events,omitempty"`
	}{millis(q.Keep), q.Jobs, q.Events})
}

func (c *client) ExpireDeliveries(ctx context.Context, keep time.Duration, limit int) (int, error) {
	answer, err := call[removed](ctx, c, "aw_expire_deliveries", struct {
		Keep  millis `json:"keep_ms"`
		Limit int    `json:"limit"`
	}{millis(keep), limit})
	return answer.Removed, err
}

func (c *client) ExpireJobs(ctx context.Context, q store.JobExpiry) (store.ExpiredJobs, error) {
	return call[store.ExpiredJobs](ctx, c, "aw_expire_jobs", struct {
		Keep  millis          `json:"keep_ms"`
		Limit int             `json:"limit"`
		After *store.EndedJob `json:"after,omitempty"`
	}{millis(q.Keep), q.Limit, q.After})
}
