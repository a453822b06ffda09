package supabase_test

import (
	"net/http/httptest"
	"os"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// TestPGlite runs the part about jobs on the Postgres of the local stack, which has one session and takes its time, and
// in `make prove` the whole suite. test/e2e does on it what `make run` does.
func TestPGlite(t *testing.T) {
	t.Parallel()
	const secret = "a secret of tests, of at least 32 characters"
	lite, err := stack.StartPGlite(t.Context(), stack.PGliteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lite.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := stack.SupabaseRoles(t.Context(), lite.URL, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := schema.Migrate(t.Context(), lite.URL, schema.Options{Dimensions: storetest.Dimensions}); err != nil {
		t.Fatal(err)
	}
	rest, err := stack.StartPostgREST(t.Context(), stack.PostgRESTOptions{
		DatabaseURL: lite.URL, JWTSecret: secret, Pool: 1, OneSession: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	api := httptest.NewServer(rest.Handler())
	t.Cleanup(func() {
		api.Close()
		if err := rest.Stop(); err != nil {
			t.Error(err)
		}
	})
	t.Run("conformance", func(t *testing.T) {
		run := storetest.RunJobs
		if os.Getenv(stack.ProveEnv) != "" {
			run = storetest.Run
		}
		run(t, func(t testing.TB, client string) store.Store {
			key, err := stack.TenantKey(secret, client)
			if err != nil {
				t.Fatal(err)
			}
			return open(t, api.URL, key, client)
		})
	})
}
