package rpc

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (c *client) PageResults(ctx context.Context, s store.PageSource, first, count int) ([]store.PageResult, error) {
	return call[[]store.PageResult](ctx, c, "aw_page_results_get", struct {
		store.PageSource
		First int `json:"first"`
		Count int `json:"count"`
	}{s, first, count})
}

func (c *client) KeepPageResults(ctx context.Context, s store.PageSource, pages []store.PageResult) error {
	return c.run(ctx, "aw_page_results_put", struct {
		store.PageSource
		Pages []store.PageResult `json:"pages"`
	}{s, pages})
}

func (c *client) ExpirePageResults(ctx context.Context, olderThan time.Duration, limit int) (int, error) {
	answer, err := call[removed](ctx, c, "aw_expire_page_results", expiry{millis(olderThan), limit})
	return answer.Removed, err
}
