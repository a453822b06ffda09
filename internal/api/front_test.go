package api_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/front"
	"github.com/seed-7227ef26/async-worker/internal/httpd"
)

// moveBehindFront serves the API on a socket, as a worker does, and makes all calls go through the proxy to it.
func (b *bench) moveBehindFront() {
	b.Helper()
	runtime, log := b.TempDir(), slog.New(slog.DiscardHandler)
	if err := os.Mkdir(filepath.Join(runtime, tenant), 0o755); err != nil {
		b.Fatal(err)
	}
	own := func(*http.Request) bool { return true }
	b.serve(httpd.Config{Socket: filepath.Join(runtime, tenant, "http.sock"), Handler: b.api, Own: own, Log: log})
	f, err := front.New(front.Config{Runtime: runtime, Socket: "http.sock", Log: log})
	if err != nil {
		b.Fatal(err)
	}
	b.base = "http://" + b.serve(httpd.Config{Addr: "127.0.0.1:0", Handler: f, Own: own, Log: log}) + "/t/" + tenant
}

func (b *bench) serve(cfg httpd.Config) (addr string) {
	b.Helper()
	s, err := httpd.Listen(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	return s.Addrs()[0].String()
}

// A handler beside the calls gets requests with its scope, and knows who calls; so does one through the proxy.
func TestMount(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]func(*bench){"direct": func(*bench) {}, "through the front": (*bench).moveBehindFront} {
		b := newBench(t)
		b.api.Mount("/mcp", apitoken.Submit, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if b.api.Reader(r.Context()) == nil {
				t.Error("the caller reads nothing")
			}
			w.WriteHeader(http.StatusNoContent)
		}))
		move(b)
		for token, want := range map[string]int{
			"": http.StatusUnauthorized, "Bearer x": http.StatusUnauthorized, "Bearer " + b.tokens["read"]: http.StatusForbidden,
			"Bearer " + b.tokens["submit"]: http.StatusNoContent, "Bearer " + b.tokens["operate"]: http.StatusNoContent,
		} {
			if got := b.ask("POST", "/mcp", "{}", "Authorization", token); got.status != want {
				t.Errorf("%s, %.12s: %d, want %d: %s", name, token, got.status, want, got.text)
			}
		}
		if got := b.ask("POST", "/mcp?ticket=x", "{}", "Authorization", ""); got.status != http.StatusUnauthorized {
			t.Errorf("%s, a ticket: %d", name, got.status)
		}
	}
}

// The pages' calls do not need an earlier request: they have their scopes from the start.
func TestCallerIsTheFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	newJob := api.NewJob{Type: "ingest", Payload: api.Object(`{"filename":"a.pdf","document_set":"s"}`)}
	for scope, want := range map[string]string{"read": "FORBIDDEN", "submit": ""} {
		fresh, err := api.New(b.deps)
		if err != nil {
			t.Fatal(err)
		}
		caller, err := fresh.CallerOf(t.Context(), b.tokens[scope])
		if err != nil {
			t.Fatal(err)
		}
		_, err = caller.Submit(t.Context(), newJob, "")
		if refused, ok := errors.AsType[*api.Problem](err); err != nil && (!ok || refused.Code != want) || err == nil && want != "" {
			t.Errorf("%s: %v, want %q", scope, err, want)
		}
	}
}
