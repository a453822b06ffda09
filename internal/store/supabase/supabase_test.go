package supabase_test

import (
	"flag"
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
	"github.com/seed-7227ef26/async-worker/internal/store/supabase"
)

func TestMain(m *testing.M) {
	stacktest.Main(m, func() error {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections() // postgrest-go uses it
		return goleak.Find()
	})
}

func open(t testing.TB, url, key, client string) store.Store {
	t.Helper()
	s, err := supabase.Open(url, key, supabase.Options{ClientID: client, Dimensions: storetest.Dimensions})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestConformance runs the suite with a key of one tenant, and with the service key.
func TestConformance(t *testing.T) {
	t.Parallel()
	api := stacktest.PostgREST(t, stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions}))
	t.Run("tenant key", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, func(t testing.TB, client string) store.Store {
			return open(t, api.URL, api.TenantKey(t, client), client)
		})
	})
	t.Run("service key", func(t *testing.T) {
		t.Parallel()
		storetest.RunAgain(t, func(t testing.TB, client string) store.Store {
			return open(t, api.URL, api.ServiceKey(t), client)
		})
	})
}

// TestModel runs fewer sequences by default than elsewhere: one takes a quarter of a second through PostgREST.
func TestModel(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		if err := f.Value.Set("20"); err != nil {
			t.Fatal(err)
		}
	}
	t.Parallel()
	api := stacktest.PostgREST(t, stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions}))
	storetest.RunModel(t, func(t testing.TB, client string) store.Store {
		return open(t, api.URL, api.TenantKey(t, client), client)
	})
}
