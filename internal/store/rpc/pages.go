package rpc

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (c *client) PageResults(ctx context.Context, s store.PageSource, first, count int) ([]store.PageResult, error) {
	var found []store.PageResult
	err := c.call(ctx, "aw_page_results_get", struct {
		tenantArg
		store.PageSource
		First int `json:"first"`
		Count int `json:"count"`
	}{c.tenant(), s, first, count}, &found)
	return found, err
}

func (c *client) KeepPageResults(ctx context.Context, s store.PageSource, pages []store.PageResult) error {
	return c.call(ctx, "aw_page_results_put", struct {
		tenantArg
		store.PageSource
		Pages []store.PageResult `json:"pages"`
	}{c.tenant(), s, pages}, nil)
}

func (c *client) ExpirePageResults(ctx context.Context, olderThan time.Duration, limit int) (int, error) {
	var answer struct {
		Removed int `json:"removed"`
	}
	err := c.call(ctx, "aw_expire_page_results", struct {
		tenantArg
		OlderThanMS int64 `json:"older_than_ms"`
		Limit       int   `json:"limit"`
	}{c.tenant(), ms(olderThan), limit}, &answer)
	return answer.Removed, err
}
