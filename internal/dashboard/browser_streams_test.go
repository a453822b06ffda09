package dashboard_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// A page whose stream is refused at first keeps what it shows, and opens it later.
func TestStreamRefusedAtFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.submit("first", "first.pdf")
	pages := b.server.Config.Handler
	var refused atomic.Int64
	b.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/live/jobs") && refused.Add(1) == 1 {
			http.Error(w, "too many streams are open", http.StatusServiceUnavailable)
			return
		}
		pages.ServeHTTP(w, r)
	})
	b.restart(func() {})
	w := b.browse("operate")
	w.open("jobs")
	w.shows("Live")
	w.shows("first.pdf")
	if n := refused.Load(); n < 2 {
		t.Errorf("the stream was asked for %d times", n)
	}
	b.begin("second", "ingest", `{"filename":"second.pdf","document_set":"s"}`)
	w.shows("second.pdf")
	w.quietBut("Failed to load resource", "503")
}
