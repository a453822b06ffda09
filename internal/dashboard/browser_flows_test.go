package dashboard_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-7227ef26/async-worker/internal/dashboard"
	"github.com/seed-7227ef26/async-worker/internal/front"
	"github.com/seed-7227ef26/async-worker/internal/httpd"
	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// shows waits until the page has a text.
func (w *browser) shows(text string) {
	w.Helper()
	w.await(fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

func (w *browser) click(css string) { w.Helper(); w.do(chromedp.Click(chromedp.CSS(css))) }

// restart ends the server with all its connections, and begins another one at its address: as a worker does.
func (b *bench) restart(meanwhile func()) {
	b.Helper()
	address, handler := b.server.Listener.Addr().String(), b.server.Config.Handler
	b.server.CloseClientConnections()
	b.server.Close()
	meanwhile()
	l, err := stack.ListenAgain(b.Context(), address)
	if err != nil {
		b.Fatal(err)
	}
	b.server = httptest.NewUnstartedServer(handler)
	_ = b.server.Listener.Close()
	b.server.Listener = l
	b.server.Start()
}

// A file is dropped on the form, sent, its job watched to the end, and found by a search, all on one page, also over a
// reload in the middle; what is refused says why, and the form can be sent again. A question is answered as it is written,
// also over a restart of the worker and a reload in the middle.
func TestUploadToAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.browse("operate")
	file := filepath.Join(t.TempDir(), "tide table.txt")
	if err := os.WriteFile(file, []byte("High water at noon."), 0o600); err != nil {
		t.Fatal(err)
	}
	w.open("documents/upload")
	w.do(chromedp.SendKeys(chromedp.CSS("#set"), "harbour"))
	is[bool](w, `(() => { const files = new DataTransfer(); files.items.add(new File([], "empty.txt"));
		document.querySelector("[data-drop]").dispatchEvent(new DragEvent("drop", {dataTransfer: files, bubbles: true, cancelable: true}));
		return true })()`)
	w.click("form[data-upload] button")
	w.shows("empty.txt: ")
	w.do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{file}))
	w.click("form[data-upload] button")
	w.await(`document.querySelector("#sent [data-job]")`)
	w.shows("tide table.txt")
	w.shows("Live")
	id := is[string](w, `document.querySelector("#sent [data-job]").dataset.job`)
	j, err := b.store.Job(t.Context(), id)
	if err != nil || j.RequestedBy != "anna" {
		t.Fatalf("%+v, %v", j, err)
	}
	document := b.ingest("harbour", "tide table.txt", "Tides")
	h := b.begin(id, j.Type, string(j.Payload))
	b.report(h, store.Event{Stage: "parsing", Progress: 20})
	w.shows("parsing, 20 %")
	w.do(chromedp.Reload())
	w.shows("parsing, 20 %")
	w.shows("Live")
	b.complete(h, `{"document_id":"`+document+`","version":1,"chunks":3,"pages":1}`)
	w.await(`document.querySelector("#sent .s-succeeded") && document.body.innerText.includes("version 1, 3 chunks of one page")`)
	w.do(chromedp.SendKeys(chromedp.CSS("#q"), "pilots board\r"))
	w.await(`document.querySelector("#found mark") && location.pathname.endsWith("/documents/upload")`)

	w.open("ask")
	w.do(chromedp.SendKeys(chromedp.CSS("#prompt"), "When is high water?"))
	w.click("main form button")
	w.await(`location.pathname.includes("/jobs/")`)
	w.shows("Live")
	id = filepath.Base(is[string](w, "location.pathname"))
	if j, err = b.store.Job(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	h = b.begin(id, j.Type, string(j.Payload))
	write := func(piece string) {
		b.report(h, store.Event{Stage: "streaming_response", Progress: 30, Metadata: delta(piece)})
	}
	write("High water ")
	w.shows("High water")
	b.restart(func() { write("is at ") }) // nobody hears it
	w.shows("High water is at")
	w.do(chromedp.Reload())
	w.shows("High water is at")
	write("noon <b>sharp</b>.")
	w.shows("High water is at noon <b>sharp</b>.")
	b.complete(h, `{"answer":"High water is at noon <b>sharp</b>.","citations":[]}`)
	w.await(`document.querySelector("#live .s-succeeded")`)
	w.quietBut("Failed to load resource", "ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING")
}

// quietBut is quiet, but for what a restart makes a browser say.
func (w *browser) quietBut(texts ...string) {
	w.Helper()
	w.mu.Lock()
	kept := w.said[:0]
	for _, said := range w.said {
		expected := false
		for _, text := range texts {
			expected = expected || strings.Contains(said, text)
		}
		if !expected {
			kept = append(kept, said)
		}
	}
	w.said = kept
	w.mu.Unlock()
	w.quiet()
}

// From a failure on the overview to its dead letter, its replay, and the end of that; and a cancel, which asks first.
func TestMend(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.browse("operate")
	w.open("")
	w.shows("Nothing runs.")
	w.shows("Live")
	h := b.begin("job-1", "ingest", `{"filename":"annex.pdf","document_set":"s"}`)
	w.shows("annex.pdf")
	letter := b.fail(h, taskerr.NetworkTimeout, "the model service did not answer")
	w.shows("Nothing runs.")
	w.do(chromedp.Reload())
	w.shows("Network timeout")
	w.open("dead-letters")
	w.click("table a.name")
	w.shows("By reason")
	w.open("dead-letters/" + letter)
	w.shows("When it is well again (see Doctor), replay it.")
	w.click(`a[href$="/replay"]`)
	w.shows("Replay this dead letter?")
	w.click("main form button")
	w.shows("being replayed by this job")
	id := filepath.Base(is[string](w, "location.pathname"))
	j, err := b.store.Job(t.Context(), id)
	if err != nil || j.ParentJobID != "job-1" {
		t.Fatalf("%+v, %v", j, err)
	}
	h = b.begin(id, j.Type, string(j.Payload))
	w.await(`document.querySelector("#live .s-running")`)
	w.click(`a[href$="/cancel"]`)
	w.shows("Cancel this job?")
	if again, err := b.store.Job(t.Context(), id); err != nil || again.CancelAsked {
		t.Fatalf("a page that asks has canceled: %+v, %v", again, err)
	}
	w.click("main form button")
	w.shows("cancel requested")
	if _, err := b.store.Canceled(t.Context(), h, nil); err != nil {
		t.Fatal(err)
	}
	w.await(`document.querySelector("#live .s-canceled")`)
	w.quiet()
}

// The rows of the list of jobs are live, and a box that is ticked stays so.
func TestLiveList(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.browse("operate")
	b.submit("first", "first.pdf")
	w.open("jobs")
	w.shows("Live")
	w.click(`input[value="first"]`)
	b.submit("second", "second.pdf")
	h := b.begin("third", "ingest", `{"filename":"third.pdf","document_set":"s"}`)
	w.shows("third.pdf")
	w.shows("second.pdf")
	if !is[bool](w, `document.querySelector('input[value="first"]').checked`) {
		t.Error("the box is no longer ticked")
	}
	b.complete(h, `{}`)
	w.await(`document.querySelector("#r-third .s-succeeded")`)
	w.click(`button[value="cancel"]`)
	w.shows("Cancel 1 job?")
	w.click("main form button")
	w.shows("done for 1 of 1")
	w.quiet()
}

// A link signs in once, and leaves no way back in after the sign-out.
func TestLink(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	link := b.visit("").link(b.tokens["operate"])
	w := b.browse("")
	w.do(chromedp.Navigate(b.server.URL + link))
	w.await(`document.querySelector("nav.nav") && location.pathname === "` + dashboard.Root + `/"`)
	w.shows("anna")
	w.click("form[action=logout] button")
	w.shows("Sign in")
	w.do(chromedp.Navigate(b.server.URL + link))
	w.shows("used already")
	w.open("jobs")
	w.shows("Sign in")
}

// Through the proxy of a machine with many tenants the pages are the same, and live; the scripts that they run are the
// proxy's own.
func TestBehindFront(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.moveBehindFront()
	v := b.visit("operate")
	v.want(v.get("jobs"), 200, `<base href="/t/southhaven/dashboard/">`)
	w := b.browse("operate")
	w.do(chromedp.Navigate(b.origin() + "/"))
	w.shows("1 of this machine")
	if styled := is[string](w, `getComputedStyle(document.querySelector(".panel")).borderRadius`); styled != "10px" {
		t.Errorf("the list of tenants has no style: %s", styled)
	}
	w.click("a.name")
	w.await(`location.pathname === "/t/southhaven/dashboard/"`)
	w.open("jobs")
	w.shows("Live")
	h := b.begin("job-1", "ingest", `{"filename":"annex.pdf","document_set":"s"}`)
	w.shows("annex.pdf")
	w.click("a.name")
	w.await(`location.pathname === "/t/southhaven/dashboard/jobs/job-1"`)
	w.click(`a[href$="/cancel"]`)
	w.shows("Cancel this job?")
	w.click("main form button")
	w.shows("cancel requested")
	if _, err := b.store.Canceled(t.Context(), h, nil); err != nil {
		t.Fatal(err)
	}
	w.await(`document.querySelector("#live .s-canceled")`)
	w.click("form[action=logout] button")
	w.shows("Sign in")
	w.quiet()
}

// moveBehindFront serves the pages on a socket, as a worker does, and makes all requests go through the proxy to it.
func (b *bench) moveBehindFront() {
	b.Helper()
	runtime, log := b.TempDir(), slog.New(slog.DiscardHandler)
	if err := os.Mkdir(filepath.Join(runtime, tenant), 0o755); err != nil {
		b.Fatal(err)
	}
	own := func(*http.Request) bool { return true }
	b.serve(httpd.Config{Socket: filepath.Join(runtime, tenant, "http.sock"), Handler: b.pages, Own: own, Log: log})
	f, err := front.New(front.Config{
		Runtime: runtime, Socket: "http.sock", Log: log, Files: dashboard.Files(), FilesPath: dashboard.FilesPath,
		List: func(w http.ResponseWriter, r *http.Request, all []front.Tenant) {
			dashboard.List(w, r, []dashboard.Listed{{Name: all[0].Name, State: string(all[0].State)}})
		},
	})
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
