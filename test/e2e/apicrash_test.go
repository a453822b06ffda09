package e2e

import (
	"context"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestAPICrash: a job that was recorded, and whose worker died before it sent the message, runs once when a worker starts
// again. A job that waits for its time makes the row that such a crash leaves: recorded with its message, which was not
// sent. Another one is canceled while it waits, and never runs.
func TestAPICrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBed(t, "LLM_PROVIDER=offline", "RUNTIME_DIRECTORY="+dir)
	w := b.start()
	b.upload("notes.md", []byte("# Tides\n\nTwice a month the water is highest.\n"))
	o := b.atSocket(dir)
	later := `"type":"ingest","runAt":"` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) +
		`","payload":{"document_set":"e2e","filename":`
	o.post("/v1/jobs", `{"id":"crashed",`+later+`"notes.md"}}`, http.StatusCreated)
	o.post("/v1/jobs", `{"id":"unwanted",`+later+`"other.md"}}`, http.StatusCreated)
	if j := o.post("/v1/jobs/unwanted/cancel", "", http.StatusAccepted); j["status"] != "canceled" {
		t.Errorf("canceled: %v", j)
	}
	w.signal(syscall.SIGKILL)
	if err := w.exit(); err == nil {
		t.Error("the worker ended well")
	}
	conn, err := pgx.Connect(b.ctx, b.database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, sql := range []string{
		"set session_replication_role = replica", // no trigger sets updated_at
		"update jobs set run_at = null, updated_at = now() - interval '1 hour' where id = 'crashed' and sent_at is null",
	} {
		done, err := conn.Exec(b.ctx, sql)
		if err != nil || done.Update() && done.RowsAffected() != 1 {
			t.Fatalf("%s: %v, %v", sql, done, err)
		}
	}
	b.start()
	events, stop := b.atSocket(dir).follow("/v1/jobs/crashed/events")
	defer stop()
	begun, done := 0, 0
	for e := range events { // it ends with the job
		switch e["stage"] {
		case "started":
			begun++
		case "completed":
			done++
		}
	}
	if begun != 1 || done != 1 {
		t.Errorf("the job began %d times and completed %d times", begun, done)
	}
	expect(b, "attempts", 1, "select attempts::int from jobs where id = 'crashed'")
	expect(b, "events of the canceled one", 0, "select count(*)::int from job_events where job_id = 'unwanted' and stage = 'started'")
}
