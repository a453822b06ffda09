package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

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
