package gateway_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/gateway"
	"github.com/seed-7227ef26/async-worker/internal/gateway/gatewaytest"
	"github.com/seed-7227ef26/async-worker/internal/httpurl/httpurltest"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const pdf = "%PDF-1.7 secret-text-of-the-document"

// bench is a client, its stand-in and a folder.
type bench struct {
	*testing.T
	*gatewaytest.Server
	client *gateway.Client
	dir    string
	called []string
}

func newBench(t *testing.T, so gatewaytest.Options, o gateway.Options) *bench {
	t.Helper()
	b := &bench{T: t, Server: gatewaytest.New(t, so), dir: t.TempDir()}
	o.URL, o.HTTP = b.URL(), b.Client()
	o.OnCall = func(result string, _ time.Duration) { b.called = append(b.called, result) }
	var err error
	if b.client, err = gateway.New(o); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.path("in"), []byte(pdf), 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) call() gateway.Call {
	return gateway.Call{
		Path: b.path("in"), Format: gateway.PDF, Mapping: gateway.DefaultMapping, Accept: gateway.XML, Into: b.path("out"),
	}
}

// fails makes a call, and returns its error. No file may be left, and no text of the document may be in the error.
func (b *bench) fails(ctx context.Context, c gateway.Call) *taskerr.Error {
	b.Helper()
	_, err := b.client.Process(ctx, c)
	if err == nil {
		b.Fatal("the call succeeded")
	}
	if _, there := os.Stat(c.Into); there == nil {
		b.Error("a file is left")
	}
	e, ok := errors.AsType[*taskerr.Error](err)
	if !ok {
		b.Fatalf("not classified: %v", err)
	}
	if strings.Contains(err.Error(), "secret-text") || strings.Contains(e.Message, "2876.11") {
		b.Errorf("the error quotes a document: %v", err)
	}
	return e
}

func TestProcess(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{}, gateway.Options{})
	for _, pretty := range []bool{false, true} {
		c := b.call()
		c.Pretty = pretty
		a, err := b.client.Process(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(c.Into)
		sum := sha256.Sum256(got)
		if err != nil || string(got) != string(gatewaytest.Convert(gatewaytest.Sample, c.Mapping, pretty)) ||
			a.Bytes != int64(len(got)) || a.SHA256 != hex.EncodeToString(sum[:]) || a.Status != http.StatusOK || a.Took <= 0 {
			t.Errorf("pretty %v: %+v, %v:\n%s", pretty, a, err, got)
		}
		if err := os.Remove(c.Into); err != nil {
			t.Fatal(err)
		}
	}
	c := b.call()
	c.Accept = gateway.JSON
	if _, err := b.client.Process(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	c = gateway.Call{Path: c.Into, Format: gateway.JSON, Mapping: c.Mapping, Accept: gateway.XML, Into: b.path("xml")}
	if _, err := b.client.Process(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(c.Into)
	if err != nil || string(got) != string(gatewaytest.Convert(gatewaytest.Sample, c.Mapping, false)) {
		t.Errorf("JSON to XML: %v\n%s", err, got)
	}
	sum := sha256.Sum256([]byte(pdf))
	want := gatewaytest.Call{
		Mapping: gateway.DefaultMapping, Pretty: true, Format: "application/pdf", Accept: "application/xml",
		SHA256: hex.EncodeToString(sum[:]), Status: http.StatusOK,
	}
	if calls := b.Calls(); len(calls) != 4 || calls[1] != want {
		t.Errorf("the calls are %+v", calls)
	}
}

// TestStatuses: each status of HTTP has its code; what has GW_4XX is not retried.
func TestStatuses(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{}, gateway.Options{})
	for status := 201; status < 600; status++ {
		b.Script(gatewaytest.Status(status))
		e := b.fails(t.Context(), b.call())
		want, retried, by := gateway.Code5XX, true, taskerr.Gateway
		if status/100 == 4 {
			want, retried, by = gateway.Code4XX, false, ""
		}
		if e.Code != want || taskerr.Classes[e.Class].Retryable != retried || e.Dependency != by || e.Hint == "" {
			t.Errorf("%d: %s %s, by %q, hint %q", status, e.Class, e.Code, e.Dependency, e.Hint)
		}
		if unknown := status == 404 || status == 405; unknown != strings.Contains(e.Hint, "correct payload.mapping") {
			t.Errorf("%d: hint %q", status, e.Hint)
		}
	}
	b.Script(gatewaytest.Fault{Status: 503, Header: http.Header{"Retry-After": {"7"}}})
	if e := b.fails(t.Context(), b.call()); e.RetryAfter != 7*time.Second {
		t.Errorf("Retry-After: %v", e.RetryAfter)
	}
}

// TestBadAnswers: what has status 200 and is not the file that was asked for.
func TestBadAnswers(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{}, gateway.Options{MaxAnswer: 1 << 20})
	for name, x := range map[string]struct {
		fault gatewaytest.Fault
		says  string
		final bool
	}{
		"cut off":    {gatewaytest.CutShort, "broke", false},
		"dropped":    {gatewaytest.Dropped, "broke", false},
		"empty":      {gatewaytest.Empty, "empty", false},
		"malformed":  {gatewaytest.Malformed, "well-formed", false},
		"wrong type": {gatewaytest.WrongType, "content type", false},
		"no type":    {gatewaytest.Fault{ContentType: "x"}, "content type", false},
		"entities":   {gatewaytest.Entities, "DOCTYPE", false},
		"2 GB":       {gatewaytest.Fault{Huge: 2 << 30}, "larger than 1 MB", true},
	} {
		b.Script(x.fault)
		e := b.fails(t.Context(), b.call())
		if e.Code != gateway.Code5XX || taskerr.Classes[e.Class].Retryable == x.final || !strings.Contains(e.Message, x.says) {
			t.Errorf("%s: %v, %s", name, e, e.Code)
		}
	}
	c := b.call()
	c.Accept = gateway.JSON
	b.Script(gatewaytest.Fault{Body: []byte(`{"a":`)})
	if e := b.fails(t.Context(), c); e.Code != gateway.Code5XX || !strings.Contains(e.Message, "in the middle") {
		t.Errorf("JSON: %v", e)
	}
}

// TestNoHTTP: what is no answer of HTTP is not quoted: it may be a part of the document.
func TestNoHTTP(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"Mustermann", "HTTP/1.1 200 OK\r\nMustermann\r\n\r\n", "HTTP/1.1 Mustermann\r\n\r\n"} {
		client, err := gateway.New(gateway.Options{URL: httpurltest.Raw(t, answer)})
		if err != nil {
			t.Fatal(err)
		}
		defer client.CloseIdle()
		e := taskerr.Classify(client.Probe(t.Context()))
		if e.Code != gateway.Code5XX || !strings.Contains(e.Message, "is not HTTP") || strings.Contains(fmt.Sprint(e.Message, e.Cause), "Muster") {
			t.Errorf("%q: %v, %v", answer, e, e.Cause)
		}
	}
}

// TestHugeAnswerTakesNoMemory: 2 GB of XML are read up to the limit, and neither they nor the limit are in memory.
func TestHugeAnswerTakesNoMemory(t *testing.T) { //nolint:paralleltest // it looks at the memory of the process
	b := newBench(t, gatewaytest.Options{}, gateway.Options{MaxAnswer: 16 << 20})
	b.Script(gatewaytest.Fault{Huge: 2 << 30})
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // whatever GOGC says
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse)
			select {
			case <-stop:
				peak <- most
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	e := b.fails(t.Context(), b.call())
	close(stop)
	most := int64(<-peak) - int64(before.HeapInuse)
	if most > 12<<20 || !strings.Contains(e.Message, "larger than 16 MB") {
		t.Errorf("%v, with %d MB of heap more", e, most>>20)
	}
}

// TestRules: the stand-in refuses what the gateway refuses.
func TestRules(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{MaxFile: 100}, gateway.Options{})
	if err := os.WriteFile(b.path("large"), []byte("%PDF-"+strings.Repeat("x", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*gateway.Call){
		"400 mapping": func(c *gateway.Call) { c.Mapping = "other" },
		"400 JSON":    func(c *gateway.Call) { c.Format = gateway.JSON },
		"406":         func(c *gateway.Call) { c.Accept = "text/plain" },
		"413":         func(c *gateway.Call) { c.Path = b.path("large") },
		"415":         func(c *gateway.Call) { c.Format = "image/png" },
	} {
		c := b.call()
		change(&c)
		if e := b.fails(t.Context(), c); e.Code != gateway.Code4XX || !strings.Contains(e.Message, "HTTP "+name[:3]) {
			t.Errorf("%s: %v", name, e)
		}
	}
}

// TestFiles: a file that can't be read or written is an IO_ERROR, and not the gateway's fault.
func TestFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{}, gateway.Options{})
	for name, change := range map[string]func(*gateway.Call){
		"missing": func(c *gateway.Call) { c.Path = b.path("gone") },
		"folder":  func(c *gateway.Call) { c.Path = b.dir },
		"no room": func(c *gateway.Call) { c.Into = b.path("gone/out") },
	} {
		c := b.call()
		change(&c)
		if e := b.fails(t.Context(), c); e.Code != gateway.CodeIO || e.Dependency != "" ||
			e.Class != taskerr.TransientStorage {
			t.Errorf("%s: %v %s", name, e, e.Code)
		}
	}
}

// TestTimeout: the limit covers an answer that never comes, and one that never ends.
func TestTimeout(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]gatewaytest.Fault{
		"no answer": gatewaytest.NoAnswer, "late": {Delay: time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, gatewaytest.Options{InMemory: true}, gateway.Options{})
			b.Script(fault)
			began := time.Now()
			e := b.fails(t.Context(), b.call())
			if e.Code != gateway.CodeTimeout || e.Dependency != taskerr.Gateway || time.Since(began) != gateway.DefaultTimeout {
				t.Errorf("%s: %v %s after %v", name, e, e.Code, time.Since(began))
			}
		})
	}
}

// TestCanceled: a cancel is not a failure of the gateway.
func TestCanceled(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{}, gateway.Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	canceled := errors.New("somebody cancels")
	b.Script(gatewaytest.Fault{Hang: true, Before: func() { cancel(canceled) }})
	_, err := b.client.Process(ctx, b.call())
	if !errors.Is(err, canceled) || len(b.called) != 1 || b.called[0] != "canceled" {
		t.Errorf("%v, %v", err, b.called)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{}, gateway.Options{})
	if err := b.client.Probe(t.Context()); err != nil || b.Probes() != 1 {
		t.Errorf("up: %v, %d probes", err, b.Probes())
	}
	if err := b.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := b.client.Probe(t.Context()); err == nil {
		t.Error("it is down, and the probe succeeds")
	}
	if e := b.fails(t.Context(), b.call()); e.Code != gateway.Code5XX || e.Dependency != taskerr.Gateway {
		t.Errorf("down: %v", e)
	}
	if err := b.Start(); err != nil {
		t.Fatal(err)
	}
	other, err := gateway.New(gateway.Options{URL: b.URL(), HealthPath: "/well?x=1", HTTP: b.Client()})
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Probe(t.Context()); err == nil || !strings.Contains(taskerr.Classify(err).Hint, "GATEWAY_HEALTH_PATH") {
		t.Errorf("another path: %v", err)
	}
}

func TestRedirect(t *testing.T) {
	t.Parallel()
	r := httpurltest.NewRedirect(t, "GATEWAY_URL")
	b := newBench(t, gatewaytest.Options{}, gateway.Options{})
	c, err := gateway.New(gateway.Options{URL: r.URL, HTTP: b.Client()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Process(t.Context(), b.call())
	r.Check(t, err)
	r.Check(t, c.Probe(t.Context()))
}

func TestNew(t *testing.T) {
	t.Parallel()
	for _, o := range []gateway.Options{
		{},
		{URL: "gateway:80"},
		{URL: "ftp://x"},
		{URL: "http://x", HealthPath: "health"},
		{URL: "http://x", HealthPath: "http://y/health"},
		{URL: "http://x", HealthPath: "//y/health"},
	} {
		if _, err := gateway.New(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	for name, want := range map[string]bool{
		gateway.DefaultMapping: true, "A-1.b": true, "": false, "a b": false, "../x": false, "-a": false, "a\n": false,
		"ä": false, strings.Repeat("a", 65): false,
	} {
		if gateway.ValidMapping(name) != want {
			t.Errorf("mapping %q: %v", name, !want)
		}
	}
}

// Example shows one call.
func Example() {
	server, err := gatewaytest.Open(gatewaytest.Options{Invoice: []byte(`{"total": 12.5}`)})
	if err != nil {
		panic(err)
	}
	defer server.Close()
	dir, err := os.MkdirTemp("", "gateway")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "in.pdf"), filepath.Join(dir, "out.xml")
	if err := os.WriteFile(in, []byte("%PDF-1.7"), 0o600); err != nil {
		panic(err)
	}
	c, err := gateway.New(gateway.Options{URL: server.URL()})
	if err != nil {
		panic(err)
	}
	defer c.CloseIdle()
	_, err = c.Process(context.Background(), gateway.Call{
		Path: in, Format: gateway.PDF, Mapping: gateway.DefaultMapping, Accept: gateway.XML, Into: out,
	})
	if err != nil {
		panic(err)
	}
	f, err := os.Open(out)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	_, _ = io.Copy(os.Stdout, f)
	// Output: <?xml version="1.0" encoding="UTF-8"?><document mapping="pt_simon_invoice_v1"><total>12.5</total></document>
}
