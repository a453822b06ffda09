package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

// TestEnqueueOverPostgREST: the body of a request is the message, or an object with it as p, which was the parameter's
// name before.
func TestEnqueueOverPostgREST(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	api := stacktest.PostgREST(t, url)
	q := open(t, url, "acme", "acme-tasks")
	worker := api.TenantKey(t, "acme")
	const task = `{"task_id":"ID","task_type":"ingest","payload":{"p":{"n":1}}}`
	message := func(id string) string { return strings.ReplaceAll(task, "ID", id) }
	sent := 0
	for _, c := range []struct {
		name, key, call, body, want string
		sent                        int
	}{
		{"the message", worker, "aw_enqueue", message("a"), `{"job_id":"a","created":true}`, 1},
		{"the message as p", worker, "aw_enqueue", `{"p":` + message("b") + `}`, `{"job_id":"b","created":true}`, 1},
		{"the same task again", worker, "aw_enqueue", `{"p":` + message("a") + `}`, `{"job_id":"a","created":false}`, 0},
		{
			"an event", worker, "aw_enqueue", `{"specversion":"1.0","id":"1","source":"s","type":"t","data":{"job_id":"e","content_id":"f.pdf"}}`,
			`{"job_id":"e","created":true}`, 1,
		},
		{
			"the service key", api.ServiceKey(t), "aw_enqueue", `{"client_id":"acme",` + message("s")[1:],
			`{"job_id":"s","created":true}`, 1,
		},
		{"more than p", worker, "aw_enqueue", `{"p":` + message("c") + `,"q":1}`, `AW006`, 0},
		{"a p that is no object", worker, "aw_enqueue", `{"p":"` + "c" + `"}`, `AW006`, 0},
		{"a p within p", worker, "aw_enqueue", `{"p":{"p":` + message("c") + `}}`, `AW006`, 0},
		{"a list", worker, "aw_enqueue", `[` + message("c") + `]`, `AW006`, 0},
		{"nothing", worker, "aw_enqueue", `{}`, `AW006`, 0},
		{"another's", worker, "aw_enqueue", `{"client_id":"other",` + message("c")[1:], `AW004`, 0},
		{"a reader's key", api.ReaderKey(t, "acme"), "aw_enqueue", message("c"), `42501`, 0},
		{"no key", "", "aw_enqueue", message("c"), `42501`, 0},
		{
			"many", worker, "aw_enqueue_all", `{"tasks":[` + message("m") + `,` + message("n") + `]}`,
			`[{"job_id":"m","created":true},{"job_id":"n","created":true}]`, 2,
		},
		{
			"many as p", worker, "aw_enqueue_all", `{"p":{"tasks":[` + message("m") + `,` + message("o") + `]}}`,
			`[{"job_id":"m","created":false},{"job_id":"o","created":true}]`, 1,
		},
		{"many as p, one as p", worker, "aw_enqueue_all", `{"tasks":[{"p":` + message("c") + `}]}`, `AW006`, 0},
	} {
		_, body := ask(t, api, c.key, "POST", "rpc/"+c.call, c.body)
		if !strings.Contains(tight(body), c.want) {
			t.Errorf("%s: %s, want %s", c.name, body, c.want)
		}
		sent += c.sent
		if depth, err := q.Depth(t.Context()); err != nil || depth != sent {
			t.Fatalf("%s: %d messages, %v, want %d", c.name, depth, err, sent)
		}
	}
}

// TestClaimCheckIsSent: a claim check has no job before a worker has read its blob. The refusal names the function that
// sends it, and that does.
func TestClaimCheckIsSent(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	q := open(t, url, "acme", "acme-tasks")
	conn := as(t, url, "acme")
	const claim = `{"task_id": "a", "task_type": "ingest", "claim_check": {"blob": "tasks/a.json"}}`
	if _, err := conn.Exec(t.Context(), "select aw_enqueue($1::jsonb)", claim); raised(err) != "AW006" ||
		!strings.Contains(err.Error(), "aw_queue_send") {
		t.Errorf("it is enqueued: %v", err)
	}
	_, err := conn.Exec(t.Context(), "select aw_queue_send(jsonb_build_object('client_id', 'acme', 'queue', 'acme-tasks', 'text', $1::text))", claim)
	must(t, err)
	got, err := q.Receive(t.Context(), 9, time.Minute)
	must(t, err)
	if len(got) != 1 || got[0].Text != claim {
		t.Errorf("the queue has %+v", got)
	}
}
