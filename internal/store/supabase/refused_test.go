package supabase_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
	"github.com/seed-7227ef26/async-worker/internal/tenantkey"
)

// TestRefusedKeys: a key that is refused has the API's own sentence, and the remedy of its cause.
func TestRefusedKeys(t *testing.T) {
	t.Parallel()
	var answer atomic.Pointer[string]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(*answer.Load()))
	}))
	t.Cleanup(server.Close)
	s := open(t, server.URL, "a-legacy-key", "c")
	for _, c := range []struct{ body, says, next string }{
		{`{"message":"Invalid API key","hint":"Double check"}`, "Invalid API key (401)", "SUPABASE_ANON_KEY"},
		{`{"code":"PGRST301","message":"JWT expired"}`, "JWT expired (PGRST301)", "the key has expired"}, // until PostgREST 12
		{`{"code":"PGRST303","message":"JWT expired"}`, "JWT expired (PGRST303)", "the key has expired"},
		{`{"code":"PGRST303","message":"JWT not yet valid"}`, "JWT not yet valid", "or check the clocks"},
		{`{"code":"PGRST301","message":"JWTIssuedAtFuture"}`, "JWTIssuedAtFuture", "or check the clocks"}, // until PostgREST 12
		{`{"code":"PGRST301","message":"JWTNotInAudience"}`, "JWTNotInAudience", "another audience"},
		{`{"code":"PGRST302","message":"Anonymous access is disabled"}`, "Anonymous access is disabled", "no key reached the database"},
		{`{"code":"PGRST301","message":"JWSError JWSInvalidSignature"}`, "JWSInvalidSignature", "signed with another JWT secret"},
		{`{"code":"PGRST301","message":"Expected 3 parts in JWT; got 1"}`, "Expected 3 parts", "the key is not a JWT"},
		{`{"code":"42501","message":"permission denied for function aw_job"}`, "permission denied for function aw_job", ""},
		{`{"code":"AW004","message":"this key belongs to client a"}`, "this key belongs to client a", ""},
	} {
		answer.Store(&c.body)
		_, err := s.Job(t.Context(), "x")
		checkRefused(t, c.body, err, c.says, c.next)
	}
}

func checkRefused(t *testing.T, name string, err error, says, next string) {
	t.Helper()
	if !errors.Is(err, store.ErrForbidden) || errors.Is(err, store.ErrLogin) || !strings.Contains(err.Error(), says) {
		t.Errorf("%s: %v, want %q", name, err, says)
	}
	const otherwise = "what is done else"
	if got := store.NextForbidden(err, otherwise); !strings.Contains(got, next) || next == "" && got != otherwise {
		t.Errorf("%s: what to do: %q, want %q", name, got, next)
	}
}

// TestRefusedByPostgREST: the answers of a real PostgREST.
func TestRefusedByPostgREST(t *testing.T) {
	t.Parallel()
	api := stacktest.PostgREST(t, stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions}))
	sign := func(secret string, until time.Duration) string {
		key, err := tenantkey.Sign(secret, tenantkey.Claims{
			Role: "async_worker", ClientID: "a", From: time.Now().Add(-2 * time.Hour), Until: time.Now().Add(until),
		})
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	for name, c := range map[string]struct{ key, next string }{
		"another secret": {sign(strings.Repeat("another", 8), time.Hour), "signed with another JWT secret"},
		"expired":        {sign(api.JWTSecret(), -time.Hour), "the key has expired"},
		"not a JWT":      {"a-legacy-key", "the key is not a JWT"},
	} {
		_, err := open(t, api.URL, c.key, "a").Job(t.Context(), "x")
		checkRefused(t, name, err, "the database refuses the key: ", c.next)
	}
}
