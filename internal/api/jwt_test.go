package api_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/api"
)

// Without a project the secret decides alone: a token may name any issuer. All else is checked as with one.
func TestSecretWithoutAProject(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *api.Deps) { d.Auth.JWT = &api.JWTConfig{Secret: jwtSecret} })
	root := map[string]any{"client_id": tenant, "async_worker": "root"}
	for name, c := range map[string]struct {
		claims jwt.MapClaims
		ok     bool
	}{
		"no issuer":          {user(with("iss", nil)), true},
		"some issuer":        {user(with("iss", "https://auth.example.org")), true},
		"of row security":    {user(with("client_id", tenant), with("role", "async_worker_reader")), true},
		"no expiry":          {user(with("exp", nil)), false},
		"expired":            {user(with("exp", time.Now().Add(-time.Minute).Unix())), false},
		"another client":     {user(with("client_id", "northhaven")), false},
		"no client":          {user(with("app_metadata", nil)), false},
		"a key of PostgREST": {user(with("sub", nil), with("client_id", tenant)), false},
		"an unknown scope":   {user(with("app_metadata", root)), false},
	} {
		text := sign(t, jwt.SigningMethodHS256, "", []byte(jwtSecret), c.claims)
		r := b.ask("GET", "/v1/jobs", "", "Authorization", "Bearer "+text)
		if (r.status == http.StatusOK) != c.ok || !c.ok && r.status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, r.status, r.text)
		}
	}
	for name, text := range map[string]string{
		"another secret": sign(t, jwt.SigningMethodHS256, "", []byte("x"+jwtSecret), user()),
		"HS512":          sign(t, jwt.SigningMethodHS512, "", []byte(jwtSecret), user()),
		"none":           sign(t, jwt.SigningMethodNone, "", jwt.UnsafeAllowNoneSignatureType, user()),
	} {
		if r := b.ask("GET", "/v1/jobs", "", "Authorization", "Bearer "+text); r.status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, r.status, r.text)
		}
	}
	for name, cfg := range map[string]api.JWTConfig{"neither": {}, "a short secret": {Secret: "short"}} {
		deps := b.deps
		deps.Auth.JWT = &cfg
		if _, err := api.New(deps); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// A project whose tokens are of the other kind is told so in the log, once. Other people's tokens say nothing there.
func TestOtherAlgorithmIsLogged(t *testing.T) {
	t.Parallel()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	none := func(context.Context, string) ([]byte, error) { return []byte(`{"keys":[]}`), nil }
	legacy := sign(t, jwt.SigningMethodHS256, "", []byte(jwtSecret), user())
	modern := sign(t, jwt.SigningMethodRS256, "k", rsaKey, user())
	foreign := sign(t, jwt.SigningMethodHS256, "", []byte(jwtSecret), user(with("app_metadata", nil), with("client_id", "northhaven")))
	for name, c := range map[string]struct {
		cfg    api.JWTConfig
		silent []string
		token  string
		hint   string
	}{
		"legacy":     {api.JWTConfig{Issuer: issuer, Fetch: none}, []string{foreign, modern}, legacy, "or set SUPABASE_JWT_SECRET"},
		"modern":     {api.JWTConfig{Issuer: issuer, Secret: "x" + jwtSecret}, []string{legacy}, modern, "unset SUPABASE_JWT_SECRET"},
		"no project": {api.JWTConfig{Secret: jwtSecret}, []string{foreign}, modern, "sign with HS256"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(d *api.Deps) { d.Auth.JWT = &c.cfg })
			for _, token := range append(c.silent, "x.y.z") {
				b.want(b.ask("GET", "/v1/jobs", "", "Authorization", "Bearer "+token), http.StatusUnauthorized, "UNAUTHORIZED")
			}
			if said := b.log.String(); strings.Contains(said, "another algorithm") {
				t.Errorf("it said %s", said)
			}
			for range 2 {
				b.want(b.ask("GET", "/v1/jobs", "", "Authorization", "Bearer "+c.token), http.StatusUnauthorized, "UNAUTHORIZED")
			}
			if said := b.log.String(); strings.Count(said, "another algorithm") != 1 || !strings.Contains(said, c.hint) {
				t.Errorf("it said %s", said)
			}
		})
	}
}

// The claims that the hook of docs/frontend.md gives a user of Realtime open this API to read alone.
func TestClaimsHook(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/frontend.md")
	if err != nil {
		t.Fatal(err)
	}
	_, hook, found := strings.Cut(string(page), "```sql\n-- claims.sql")
	hook, _, closed := strings.Cut(hook, "```")
	if !found || !closed {
		t.Fatal("docs/frontend.md has no block claims.sql")
	}
	b := newBench(t, bySecret)
	conn, err := pgx.Connect(t.Context(), b.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), "--"+hook); err != nil {
		t.Fatal(err)
	}
	claims := func(edit ...func(jwt.MapClaims)) jwt.MapClaims {
		var out struct{ Claims jwt.MapClaims }
		if err := conn.QueryRow(t.Context(), "select async_worker_claims($1)",
			map[string]any{"user_id": "user-17", "claims": user(edit...)}).Scan(&out); err != nil {
			t.Fatal(err)
		}
		return out.Claims
	}
	operator := map[string]any{"client_id": tenant, "async_worker": "operate"}
	for name, c := range map[string]struct {
		claims    jwt.MapClaims
		get, post int
	}{
		"without the hook":        {user(with("client_id", tenant)), http.StatusOK, http.StatusCreated},
		"with the hook":           {claims(), http.StatusOK, http.StatusForbidden},
		"of an operator":          {claims(with("app_metadata", operator)), http.StatusOK, http.StatusForbidden},
		"of a reader":             {claims(with("role", "async_worker_reader")), http.StatusOK, http.StatusForbidden},
		"of no tenant":            {claims(with("app_metadata", map[string]any{})), http.StatusUnauthorized, http.StatusUnauthorized},
		"without an app_metadata": {claims(with("app_metadata", nil)), http.StatusUnauthorized, http.StatusUnauthorized},
	} {
		bearer := "Bearer " + sign(t, jwt.SigningMethodHS256, "", []byte(jwtSecret), c.claims)
		if r := b.ask("GET", "/v1/jobs", "", "Authorization", bearer); r.status != c.get {
			t.Errorf("%s: GET gets %d %s", name, r.status, r.text)
		}
		if r := b.ask("POST", "/v1/jobs", newFile(), "Authorization", bearer); r.status != c.post {
			t.Errorf("%s: POST gets %d %s", name, r.status, r.text)
		}
	}
	if got := claims()["client_id"]; got != tenant {
		t.Errorf("the hook names the tenant %v", got)
	}
}
