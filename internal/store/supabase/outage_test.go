package supabase_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// TestLateWebhooks: how old a webhook is does not end its wait for its receiver.
func TestLateWebhooks(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	api := stacktest.PostgREST(t, url)
	super, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = super.Close(context.Background()) })
	storetest.RunLateWebhooks(t, func(t testing.TB, client string) store.Store {
		return open(t, api.URL, api.TenantKey(t, client), client)
	}, super)
}
