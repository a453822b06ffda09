package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// operator queries a worker's HTTP endpoints.
type operator struct {
	b      *bed
	client *http.Client
	base   string
	token  string
}

// atSocket uses the socket in the worker's runtime folder.
func (b *bed) atSocket(dir string) operator {
	return operator{b: b, base: "http://localhost", client: &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(dir, "http.sock"))
		},
	}}}
}

func (o operator) ask(path string) (code int, body string) {
	o.b.t.Helper()
	req, err := http.NewRequestWithContext(o.b.ctx, http.MethodGet, o.base+path, http.NoBody)
	if err != nil {
		o.b.t.Fatal(err)
	}
	if o.token != "" {
		req.Header.Set("Authorization", "Bearer "+o.token)
	}
	resp, err := o.client.Do(req)
	if err != nil {
		o.b.t.Fatalf("%s: %v", path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		o.b.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func (o operator) expect(path string, code int, texts ...string) {
	o.b.t.Helper()
	got, body := o.ask(path)
	if got != code {
		o.b.t.Errorf("%s: %d %s, want %d", path, got, body, code)
	}
	for _, text := range texts {
		if !strings.Contains(body, text) {
			o.b.t.Errorf("%s: no %q in\n%s", path, text, body)
		}
	}
}

// scrape requests the metrics as Prometheus does, and parses them with Prometheus' parser.
func (o operator) scrape() scraped {
	o.b.t.Helper()
	code, body := o.ask("/metrics")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	if err != nil || code != http.StatusOK {
		o.b.t.Fatalf("/metrics: %d %v", code, err)
	}
	return families
}

type scraped map[string]*dto.MetricFamily

// value adds up the series of a metric with these labels (name, value, …): of a histogram their counts.
func (s scraped) value(name string, labels ...string) (sum float64) {
	for _, m := range s[name].GetMetric() {
		got := map[string]string{}
		for _, l := range m.GetLabel() {
			got[l.GetName()] = l.GetValue()
		}
		matches := true
		for i := 0; i < len(labels); i += 2 {
			matches = matches && got[labels[i]] == labels[i+1]
		}
		if matches {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sum
}

// eventually scrapes until a metric has a value: what follows a webhook (deleting the message, say) takes a moment.
func (o operator) eventually(want float64, name string, labels ...string) {
	o.b.t.Helper()
	for {
		got := o.scrape().value(name, labels...)
		if got == want {
			return
		}
		if !o.b.moment() {
			o.b.t.Fatalf("%s%v is %v, want %v", name, labels, got, want)
		}
	}
}

// TestOperators: what a worker on Azurite and Postgres reports over its socket, after a success, a retry, a failure
// and a cancel, and during its drain.
func TestOperators(t *testing.T) {
	t.Parallel()
	llm := llmtest.New(t, llmtest.Options{})
	llm.Script(llmtest.Fault{Status: http.StatusUnauthorized}) // the client doesn't retry that; the engine does
	runtime := t.TempDir()
	b := newBed(t, append(modelEnv(llm), "RUNTIME_DIRECTORY="+runtime, "RETRY_BACKOFF_MS=50",
		"HTTP_ADDR=127.0.0.1:0")...)
	b.upload("log.md", []byte("# A log\n\nShort enough for one request to the model.\n"))
	w := b.start()
	o := b.atSocket(runtime)
	if info, err := os.Stat(filepath.Join(runtime, "http.sock")); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	o.expect("/livez", http.StatusOK, "ok")
	o.expect("/readyz", http.StatusOK, "ok")
	o.expect("/readyz?verbose", http.StatusOK, "[+]settings ok since ", "[+]store ok", "[+]queue "+b.client+"-tasks ok",
		"[+]draining ok", "readyz check passed")

	b.send(b.ingest("one", "log.md"))
	if got := b.await(b.ctx, "one"); got.Type != "task.completed" || got.Attempt < 2 {
		t.Fatalf("one ended with %s in attempt %d, want a success after a retry", got.Type, got.Attempt)
	}
	b.send(b.ingest("missing", "nowhere.md"))
	b.await(b.ctx, "missing")
	b.send(`{"task_id":"brew","task_type":"brew","payload":{}}`)
	expectCanceled(b)
	o.eventually(1, "job_canceled_total", "job_type", "ingest")
	o.eventually(1, "job_failure_total", "job_type", "other", "error_class", "validation_error")
	o.eventually(2, "async_worker_queue_depth", "queue", "deadletter")
	o.eventually(0, "job_in_progress")

	retries := float64(query[int](b, "select attempts from jobs where id = 'one'") - 1)
	s := o.scrape()
	for _, want := range []struct {
		value  float64
		name   string
		labels []string
	}{
		{2, "job_enqueue_total", []string{"job_type", "ingest", "client_id", b.client}},
		{0, "job_enqueue_total", []string{"job_type", "other"}}, // refused is not accepted
		{2 + retries, "job_start_total", []string{"job_type", "ingest"}},
		{1, "job_duration_seconds", []string{"job_type", "ingest", "outcome", "succeeded"}},
		{0, "job_duration_seconds", []string{"job_type", "ingest", "outcome", "retry"}},
		{1, "async_worker_attempt_duration_seconds", []string{"job_type", "ingest", "outcome", "succeeded"}},
		{retries, "async_worker_attempt_duration_seconds", []string{"job_type", "ingest", "outcome", "retry"}},
		{retries, "job_retry_total", []string{"job_type", "ingest", "error_class", "dependency_unavailable"}},
		{1, "job_failure_total", []string{"job_type", "ingest", "error_class", "content_missing"}},
		{3, "job_attempts", []string{"job_type", "ingest"}},
		{2 + retries, "job_stage_time_seconds", []string{"job_type", "ingest", "stage", "fetching_source"}},
		{float64(query[int](b, "select count(*) from document_chunks")), "async_worker_chunks_total", nil},
		{1, "async_worker_ready", nil},
		{1, "async_worker_alive", nil},
		{4, "async_worker_slots", nil},
		{1, "async_worker_build_info", nil},
	} {
		if got := s.value(want.name, want.labels...); got != want.value {
			t.Errorf("%s%v is %v, want %v", want.name, want.labels, got, want.value)
		}
	}
	for _, name := range []string{
		"async_worker_embedding_tokens_total", "async_worker_queue_requests_total",
		"async_worker_webhook_attempts_total", "process_resident_memory_bytes", "go_goroutines",
	} {
		if s.value(name) <= 0 {
			t.Errorf("%s is %v", name, s.value(name))
		}
	}
	o.statusCommand(runtime, 0, `"ready": true`)
	o.drain(w, llm, runtime)
}

// expectCanceled cancels a job before its message arrives.
func expectCanceled(b *bed) {
	b.t.Helper()
	query[string](b, "select aw_request_cancel(jsonb_build_object('client_id', $1::text, 'job_id', 'stop', 'by', 'a "+
		"test')) ->> 'status'", b.client)
	b.send(b.ingest("stop", "log.md"))
}

// statusCommand runs `async-worker status`.
func (o operator) statusCommand(runtime string, code int, texts ...string) {
	o.b.t.Helper()
	file, err := program()
	if err != nil {
		o.b.t.Fatal(err)
	}
	cmd := exec.CommandContext(o.b.ctx, file, "status", "-o", "json")
	cmd.Env = []string{"CLIENT_ID=" + o.b.client, "RUNTIME_DIRECTORY=" + runtime, "GORACE=" + os.Getenv("GORACE")}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	if cmd.ProcessState.ExitCode() != code {
		o.b.t.Errorf("status: %v, want exit code %d\n%s%s", err, code, &out, &errOut)
	}
	for _, text := range texts {
		if !strings.Contains(out.String(), text) {
			o.b.t.Errorf("status: no %q in\n%s%s", text, &out, &errOut)
		}
	}
	if out.Len() > 0 && !json.Valid(out.Bytes()) {
		o.b.t.Errorf("status: no JSON: %s", &out)
	}
}

// drain stops the worker while a task waits for the model: it serves requests until the task is done.
func (o operator) drain(w *worker, llm *llmtest.Server, runtime string) {
	o.b.t.Helper()
	hanging, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	llm.Script(llmtest.Fault{Before: func() {
		once.Do(func() { close(hanging) })
		<-release
	}})
	o.b.upload("last.md", []byte("# The last\n\nOne that is read while the worker is stopped.\n"))
	o.b.send(o.b.ingest("last", "last.md"))
	select {
	case <-hanging:
	case <-o.b.ctx.Done():
		o.b.t.Fatal("no request came to the model")
	}
	w.signal(syscall.SIGTERM)
	for code := 0; code != http.StatusServiceUnavailable; {
		if code, _ = o.ask("/readyz"); o.b.ctx.Err() != nil {
			o.b.t.Fatal("it never drained")
		}
	}
	o.expect("/readyz", http.StatusServiceUnavailable, "failed: draining")
	o.expect("/livez", http.StatusOK, "ok")
	o.statusCommand(runtime, 69, `"draining": true`)
	if got := o.scrape().value("async_worker_draining"); got != 1 {
		o.b.t.Errorf("async_worker_draining is %v", got)
	}
	close(release)
	if err := w.exit(); err != nil {
		o.b.t.Errorf("the worker ended with %v", err)
	}
	if _, err := os.Stat(filepath.Join(runtime, "http.sock")); !errors.Is(err, os.ErrNotExist) {
		o.b.t.Errorf("the socket is still there: %v", err)
	}
	o.statusCommand(runtime, 69)
}

// TestToken: over TCP with a token, from an address that others can reach.
func TestToken(t *testing.T) {
	t.Parallel()
	port, err := stack.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	const secret = "0123456789abcdef-nobody-guesses"
	b := newBed(t, "LLM_PROVIDER=offline", fmt.Sprintf("HTTP_ADDR=0.0.0.0:%d", port), "HTTP_TOKEN="+secret)
	b.start()
	o := operator{
		b: b, base: fmt.Sprintf("http://127.0.0.1:%d", port), client: &http.Client{
			Transport: &http.Transport{DisableKeepAlives: true},
		},
	}
	o.expect("/livez", http.StatusOK)
	o.expect("/readyz", http.StatusOK)
	for _, path := range []string{"/metrics", "/status", "/readyz?verbose", "/livez?verbose", "/nowhere"} {
		o.expect(path, http.StatusUnauthorized)
	}
	o.token = secret
	o.expect("/metrics", http.StatusOK, "async_worker_build_info")
	o.expect("/status", http.StatusOK, `"client_id": "`+b.client+`"`)
	o.expect("/nowhere", http.StatusNotFound)
	_, body := o.ask("/status")
	if strings.Contains(body, secret) {
		t.Error("the token is in the answer")
	}
}
