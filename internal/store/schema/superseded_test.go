package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// TestPlaceOfAJobThatStartsLater: a job that was recorded long before its time has its place at that time, whichever call
// begins it. A worker of before takes a document that later jobs have made. A time to come is of no
// job that is newer.
func TestPlaceOfAJobThatStartsLater(t *testing.T) {
	t.Parallel()
	super := connect(t, stacktest.PostgresWith(t, schema.Options{Dimensions: 8}))
	call := func(what string) (answer string) {
		t.Helper()
		if err := super.QueryRow(t.Context(), "select "+what+"::text").Scan(&answer); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return answer
	}
	const begin = `{"client_id":"a","job_id":"%s","type":"ingest","payload":{},"hints":{},"priority":"normal","fingerprint":"f",
		"max_attempts":1,"worker":"w","source":{"queue":"q","message_id":"%[1]s"},"begin_id":"%[1]s","lease_ms":3600000}`
	call("set_config('app.client_id', 'a', false)")
	for _, id := range []string{"alone", "together"} {
		call(fmt.Sprintf(`aw_submit('{"client_id":"a","job_id":"%s","type":"ingest","payload":{},"hints":{},"priority":"normal",
			"fingerprint":"f","max_attempts":1,"queue":"q","message":"m","send_at":"2026-01-01T00:00:00Z"}')`, id))
	}
	if _, err := super.Exec(t.Context(), `update jobs set created_at = '2026-01-01', run_at = '2026-01-02', message = null, sent_at = now();
		insert into documents (client_id, document_set, filename, blob, active_version, task_sent_at, task_job_id)
			values ('a', 's', 'f', 'f', 1, '2026-01-01 12:00', 'newer'), ('a', 's', 'g', 'g', 1, '2026-01-03', 'newer'),
			('a', 's', 'h', 'h', 1, now() + interval '1 hour', 'newer')`); err != nil {
		t.Fatal(err)
	}
	call(`aw_begin('` + fmt.Sprintf(begin, "alone") + `')`)
	call(`aw_begin_all('{"client_id":"a","begins":[` + fmt.Sprintf(begin, "together") + `]}')`)
	if got := call("(select string_agg(id || ' ' || queued_at::date, ', ' order by id) from jobs where status = 'running')"); got !=
		"alone 2026-01-02, together 2026-01-02" {
		t.Errorf("the places are %s", got)
	}
	const stage = `{"client_id":"a","job_id":"alone","fence":1,"document_set":"s","filename":"%s","blob":"f"%s}`
	for _, c := range []struct{ filename, more, want string }{
		{"g", `,"may_be_superseded":true`, `"superseded_by": "newer"`},
		{"g", "", `"version": 1`},
		{"f", `,"may_be_superseded":true`, `"version": 1`},
		{"h", `,"may_be_superseded":true`, `"version": 1`}, // of a clock that was ahead
	} {
		if got := call(`aw_stage_document('` + fmt.Sprintf(stage, c.filename, c.more) + `')`); !strings.Contains(got, c.want) {
			t.Errorf("%s%s: %s, want %s", c.filename, c.more, got, c.want)
		}
	}
	call("(select count(aw_note_task(d, j)) from documents d, jobs j where j.id = 'alone')")
	if got := call("(select string_agg(filename || ' ' || task_job_id, ', ' order by filename) from documents)"); got !=
		"f alone, g newer, h alone" {
		t.Errorf("the newest tasks are %s", got)
	}
}

// TestPlaceOfAJobOfATransaction: a job that is enqueued within a transaction has its place when it was enqueued, not when the
// transaction began: it would count as older than what ended meanwhile.
func TestPlaceOfAJobOfATransaction(t *testing.T) {
	t.Parallel()
	super := connect(t, stacktest.PostgresWith(t, schema.Options{Dimensions: 8}))
	tx, err := super.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	const task = `{"task_id":"%s","task_type":"ingest","payload":{"filename":"f.md","document_set":"s"}}`
	for _, call := range []string{
		"set_config('app.client_id', 'a', true)", "aw_enqueue('" + fmt.Sprintf(task, "before") + "')",
		"aw_queue_ensure('{\"client_id\":\"a\",\"queue\":\"a-tasks\"}')",
		"aw_enqueue('" + fmt.Sprintf(task, "alone") + "')", "aw_enqueue_all('{\"tasks\":[" + fmt.Sprintf(task, "together") + "]}')",
	} {
		if _, err := tx.Exec(t.Context(), "select "+call); err != nil {
			t.Fatalf("%s: %v", call, err)
		}
	}
	var places string
	if err := tx.QueryRow(t.Context(), "select string_agg(id, ', ' order by id) from jobs where queued_at > now()").Scan(&places); err != nil ||
		places != "alone, before, together" {
		t.Errorf("placed after the transaction began: %q, %v", places, err)
	}
}
