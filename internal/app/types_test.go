package app

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// Each registered task type has a label in the metrics, and its job is recorded with the attempts of its handler.
func TestEveryTypeIsKnown(t *testing.T) {
	t.Parallel()
	specs, err := Specs()
	if err != nil || len(specs) == 0 {
		t.Fatal(specs, err)
	}
	tenant, err := Open(t.Context(), config.Config{ClientID: "southhaven"}, slog.New(slog.DiscardHandler), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tenant.Close()
	for _, s := range specs {
		tenant.metrics.Accepted(s.Type, 0)
		if got := tenant.maxAttempts(s.Type); got != s.Policy.MaxAttempts {
			t.Errorf("%s: its job is recorded with %d attempts, its handler has %d", s.Type, got, s.Policy.MaxAttempts)
		}
	}
	w := httptest.NewRecorder()
	tenant.metrics.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
	for _, s := range specs {
		if !strings.Contains(w.Body.String(), `job_type="`+string(s.Type)+`"`) {
			t.Errorf("%s has no label in the metrics", s.Type)
		}
	}
}
