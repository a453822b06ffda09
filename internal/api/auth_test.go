package api_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/httpd"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

const (
	issuer    = "https://project.supabase.co/auth/v1"
	jwtSecret = "a secret of tests, of at least 32 characters"
)

// noID is of nothing.
const noID = "00000000-0000-4000-8000-000000000000"

// user are the claims of a user of the tenant.
func user(edit ...func(jwt.MapClaims)) jwt.MapClaims {
	c := jwt.MapClaims{
		"iss": issuer, "sub": "user-17", "role": "authenticated", "aud": "authenticated",
		"exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(), "app_metadata": map[string]any{"client_id": tenant},
	}
	for _, e := range edit {
		e(c)
	}
	return c
}

func with(name string, value any) func(jwt.MapClaims) {
	return func(c jwt.MapClaims) {
		if value == nil {
			delete(c, name)
		} else {
			c[name] = value
		}
	}
}

func sign(t *testing.T, method jwt.SigningMethod, kid string, key any, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	if kid != "" {
		token.Header["kid"] = kid
	}
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func bySecret(d *api.Deps) { d.Auth.JWT = &api.JWTConfig{Issuer: issuer, Secret: jwtSecret} }

// Every call, with every sort of token: who may not call is told nothing about why. Through the proxy of a machine with
// many tenants it is the same: what the kernel says of the proxy gives no right.
func TestWhoMay(t *testing.T) {
	t.Parallel()
	b := newBench(t, bySecret)
	t.Run("direct", func(t *testing.T) { whoMay(t, b) })
	b = newBench(t, bySecret, func(d *api.Deps) {
		d.Auth.Local = func(r *http.Request) (string, bool) {
			_, ok := httpd.PeerUID(r)
			return "local", ok
		}
	})
	b.moveBehindFront()
	t.Run("through the front", func(t *testing.T) { whoMay(t, b) })
}

func whoMay(t *testing.T, b *bench) {
	t.Helper()
	hs := func(edit ...func(jwt.MapClaims)) string {
		return sign(t, jwt.SigningMethodHS256, "", []byte(jwtSecret), user(edit...))
	}
	scoped := func(scope string) string {
		return hs(with("app_metadata", map[string]any{"client_id": tenant, "async_worker": scope}))
	}
	tokens := map[string]struct {
		token string
		scope apitoken.Scope
	}{
		"none": {"", 0}, "wrong": {"Bearer aw_wrong", 0}, "no scheme": {b.tokens["operate"], 0},
		"basic": {"Basic " + b.tokens["operate"], 0},
		"read":  {"Bearer " + b.tokens["read"], apitoken.Read}, "submit": {"bearer " + b.tokens["submit"], apitoken.Submit},
		"operate": {"Bearer " + b.tokens["operate"], apitoken.Operate},
		"user":    {"Bearer " + hs(), apitoken.Submit}, "reading user": {"Bearer " + scoped("read"), apitoken.Read},
		"operator": {"Bearer " + scoped("operate"), apitoken.Operate}, "user of another scope": {"Bearer " + scoped("root"), 0},
		"expired": {"Bearer " + hs(with("exp", time.Now().Add(-time.Minute).Unix())), 0},
		"other tenant's": {
			"Bearer " + hs(with("app_metadata", map[string]any{"client_id": "northhaven", "async_worker": "operate"})), 0,
		},
	}
	var spec struct {
		Paths map[string]map[string]struct {
			Description string `json:"description"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(b.spec(), &spec); err != nil {
		t.Fatal(err)
	}
	calls := 0
	for path, methods := range spec.Paths {
		for method, op := range methods {
			calls++
			var need apitoken.Scope
			for _, s := range []apitoken.Scope{apitoken.Read, apitoken.Submit, apitoken.Operate} {
				if strings.Contains(op.Description, "the scope "+s.String()) {
					need = s
				}
			}
			url := strings.NewReplacer("{id}", noID, "{name}", noID).Replace(path)
			var refused string
			for name, c := range tokens {
				r := b.ask(strings.ToUpper(method), url, "", "Authorization", c.token)
				switch {
				case c.scope == 0:
					b.want(r, http.StatusUnauthorized, "UNAUTHORIZED")
					if refused == "" {
						refused = r.text
					}
					if r.text != refused || r.header.Get("WWW-Authenticate") == "" {
						t.Errorf("%s %s, %s: the answer tells why: %s", method, path, name, r.text)
					}
				case c.scope < need:
					b.want(r, http.StatusForbidden, "FORBIDDEN")
				case r.status == http.StatusUnauthorized || r.status == http.StatusForbidden || r.status >= 500:
					t.Errorf("%s %s with %s: %d %s", method, path, name, r.status, r.text)
				}
			}
			if need == 0 {
				t.Errorf("%s %s names no scope", method, path)
			}
		}
	}
	if calls < 25 {
		t.Errorf("%d calls were tried", calls)
	}
	if r := b.ask("POST", "/v1/jobs", newFile(), "Authorization", tokens["user"].token); r.field("requestedBy") != "user-17" {
		t.Errorf("a user's job: %s", r.text)
	}
}

// A JWT with an extension that must be understood is refused, because none is.
func TestCriticalExtension(t *testing.T) {
	t.Parallel()
	b := newBench(t, bySecret)
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, user())
	token.Header["crit"] = []string{"bound-to"}
	text, err := token.SignedString([]byte(jwtSecret))
	if err != nil {
		t.Fatal(err)
	}
	b.want(b.ask("GET", "/v1/jobs", "", "Authorization", "Bearer "+text), http.StatusUnauthorized, "UNAUTHORIZED")
}

// Forged, confused and incomplete JWTs.
func TestJWTs(t *testing.T) {
	t.Parallel()
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	keys := &keySet{}
	keys.set(ecJWK(t, "ec", ec), rsaJWK("rsa", key))
	secret, public := newBench(t, bySecret), newBench(t, func(d *api.Deps) {
		d.Auth.JWT = &api.JWTConfig{Issuer: issuer, Fetch: keys.fetch}
	})
	for name, c := range map[string]struct {
		claims jwt.MapClaims
		ok     bool
	}{
		"user":                    {user(), true},
		"client on top":           {user(with("client_id", tenant), with("app_metadata", nil)), true},
		"both":                    {user(with("client_id", tenant)), true},
		"they differ":             {user(with("client_id", "northhaven")), false},
		"another client on top":   {user(with("client_id", "northhaven"), with("app_metadata", nil)), false},
		"no client":               {user(with("app_metadata", nil)), false},
		"client by the user":      {user(with("app_metadata", nil), with("user_metadata", map[string]any{"client_id": tenant})), false},
		"other issuer":            {user(with("iss", "https://other.supabase.co/auth/v1")), false},
		"no issuer":               {user(with("iss", nil)), false},
		"no expiry":               {user(with("exp", nil)), false},
		"expired within the skew": {user(with("exp", time.Now().Add(-10*time.Second).Unix())), true},
		"expired":                 {user(with("exp", time.Now().Add(-40*time.Second).Unix())), false},
		"not yet":                 {user(with("nbf", time.Now().Add(time.Minute).Unix())), false},
		"soon":                    {user(with("nbf", time.Now().Add(10*time.Second).Unix())), true},
		"issued later":            {user(with("iat", time.Now().Add(time.Minute).Unix())), false},
		"nobody":                  {user(with("sub", nil)), false},
		"a long subject":          {user(with("sub", strings.Repeat("x", 257))), false},
		"control in the subject":  {user(with("sub", "a\nb")), false},
	} {
		for kind, token := range map[string]struct {
			b    *bench
			text string
		}{
			"HS256": {secret, sign(t, jwt.SigningMethodHS256, "", []byte(jwtSecret), c.claims)},
			"ES256": {public, sign(t, jwt.SigningMethodES256, "ec", ec, c.claims)},
			"RS256": {public, sign(t, jwt.SigningMethodRS256, "rsa", key, c.claims)},
		} {
			r := token.b.ask("GET", "/v1/jobs", "", "Authorization", "Bearer "+token.text)
			if (r.status == http.StatusOK) != c.ok || !c.ok && r.status != http.StatusUnauthorized {
				t.Errorf("%s, %s: %d %s", name, kind, r.status, r.text)
			}
		}
	}
	pub := public.ask
	der := key.N.Bytes()
	for name, text := range map[string]string{
		"none":                       sign(t, jwt.SigningMethodNone, "ec", jwt.UnsafeAllowNoneSignatureType, user()),
		"HS256 with the public key":  sign(t, jwt.SigningMethodHS256, "rsa", der, user()),
		"no key id":                  sign(t, jwt.SigningMethodES256, "", ec, user()),
		"another key id":             sign(t, jwt.SigningMethodES256, "rsa", ec, user()),
		"unknown key id":             sign(t, jwt.SigningMethodES256, "gone", ec, user()),
		"RS512":                      sign(t, jwt.SigningMethodRS512, "rsa", key, user()),
		"PS256":                      sign(t, jwt.SigningMethodPS256, "rsa", key, user()),
		"nonsense":                   "a.b.c",
		"long":                       "a.b." + strings.Repeat("c", 9000),
		"signed by somebody else":    sign(t, jwt.SigningMethodES256, "ec", other(t), user()),
		"HS256, though keys are set": sign(t, jwt.SigningMethodHS256, "", []byte(jwtSecret), user()),
	} {
		if r := pub("GET", "/v1/jobs", "", "Authorization", "Bearer "+text); r.status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, r.status, r.text)
		}
	}
	if r := secret.ask("GET", "/v1/jobs", "", "Authorization", "Bearer "+sign(t, jwt.SigningMethodHS512, "",
		[]byte(jwtSecret), user())); r.status != http.StatusUnauthorized {
		t.Errorf("HS512 with the secret: %d", r.status)
	}
	// Unknown ids do not make the worker ask for the keys each time.
	if n := keys.count(); n > 2 {
		t.Errorf("the keys were read %d times", n)
	}
}

func other(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// keySet is a project's keys.
type keySet struct {
	mu   sync.Mutex
	text string
	n    int
	fail bool
}

func (k *keySet) set(keys ...map[string]string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	raw, _ := json.Marshal(map[string]any{"keys": keys})
	k.text = string(raw)
}

func (k *keySet) fetch(_ context.Context, url string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.n++
	if k.fail || url != issuer+"/.well-known/jwks.json" {
		return nil, errors.New("no answer")
	}
	return []byte(k.text), nil
}

func (k *keySet) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.n
}

func ecJWK(t *testing.T, kid string, key *ecdsa.PrivateKey) map[string]string {
	t.Helper()
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"kid": kid, "kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig",
		"x": base64.RawURLEncoding.EncodeToString(point[1:33]), "y": base64.RawURLEncoding.EncodeToString(point[33:]),
	}
}

func rsaJWK(kid string, key *rsa.PrivateKey) map[string]string {
	return map[string]string{
		"kid": kid, "kty": "RSA", "n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()),
		"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
	}
}

// The database decides what a user reads whose token has a role that it knows: here nothing.
func TestReadsAsTheCaller(t *testing.T) {
	t.Parallel()
	var asked []string
	b := newBench(t, bySecret, func(d *api.Deps) {
		d.Auth.AsCaller = func(token string) (store.Store, error) {
			asked = append(asked, token)
			return nil, errors.New("no database")
		}
	})
	id := b.submitted(newFile())
	text := sign(t, jwt.SigningMethodHS256, "", []byte(jwtSecret), user(with("client_id", tenant),
		with("role", "async_worker_reader")))
	for _, path := range []string{"/v1/jobs", "/v1/jobs/" + id, "/v1/jobs/" + id + "/events", "/v1/events", "/v1/documents"} {
		for _, accept := range []string{"application/json", "text/event-stream"} {
			b.want(b.ask("GET", path, "", "Authorization", "Bearer "+text, "Accept", accept), http.StatusForbidden, "FORBIDDEN")
		}
	}
	for _, path := range []string{
		"/v1/stats", "/v1/summaries/" + noID, "/v1/agent-runs/" + noID, "/v1/derived-contents/" + noID, "/v1/decks/" + noID,
		"/v1/llm-checks/" + noID,
	} {
		b.want(b.ask("GET", path, "", "Authorization", "Bearer "+text), http.StatusForbidden, "FORBIDDEN")
	}
	for path, body := range map[string]string{"/v1/search": `{"query":"x"}`, "/v1/jobs/" + id + "/cancel": ""} {
		b.want(b.ask("POST", path, body, "Authorization", "Bearer "+text), http.StatusForbidden, "FORBIDDEN")
	}
	if len(asked) == 0 || asked[0] != text {
		t.Errorf("opened with %q", asked)
	}
	plain := sign(t, jwt.SigningMethodHS256, "", []byte(jwtSecret), user())
	b.want(b.ask("GET", "/v1/jobs", "", "Authorization", "Bearer "+plain), http.StatusOK, "")
}

// A caller on this machine whom the kernel vouches for may do everything; a token counts before that.
func TestLocalCaller(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *api.Deps) {
		d.Auth.Local = func(r *http.Request) (string, bool) { return "local:root", r.Header.Get("X-Local") != "" }
	})
	r := b.want(b.ask("POST", "/v1/jobs", newFile(), "Authorization", "", "X-Local", "1"), http.StatusCreated, "")
	if r.field("requestedBy") != "local:root" {
		t.Errorf("submitted %s", r.text)
	}
	b.want(b.ask("GET", "/v1/jobs", "", "Authorization", ""), http.StatusUnauthorized, "UNAUTHORIZED")
	b.want(b.ask("GET", "/v1/jobs", "", "Authorization", "Bearer x", "X-Local", "1"), http.StatusUnauthorized, "UNAUTHORIZED")
	b.want(b.ask("POST", "/v1/jobs", newFile(), "Authorization", "Bearer "+b.tokens["read"], "X-Local", "1"),
		http.StatusForbidden, "FORBIDDEN")
}

// A caller who asks too much is told to wait; others are not.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.want(b.ask("GET", "/v1/summaries/x", "", "Authorization", "Bearer "+b.tokens["read"]), http.StatusBadRequest, "VALIDATION_ERROR")
	b.api.Exhaust()
	limited := b.ask("GET", "/v1/summaries/x", "", "Authorization", "Bearer "+b.tokens["read"])
	if b.want(limited, http.StatusTooManyRequests, "RATE_LIMITED"); limited.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	b.want(b.ask("GET", "/v1/jobs", ""), http.StatusOK, "")
}
