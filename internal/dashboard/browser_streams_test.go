package dashboard_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
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

// A live page whose session has ended goes to the login. One with what somebody has typed keeps that, has a link to the
// login, and is live again afterwards.
func TestStreamOfAnEndedSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	pages := b.server.Config.Handler
	var ended, refuse atomic.Bool
	b.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stream := strings.HasSuffix(r.URL.Path, "/live")
		if ended.Load() && !strings.Contains(r.URL.Path, "/static/") || stream && refuse.Swap(false) {
			r.Header.Del("Cookie")
		}
		pages.ServeHTTP(w, r)
	})
	b.restart(func() {})
	w := b.browse("operate")
	w.open("jobs")
	w.shows("Live")
	w.do(chromedp.SendKeys(chromedp.CSS("input[type=search], input[name=q]"), "type:ingest"))
	b.restart(func() { ended.Store(true) })
	w.await(`document.querySelector(".live a[href=login]")`)
	if q := is[string](w, `document.querySelector("input[name=q]").value`); q != "type:ingest" {
		t.Errorf("what was typed is %q", q)
	}
	ended.Store(false)
	is[bool](w, `window.dispatchEvent(new Event("focus"))`)
	w.shows("Live")
	refuse.Store(true)
	w.open("")
	w.await(`performance.getEntriesByType("navigation")[0].type === "reload"`)
	w.shows("Live")
	b.restart(func() { ended.Store(true) })
	w.await(`location.pathname.endsWith("/login")`)
	w.quietBut("Failed to load resource", "ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "401")
}
