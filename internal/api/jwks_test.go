package api_test

import (
	"net/http"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/seed-7227ef26/async-worker/internal/api"
)

// While the project's keys can't be read, a valid token is not called invalid: frontends would sign their users out.
func TestJWTWithoutKeys(t *testing.T) {
	t.Parallel()
	key := other(t)
	keys := &keySet{fail: true}
	b := newBench(t, func(d *api.Deps) { d.Auth.JWT = &api.JWTConfig{Issuer: issuer, Fetch: keys.fetch} })
	ask := func(token string) reply { return b.ask("GET", "/v1/jobs", "", "Authorization", "Bearer "+token) }
	r := ask(sign(t, jwt.SigningMethodES256, "ec", key, user()))
	b.want(r, http.StatusServiceUnavailable, "UNAVAILABLE")
	if r.header.Get("Retry-After") == "" || r.header.Get("WWW-Authenticate") != "" {
		t.Errorf("answered with %v", r.header)
	}
	for name, text := range map[string]string{
		"malformed": "a.b.c", "no key id": sign(t, jwt.SigningMethodES256, "", key, user()),
		"HS256": sign(t, jwt.SigningMethodHS256, "ec", []byte(jwtSecret), user()), "a token": "aw_wrong",
	} {
		t.Run(name, func(t *testing.T) { b.want(ask(text), http.StatusUnauthorized, "UNAUTHORIZED") })
	}
	b.want(b.ask("GET", "/v1/jobs", ""), http.StatusOK, "")
}
