package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// userToken is a user's JWT, as a service of one's own signs it.
func userToken(secret, client string) string {
	encoded := base64.RawURLEncoding.EncodeToString
	text := encoded([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encoded(fmt.Appendf(nil,
		`{"sub":"user-17","client_id":%q,"exp":%d}`, client, time.Now().Add(time.Hour).Unix()))
	sum := hmac.New(sha256.New, []byte(secret))
	sum.Write([]byte(text))
	return text + "." + encoded(sum.Sum(nil))
}

// On an address that others reach, without HTTP_TOKEN and without a Supabase project: health is open, the API goes by its
// own tokens and by users' JWTs, and the rest is closed.
func TestReachableWithoutToken(t *testing.T) {
	t.Parallel()
	port, err := stack.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	token, entry, err := apitoken.New("frontend", apitoken.Read)
	if err != nil {
		t.Fatal(err)
	}
	const secret = "a secret of tests, of at least 32 characters"
	b := newBed(t, "LLM_PROVIDER=offline", fmt.Sprintf("HTTP_ADDR=0.0.0.0:%d", port), "API_TOKENS="+entry.String(),
		"SUPABASE_JWT_SECRET="+secret, "SUPABASE_URL=", "SUPABASE_KEY=")
	b.env = append(b.env, "DATABASE_URL="+b.database)
	b.start()
	o := operator{
		b: b, base: fmt.Sprintf("http://127.0.0.1:%d", port), client: &http.Client{
			Transport: &http.Transport{DisableKeepAlives: true},
		},
	}
	for path, want := range map[string]int{
		"/livez": http.StatusOK, "/readyz": http.StatusOK, "/": http.StatusOK, "/metrics": http.StatusUnauthorized,
		"/status": http.StatusUnauthorized, "/readyz?verbose": http.StatusUnauthorized, "/v1/jobs": http.StatusUnauthorized,
	} {
		o.expect(path, want)
	}
	for _, known := range []string{token, userToken(secret, b.client)} {
		o.token = known
		o.expect("/v1/jobs", http.StatusOK, `"items"`)
		o.expect("/metrics", http.StatusUnauthorized, "set HTTP_TOKEN")
	}
	for _, unknown := range []string{userToken(secret, "northhaven"), userToken("x"+secret, b.client)} {
		o.token = unknown
		o.expect("/v1/jobs", http.StatusUnauthorized)
	}
}
