package dashboard_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/dashboard"
)

// A name or a state of a tenant is never markup nor another address in the list, whoever made it.
func TestListMarkup(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	dashboard.List(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody), []dashboard.Listed{
		{Name: "southhaven", State: "ready"},
		{Name: hostile, State: hostile},
		{Name: "//evil.example/", State: "down"},
		{Name: "javascript:alert(1)", State: ""},
	})
	text := w.Body.String()
	if w.Code != http.StatusOK || !strings.Contains(text, `href="t/southhaven/dashboard/"`) ||
		!strings.Contains(w.Header().Get("Content-Security-Policy"), "script-src 'self'") || strings.Contains(text, "<script") {
		t.Errorf("%d %v %s", w.Code, w.Header(), text)
	}
	for _, bad := range []string{"<img", `href="//`, `href="javascript`, "<!--"} {
		if strings.Contains(text, bad) {
			t.Errorf("the list has %q", bad)
		}
	}
}
