package supabase_test

import (
	"flag"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
	"github.com/seed-7227ef26/async-worker/internal/store/supabase"
)

func TestMain(m *testing.M) {
	stacktest.Main(m, leaktest.Find)
}

func open(t testing.TB, url, key, client string) store.Store {
	t.Helper()
	s, err := supabase.Open(url, key, supabase.Options{ClientID: client, Dimensions: storetest.Dimensions})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Stores of callers, of which each request has its own, share connections, also when one is closed.
func TestSharedTransport(t *testing.T) {
	t.Parallel()
	var opened, closed atomic.Int32
	project := httptest.NewUnstartedServer(http.NotFoundHandler())
	project.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			opened.Add(1)
		case http.StateClosed:
			closed.Add(1)
		}
	}
	project.Start()
	defer project.Close()
	shared := httpurl.Transport()
	defer shared.CloseIdleConnections()
	for range 3 {
		s, err := supabase.Open(project.URL, "key", supabase.Options{ClientID: "a", Transport: shared})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Job(t.Context(), "x"); err == nil {
			t.Error("a job that nobody has was found")
		}
		s.Close()
	}
	if opened.Load() != 1 || closed.Load() != 0 {
		t.Errorf("%d connections were opened and %d closed, want 1 and 0", opened.Load(), closed.Load())
	}
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
