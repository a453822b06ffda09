package firsttry

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// running is a command that has not ended.
type running struct {
	*terminal
	typed   string
	process *stack.Process

	mu      sync.Mutex
	printed bytes.Buffer
	more    chan struct{} // something was printed
}

// Write implements io.Writer.
func (r *running) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case r.more <- struct{}{}:
	default:
	}
	return r.printed.Write(b)
}

func (r *running) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.printed.String()
}

// begin starts a command as typed.
func (d *terminal) begin(line string, settings ...string) *running {
	d.Helper()
	r := &running{terminal: d, typed: line, more: make(chan struct{}, 1)}
	var err error
	r.process, err = stack.Start(d.ctx, stack.Command{
		Name: line, Path: d.program, Args: d.arguments(line), Env: d.environ(settings), Dir: d.folder, Log: r,
	})
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { _ = r.process.Stop(syscall.SIGKILL, time.Minute) })
	return r
}

// await waits until the command has printed a text.
func (r *running) await(text string) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.ctx, patience)
	defer cancel()
	for !strings.Contains(r.text(), text) {
		select {
		case <-r.more:
		case <-r.process.Done():
			r.Fatalf("$ %s\n%sended, and has not printed %q", r.typed, r.text(), text)
		case <-ctx.Done():
			r.Fatalf("$ %s\n%shas not printed %q", r.typed, r.text(), text)
		}
	}
}

// interrupt is Ctrl-C.
func (r *running) interrupt() *answer {
	r.Helper()
	if err := r.process.Stop(syscall.SIGINT, patience); err != nil {
		r.Fatal(err)
	}
	return r.end()
}

// end waits until the command has ended.
func (r *running) end() *answer {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.ctx, patience)
	defer cancel()
	select {
	case <-r.process.Done():
	case <-ctx.Done():
		r.Fatalf("$ %s\n%sdoes not end", r.typed, r.text())
	}
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](r.process.Err()); ok {
		code = exit.ExitCode()
	}
	return r.read(r.typed, r.text(), code)
}

// TestInterrupted: Ctrl-C ends the waiting, and the job goes on.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	d := sitDown(t)
	d.file("tides.md", "# Tides\n")
	r := d.begin("async-worker enqueue --id slow --upload tides.md --type ingest --document-set sea --watch")
	r.await("slow\n")
	r.interrupt().expect(130, "the jobs go on", "async-worker jobs watch slow", "async-worker jobs cancel slow")
	d.run("async-worker jobs list --status pending").expect(0, "slow")
	d.daemon()
	d.run("async-worker jobs watch slow").expect(0, "succeeded")
}

// TestHungDatabase: a command says what it waits for, when nobody has changed its patience.
func TestHungDatabase(t *testing.T) {
	t.Parallel()
	d := sitDown(t)
	d.impatient()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := d.begin("async-worker jobs list", "SUPABASE_URL=http://"+l.Addr().String())
	r.await("has not answered yet")
	r.interrupt().expect(130, "waited=3s", l.Addr().String(), "SUPABASE_URL")
}

// impatient makes the program the one that users have.
func (d *terminal) impatient() {
	d.Helper()
	var err error
	if d.program, err = users.Build(nil, "./cmd/async-worker"); err != nil {
		d.Fatal(err)
	}
}

// TestPatience: a user's command gives up when a database is silent for 8 s; that of other tests here goes on, and gets
// its answer.
func TestPatience(t *testing.T) {
	t.Parallel()
	d := sitDown(t)
	api, err := url.Parse(d.env["SUPABASE_URL"])
	if err != nil {
		t.Fatal(err)
	}
	awake, forward := make(chan struct{}), httputil.NewSingleHostReverseProxy(api)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-awake:
			forward.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(proxy.Close)
	d.env["SUPABASE_URL"] = proxy.URL
	r := d.begin("async-worker jobs list")
	r.await("has not answered yet")
	d.impatient()
	d.run("async-worker jobs list").expect(75, "did not answer", "within 8s", "SUPABASE_URL")
	close(awake)
	r.end().expect(0)
}

// TestWatchedList: a list of jobs shows their changes until Ctrl-C.
func TestWatchedList(t *testing.T) {
	t.Parallel()
	d := sitDown(t)
	d.file("tides.md", "# Tides\n")
	r := d.begin("async-worker jobs list --watch")
	r.await("STATE")
	d.run("async-worker enqueue --id slow --upload tides.md --type ingest --document-set sea").expect(0)
	r.await("slow  ingest  pending")
	d.run("async-worker jobs cancel slow").expect(0)
	r.await("slow  ingest  canceled")
	r.interrupt().expect(130, "async-worker: interrupted", "!what to do")
}

// index reads the page at the worker's address.
func (d *terminal) index() {
	d.Helper()
	url := "http://" + d.env["HTTP_ADDR"] + "/"
	ctx, cancel := context.WithTimeout(d.ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		d.Fatal(err)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		d.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		d.Fatal(err)
	}
	d.read("curl "+url, string(page), resp.StatusCode).expect(http.StatusOK, "tenant "+d.env["CLIENT_ID"], "GET /livez",
		"GET /readyz", "GET /status", "GET /metrics")
}
