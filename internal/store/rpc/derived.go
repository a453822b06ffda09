package rpc

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (c *client) Derived(ctx context.Context, q store.DerivedQuery) (store.DerivedFound, error) {
	var found store.DerivedFound
	err := c.call(ctx, "aw_derived", struct {
		tenantArg
		store.DerivedQuery
	}{c.tenant(), q}, &found)
	return found, err
}
