package e2e

import (
	"errors"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
)

// reload runs the command as systemd does: with the unit's current environment.
func (w *worker) reload(env ...string) (out string, code int) {
	w.b.t.Helper()
	file, err := program()
	if err != nil {
		w.b.t.Fatal(err)
	}
	cmd := exec.CommandContext(w.b.ctx, file, "reload")
	cmd.Env = append(append(append([]string{}, w.b.env...), env...), "MAINPID="+strconv.Itoa(w.Pid()))
	text, err := cmd.CombinedOutput()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if err != nil && !failed {
		w.b.t.Fatal(err)
	}
	if failed {
		code = exit.ExitCode()
	}
	return string(text), code
}

// TestReload: wrong settings fail the command, with all problems, and change nothing; valid ones are in force for
// the next task, and the command names those that need a restart.
func TestReload(t *testing.T) {
	t.Parallel()
	b := newBed(t, "RUNTIME_DIRECTORY="+t.TempDir(), "LLM_PROVIDER=offline", "MAX_BLOB_MB=1")
	b.upload("a.md", []byte("# A\n\n"+strings.Repeat("More than a mebibyte. ", 60_000)))
	w := b.start()
	b.send(b.ingest("before", "a.md"))
	if got := b.await(b.ctx, "before"); got.Status != "failed" {
		t.Errorf("a document above MAX_BLOB_MB is %+v", got)
	}

	if out, code := w.reload("MAX_BLOB_MB=many", "POLL_MIN_MS=0"); code != 78 ||
		!strings.Contains(out, "MAX_BLOB_MB") || !strings.Contains(out, "POLL_MIN_MS") {
		t.Errorf("wrong settings: exit code %d, %s", code, out)
	}
	b.send(b.ingest("between", "a.md"))
	if got := b.await(b.ctx, "between"); got.Status != "failed" {
		t.Errorf("a reload that was refused changed something: %+v", got)
	}

	out, code := w.reload("MAX_BLOB_MB=8", "WORKER_CONCURRENCY=2", "WORKER_LEASE_TTL_SEC=90")
	if code != 0 || !strings.Contains(out, "in force now: MAX_BLOB_MB, WORKER_CONCURRENCY") ||
		!strings.Contains(out, "a restart is needed for: WORKER_LEASE_TTL_SEC") {
		t.Errorf("exit code %d, %s", code, out)
	}
	w.await("RELOADING=1")
	w.await("READY=1")
	b.send(b.ingest("after", "a.md"))
	if got := b.await(b.ctx, "after"); got.Status != "completed" {
		t.Errorf("after the reload: %+v", got)
	}
	if out, code := w.reload("MAX_BLOB_MB=8", "WORKER_CONCURRENCY=2"); code != 0 ||
		!strings.Contains(out, "no setting was changed") {
		t.Errorf("exit code %d, %s", code, out)
	}
}

// TestReloadedModel: what outlives a reload uses the settings that the command reports as in force: searches have the new
// key of the model, and new jobs the new number of attempts.
func TestReloadedModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBed(t, append(modelEnv(llmtest.New(t, llmtest.Options{})), "RUNTIME_DIRECTORY="+dir, "OPENAI_API_KEY=sk-revoked")...)
	w := b.start()
	o := b.atSocket(dir)
	const search = `{"query":"high water"}`
	o.post("/v1/search", search, http.StatusServiceUnavailable)

	if out, code := w.reload("OPENAI_API_KEY="+llmtest.Key, "RETRY_MAX_ATTEMPTS=7"); code != 0 ||
		!strings.Contains(out, "in force now: OPENAI_API_KEY, RETRY_MAX_ATTEMPTS") {
		t.Fatalf("exit code %d, %s", code, out)
	}
	w.await("RELOADING=1")
	w.await("READY=1")
	o.post("/v1/search", search, http.StatusOK)
	job := o.post("/v1/jobs", `{"type":"ingest","payload":{"filename":"none.md","document_set":"e2e"}}`, http.StatusCreated)
	if n := job["maxAttempts"]; n != 7.0 {
		t.Errorf("a job submitted after the reload has %v attempts, want 7", n)
	}
}
