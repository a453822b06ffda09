package rpc

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (c *client) Derived(ctx context.Context, q store.DerivedQuery) (store.DerivedAnswer, error) {
	return call[store.DerivedAnswer](ctx, c, "aw_derived", q)
}
