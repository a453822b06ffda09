package supabase_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// TestLacks: Examine names each right of a tenant's key, and of the service key, that is revoked alone, and its SQL
// restores the right.
func TestLacks(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	api := stacktest.PostgREST(t, url)
	super, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = super.Close(context.Background()) })
	t.Run("tenant key", func(t *testing.T) {
		storetest.RunLacks(t, func(t testing.TB, client string) store.Store {
			return open(t, api.URL, api.TenantKey(t, client), client)
		}, super, "async_worker", true)
	})
	t.Run("service key", func(t *testing.T) {
		storetest.RunLacks(t, func(t testing.TB, client string) store.Store {
			return open(t, api.URL, api.ServiceKey(t),
				client)
		}, super, "service_role", false)
	})
	t.Run("another client's key", func(t *testing.T) {
		_, err := open(t, api.URL, api.TenantKey(t, "mallory"), "examined").Examine(t.Context())
		if !errors.Is(err, store.ErrForbidden) || !strings.Contains(err.Error(),
			"belongs to client mallory and not to examined") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a key of no client", func(t *testing.T) {
		_, err := open(t, api.URL, api.TenantKey(t, ""), "examined").Examine(t.Context())
		if !errors.Is(err, store.ErrForbidden) {
			t.Errorf("got %v", err)
		}
	})
}
