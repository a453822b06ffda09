package e2e

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
)

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

// TestToken: over TCP with a token, from an address that others can reach.
func TestToken(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil { // free for the worker, unless another process takes it
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
