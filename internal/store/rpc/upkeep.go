package rpc

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (c *client) Collect(ctx context.Context, what store.Collection) (store.CollectAnswer, error) {
	return call[store.CollectAnswer](ctx, c, "aw_collect", struct {
		SupersededFor millis `json:"superseded_for_ms"`
		AbandonedFor  millis `json:"abandoned_for_ms"`
		Limit         int    `json:"limit"`
	}{millis(what.SupersededFor), millis(what.AbandonedFor), what.Limit})
}

func (c *client) RemoveChunks(ctx context.Context, limit int) (store.RemovedChunks, error) {
	return call[store.RemovedChunks](ctx, c, "aw_remove_chunks", struct {
		Limit int `json:"limit"`
	}{limit})
}
