package rpc

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (c *client) Collect(ctx context.Context, what store.Collection) (store.Collected, error) {
	var answer store.Collected
	err := c.call(ctx, "aw_collect", struct {
		tenantArg
		SupersededForMS int64 `json:"superseded_for_ms"`
		AbandonedForMS  int64 `json:"abandoned_for_ms"`
		Limit           int   `json:"limit"`
	}{c.tenant(), ms(what.SupersededFor), ms(what.AbandonedFor), what.Limit}, &answer)
	return answer, err
}
