package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/apitoken"
)

// Pages of listed origins may call, others not; no cookie counts.
func TestOrigins(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *api.Deps) { d.AllowOrigins = []string{"https://app.example"} })
	for origin, want := range map[string]string{"https://app.example": "https://app.example", "https://evil.example": ""} {
		r := b.ask("OPTIONS", "/v1/jobs", "", "Origin", origin, "Authorization", "", "Access-Control-Request-Method", "POST",
			"Access-Control-Request-Headers", "authorization,content-type,idempotency-key")
		if got := r.header.Get("Access-Control-Allow-Origin"); got != want || r.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %q, %v", origin, got, r.header)
		}
		if got := b.ask("GET", "/v1/jobs", "", "Origin", origin).header.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("GET of %s: %q", origin, got)
		}
	}
	if r := newBench(t).ask("GET", "/v1/jobs", "", "Origin", "https://app.example"); r.header.Get(
		"Access-Control-Allow-Origin") != "" {
		t.Errorf("without a list: %v", r.header)
	}
}

// A page of a listed origin may make every call that there is: the browser asks before each PUT, PATCH and DELETE.
func TestOriginsOfEveryCall(t *testing.T) {
	t.Parallel()
	const origin = "https://app.example"
	b := newBench(t, func(d *api.Deps) { d.AllowOrigins = []string{origin} })
	raw, err := b.api.Spec()
	if err != nil {
		t.Fatal(err)
	}
	var spec struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(raw, &spec); err != nil || len(spec.Paths) == 0 {
		t.Fatalf("%d paths, %v", len(spec.Paths), err)
	}
	for path, calls := range spec.Paths {
		for method := range calls {
			method = strings.ToUpper(method)
			r := b.ask("OPTIONS", path, "", "Origin", origin, "Authorization", "", "Access-Control-Request-Method", method,
				"Access-Control-Request-Headers", "authorization,content-type")
			if r.header.Get("Access-Control-Allow-Origin") != origin || r.header.Get("Access-Control-Allow-Methods") != method {
				t.Errorf("%s %s: %v", method, path, r.header)
			}
		}
	}
}

// A page may send the headers that the calls, or the MCP's clients, have, and reads those of the answers.
func TestOriginsHeaders(t *testing.T) {
	t.Parallel()
	const origin = "https://app.example"
	b := newBench(t, func(d *api.Deps) { d.AllowOrigins = []string{origin} })
	b.api.Mount("/mcp", apitoken.Read, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	for path, sends := range map[string]string{
		"/v1/jobs": "authorization,content-type,idempotency-key", "/v1/events": "authorization,last-event-id",
		"/v1/documents/" + noID + "/pages/1/picture": "authorization,if-none-match",
		"/mcp": "authorization,content-type,last-event-id,mcp-method,mcp-name,mcp-protocol-version,mcp-session-id",
	} {
		r := b.ask("OPTIONS", path, "", "Origin", origin, "Authorization", "", "Access-Control-Request-Method", "POST",
			"Access-Control-Request-Headers", sends)
		if r.header.Get("Access-Control-Allow-Origin") != origin || r.header.Get("Access-Control-Allow-Headers") != sends {
			t.Errorf("%s: %v", path, r.header)
		}
	}
	r := b.ask("POST", "/mcp", "{}", "Origin", origin)
	want := "Etag, Idempotent-Replayed, Location, Mcp-Session-Id, Retry-After, Www-Authenticate"
	if got := r.header.Get("Access-Control-Expose-Headers"); got != want {
		t.Errorf("a page reads %s, want %s", got, want)
	}
}
