package stacktest

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

const jwtSecret = "a secret of tests, of at least 32 characters"

// Supabase is what a Supabase project is to the worker: an address and keys.
type Supabase struct {
	URL string // SUPABASE_URL: PostgREST is at /rest/v1 beneath it
}

// PostgREST serves a database of PostgresWith, schema public, as Supabase would. It ends with the test.
func PostgREST(t testing.TB, databaseURL string) Supabase {
	return PostgRESTWith(t, databaseURL, "public")
}

// PostgRESTWith is PostgREST with another exposed schema.
func PostgRESTWith(t testing.TB, databaseURL, schema string) Supabase {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatalf("the database's URL: %v", err)
	}
	p, err := stack.StartPostgREST(t.Context(), stack.PostgRESTOptions{
		DatabaseURL: Cluster(t).URLAs("authenticator", authenticatorPassword, strings.TrimPrefix(u.Path, "/")),
		JWTSecret:   jwtSecret, Schema: schema, AnonRole: "anon", Pool: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(p.Handler())
	t.Cleanup(func() {
		server.Close()
		if err := p.Stop(); err != nil {
			t.Errorf("stop PostgREST: %v", err)
		}
	})
	return Supabase{URL: server.URL}
}

// JWTSecret is what its keys are signed with.
func (Supabase) JWTSecret() string { return jwtSecret }

// ServiceKey is a key that reaches every tenant.
func (Supabase) ServiceKey(t testing.TB) string {
	t.Helper()
	return must(t)(stack.ServiceKey(jwtSecret))
}

// TenantKey is a key that reaches one tenant.
func (Supabase) TenantKey(t testing.TB, clientID string) string {
	t.Helper()
	return must(t)(stack.TenantKey(jwtSecret, clientID))
}

// ReaderKey is a key that reads one tenant's documents, jobs and results.
func (Supabase) ReaderKey(t testing.TB, clientID string) string {
	t.Helper()
	return must(t)(stack.ReaderKey(jwtSecret, clientID))
}

func must(t testing.TB) func(string, error) string {
	return func(s string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}
