package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// enqueue calls aw_enqueue; its answer is "job_id created", or the SQLSTATE of its error.
func enqueue(t *testing.T, conn *pgx.Conn, message string) string {
	t.Helper()
	var id string
	var created bool
	err := conn.QueryRow(t.Context(), `select a ->> 'job_id', (a ->> 'created')::boolean from aw_enqueue($1::jsonb) a`,
		message).Scan(&id, &created)
	if err != nil {
		return raised(err)
	}
	return fmt.Sprint(id, " ", created)
}

func TestEnqueue(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	high, normal := open(t, url, "acme", "acme-tasks-high"), open(t, url, "acme", "acme-tasks")
	conn := as(t, url, "acme")
	for _, c := range []struct {
		name, message, want string
		sent                bool
	}{
		{"a task", `{"task_id": "a", "task_type": "ingest", "payload": {"n": 1.0, "x": null}}`, "a true", true},
		{
			"the same", `{"task_type": "ingest", "payload": {"x": null, "n": 1}, "task_id": "a", "hints": {"k": 1}}`,
			"a false", false,
		},
		{
			"another payload", `{"task_id": "a", "task_type": "ingest", "payload": {"n": 2, "x": null}}`,
			"AW003", false,
		},
		{"another type", `{"task_id": "a", "task_type": "ocr", "payload": {"n": 1, "x": null}}`, "AW003", false},
		{
			"forced", `{"task_id": "a", "task_type": "ingest", "payload": {"n": 1, "x": null}, "hints": {"force": true}}`,
			"a false", true,
		},
		{
			"forced by a string", `{"task_id": "a", "task_type": "ingest", "payload": {"n": 1, "x": null}, "hints": {"force": " True"}}`,
			"a false", true,
		},
		{
			"forced by a number", `{"task_id": "a", "task_type": "ingest", "payload": {"n": 1, "x": null}, "hints": {"force": 1}}`,
			"a false", true,
		},
		{
			"not forced", `{"task_id": "a", "task_type": "ingest", "payload": {"n": 1, "x": null}, "hints": {"force": "false"}}`,
			"a false", false,
		},
		{
			"this tenant's", `{"task_id": "b", "task_type": "ingest", "payload": {}, "client_id": "acme"}`,
			"b true", true,
		},
		{
			"another tenant's", `{"task_id": "c", "task_type": "ingest", "payload": {}, "client_id": "other"}`,
			"AW004", false,
		},
		{"no payload", `{"task_id": "c", "task_type": "ingest"}`, "AW006", false},
		{"a payload that is none", `{"task_id": "c", "task_type": "ingest", "payload": [1]}`, "AW006", false},
		{"no type", `{"task_id": "c", "payload": {}}`, "AW006", false},
		{"a bad id", `{"task_id": "a b", "task_type": "ingest", "payload": {}}`, "AW006", false},
		{
			"a bad priority", `{"task_id": "c", "task_type": "ingest", "payload": {}, "priority": "urgent"}`,
			"AW006", false,
		},
		{"a bad time", `{"task_id": "c", "task_type": "ingest", "payload": {}, "run_at": "soon"}`, "AW006", false},
		{"not an object", `[]`, "AW006", false},
		{
			"later", `{"task_id": "d", "task_type": "ingest", "payload": {}, "run_at": "2099-01-01T00:00:00Z"}`,
			"d true", false,
		},
		{
			"an event", `{"specversion": "1.0", "id": "1", "source": "s", "type": "t", "data": {"job_id": "e",
			"tenant_id": "acme",
			"content_id": "f.pdf"}}`,
			"e true", true,
		},
	} {
		if got := enqueue(t, conn, c.message); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		got, err := normal.Receive(t.Context(), 9, time.Minute)
		must(t, err)
		if (len(got) == 1) != c.sent {
			t.Errorf("%s: %d messages", c.name, len(got))
		}
		for _, m := range got {
			if _, err := task.Decode(m.Text, task.Options{ClientID: "acme"}); err != nil {
				t.Errorf("%s: the message %s: %v", c.name, m.Text, err)
			}
		}
	}
	got := enqueue(t, conn, `{"task_type": "ingest", "payload": {}, "priority": "high"}`)
	if !strings.HasSuffix(got, " true") {
		t.Error(got)
	}
	if got, err := high.Receive(t.Context(), 9, time.Minute); err != nil || len(got) != 1 {
		t.Errorf("%d messages of high priority, %v", len(got), err)
	}
	// Low has no queue here: the message waits for a sweep.
	got = enqueue(t, conn, `{"task_id": "l", "task_type": "ingest", "payload": {}, "priority": "low"}`)
	if got != "l true" {
		t.Error(got)
	}
	var waiting string
	must(t, connect(t, url).QueryRow(t.Context(),
		"select string_agg(id, ' ') from jobs where message is not null and sent_at is null").Scan(&waiting))
	if waiting != "l" {
		t.Errorf("in the outbox: %q", waiting)
	}
	// A force of it is its first run while it waits. After its end the outbox can't send it again: that is told.
	const forced = `{"task_id": "l", "task_type": "ingest", "payload": {}, "priority": "low", "hints": {"force": true}}`
	if got = enqueue(t, conn, forced); got != "l false" {
		t.Error("force of a task that waits:", got)
	}
	_, err := conn.Exec(t.Context(), `select aw_request_cancel('{"client_id": "acme", "job_id": "l"}')`)
	must(t, err)
	if got = enqueue(t, conn, forced); got != "AW006" {
		t.Error("force of a task that has ended:", got)
	}
}

// TestEnqueuedJob: workers that receive the message of one enqueued job twice begin it once, with the attempts of its
// type, and another task under its id is a conflict.
func TestEnqueuedJob(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	q := open(t, url, "acme", "acme-tasks")
	const first = `{"task_id": "a", "task_type": "ingest", "payload": {"n": 1.50}}`
	if got := enqueue(t, as(t, url, "acme"), first); got != "a true" {
		t.Fatal(got)
	}
	got, err := q.Receive(t.Context(), 1, time.Minute)
	must(t, err)
	s, err := postgres.Open(t.Context(), url, postgres.Options{ClientID: "acme"})
	must(t, err)
	defer s.Close()
	begin := func(text string) store.BeginAnswer {
		decoded, err := task.Decode(text, task.Options{ClientID: "acme"})
		must(t, err)
		answer, err := s.Begin(t.Context(), store.Begin{
			Task: message.Record(decoded.Task, 5), Worker: "w", Lease: time.Minute,
		})
		must(t, err)
		return answer
	}
	if b := begin(`{"task_id": "a", "task_type": "ingest", "payload": {"n": 2}}`); b.Decision != store.Conflict {
		t.Errorf("another task: %+v", b)
	}
	var wg sync.WaitGroup
	answers := make(chan store.BeginAnswer, 8)
	for range cap(answers) {
		wg.Go(func() { answers <- begin(got[0].Text) })
	}
	wg.Wait()
	close(answers)
	runs := 0
	for b := range answers {
		if b.Decision == store.Run {
			if runs++; b.MaxAttempts != 5 || b.Fence != 1 {
				t.Errorf("%+v", b)
			}
		} else if b.Decision != store.Leased {
			t.Errorf("%+v", b)
		}
	}
	if runs != 1 {
		t.Errorf("it was begun %d times", runs)
	}
	var same bool
	must(t, connect(t, url).QueryRow(t.Context(), "select fingerprint = $1 from jobs", task.Fingerprint(task.Task{
		Type: task.Ingest, Payload: json.RawMessage(`{"n": 1.5}`),
	})).Scan(&same))
	if !same {
		t.Error("the fingerprint is not that of the task")
	}
}

// TestProcessingJobs: an insert into the view enqueues, and a select shows the tenant's jobs in the view's words.
func TestProcessingJobs(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	q := open(t, url, "acme", "acme-tasks")
	conn, other := as(t, url, "acme"), as(t, url, "other")
	var id, status string
	must(t, conn.QueryRow(t.Context(), `insert into processing_jobs (type, source_uri, payload, hints)
		values ('ingest', 'blob:a/b.pdf', '{"document_set": "s"}', '{"resolution": 1024}')
		returning id, status`).Scan(&id, &status))
	got, err := q.Receive(t.Context(), 9, time.Minute)
	must(t, err)
	if len(got) != 1 || !strings.Contains(got[0].Text, `"filename": "a/b.pdf"`) || status != "pending" {
		t.Fatalf("%s: %v", status, got)
	}
	for sql, want := range map[string]string{
		"insert into processing_jobs (type, payload, status) values ('ingest', '{}', 'completed')":          "AW006",
		"insert into processing_jobs (type, payload, client_id) values ('ingest', '{}', 'other')":           "AW004",
		"insert into processing_jobs (id, type, payload) select id, type, payload from processing_jobs":     "",
		"insert into processing_jobs (id, type, payload) select id, type, '{}'::jsonb from processing_jobs": "AW003",
		"update processing_jobs set status = 'failed'":                                                      "55000",
		"delete from processing_jobs": "55000",
		"insert into aw_queue_messages (client_id, queue, part, visible_at, body) values ('a','q',0,now(),'')": "42501",
	} {
		if _, err := conn.Exec(t.Context(), sql); raised(err) != want {
			t.Errorf("%s: %v, want %q", sql, err, want)
		}
	}
	if depth, err := q.Depth(t.Context()); err != nil || depth != 1 {
		t.Errorf("%d messages, %v", depth, err)
	}
	for who, want := range map[*pgx.Conn]int{conn: 1, other: 0} {
		var n int
		must(t, who.QueryRow(t.Context(), "select count(*) from processing_jobs where status = 'pending'").Scan(&n))
		if n != want {
			t.Errorf("%d rows, want %d", n, want)
		}
	}
}

// TestFrontendLogin: a login of a frontend's own can do what docs/postgres-queue.md says, with these grants alone.
func TestFrontendLogin(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	super := connect(t, url)
	app := "app_" + super.Config().Database
	_, err := super.Exec(t.Context(), strings.ReplaceAll(`create role APP login password 'x';
		grant usage on schema public to APP;
		grant execute on function aw_enqueue(jsonb), aw_own_processing_jobs() to APP;
		grant select, insert on processing_jobs to APP`, "APP", app))
	must(t, err)
	t.Cleanup(func() {
		_, err := connectLater(t, url).Exec(context.Background(), fmt.Sprintf("drop owned by %[1]s; drop role %[1]s", app))
		if err != nil {
			t.Error(err)
		}
	})
	if _, err := schema.Migrate(t.Context(), url, small); err != nil { // it leaves the grants
		t.Fatal(err)
	}
	conn := connect(t, stacktest.Cluster(t).URLAs(app, "x", super.Config().Database))
	const insert = "insert into processing_jobs (id, type, payload) values ('a', 'ingest', '{}')"
	if _, err := conn.Exec(t.Context(), insert); raised(err) != "AW006" {
		t.Errorf("for no client: %v", err)
	}
	_, err = conn.Exec(t.Context(), "set app.client_id = 'acme'; "+insert)
	must(t, err)
	var n int
	must(t, conn.QueryRow(t.Context(), "select count(*) from processing_jobs").Scan(&n))
	if n != 1 {
		t.Errorf("%d rows", n)
	}
	for _, sql := range []string{"select from aw_queue_messages", "select aw_queue_depth('{}')", "select from jobs"} {
		if _, err := conn.Exec(t.Context(), sql); raised(err) != "42501" {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// connectLater is connect for a cleanup, when the test's context has ended.
func connectLater(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	must(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// TestEnqueuedRow: what aw_enqueue records of a task is what its message alone would: the document that only one job
// works on at once, and the webhooks of its course that it asks for.
func TestEnqueuedRow(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	const text = `{"task_id": "%s", "task_type": "convert", "payload": {"filename": "a.pdf"},
		"webhook_url": "https://example.com/hook", "webhook_events": ["started", "progress"]}`
	if got := enqueue(t, as(t, url, "acme"), fmt.Sprintf(text, "enqueued")); got != "enqueued true" {
		t.Fatal(got)
	}
	s, err := postgres.Open(t.Context(), url, postgres.Options{ClientID: "acme"})
	must(t, err)
	defer s.Close()
	decoded, err := task.Decode(fmt.Sprintf(text, "sent"), task.Options{ClientID: "acme"})
	must(t, err)
	_, err = s.Begin(t.Context(), store.Begin{Task: message.Record(decoded.Task, 5), Worker: "w", Lease: time.Minute})
	must(t, err)
	var rows, documents int
	must(t, connect(t, url).QueryRow(t.Context(), `select count(*), count(distinct document) from jobs
		where document is not null and webhook_events @> '{started,progress}'`).Scan(&rows, &documents))
	if rows != 2 || documents != 1 {
		t.Errorf("%d rows of %d documents, want 2 of one", rows, documents)
	}
}
