package postgres_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

// TestEnqueueAll: a list of tasks is taken as each of them would be alone, in order, and all or none.
func TestEnqueueAll(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	normal, high := open(t, url, "acme", "acme-tasks"), open(t, url, "acme", "acme-tasks-high")
	conn := as(t, url, "acme")
	all := func(tasks ...string) string {
		t.Helper()
		var answers []struct {
			ID      string `json:"job_id"`
			Created bool   `json:"created"`
		}
		var raw json.RawMessage
		err := conn.QueryRow(t.Context(), "select aw_enqueue_all($1::jsonb)",
			`{"tasks":[`+strings.Join(tasks, ",")+`]}`).Scan(&raw)
		if err != nil {
			return raised(err)
		}
		must(t, json.Unmarshal(raw, &answers))
		var text strings.Builder
		for _, a := range answers {
			fmt.Fprint(&text, a.ID, " ", a.Created, ";")
		}
		return text.String()
	}
	one := func(id, more string) string {
		return fmt.Sprintf(`{"task_id":%q,"task_type":"ingest","payload":{"n":null}%s}`, id, more)
	}
	for _, c := range []struct {
		name, want string
		tasks      []string
		sent, high int
	}{
		{"new ones", "b true;a true;c true;", []string{one("b", ""), one("a", ""), one("c", `,"priority":"high"`)}, 2, 1},
		{"new and known", "a false;d true;", []string{one("a", ""), one("d", `,"client_id":"acme"`)}, 1, 0},
		{"twice", "e true;e false;", []string{one("e", ""), one("e", "")}, 1, 0},
		{"forced", "a false;", []string{one("a", `,"hints":{"force":true}`)}, 1, 0},
		{"later, and without a queue", "f true;g true;", []string{one("f", `,"run_at":"2099-01-01T00:00:00Z"`), one("g", `,"priority":"low"`)}, 0, 0},
		{
			"an event", "h true;",
			[]string{`{"specversion":"1.0","id":"1","source":"s","type":"t","data":{"job_id":"h","content_id":"f"}}`},
			1, 0,
		},
		{"none", "", nil, 0, 0},
		{"one is refused", "AW006", []string{one("i", ""), one("not an id", "")}, 0, 0},
		{"one is no task", "AW006", []string{one("i", ""), "7"}, 0, 0},
		{"one is another task", "AW003", []string{one("i", ""), `{"task_id":"a","task_type":"ocr","payload":{}}`}, 0, 0},
		{"one is another tenant's", "AW004", []string{one("i", ""), one("j", `,"client_id":"other"`)}, 0, 0},
		{"after all that", "i true;", []string{one("i", "")}, 1, 0},
	} {
		if got := all(c.tasks...); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		got, err := normal.Receive(t.Context(), 9, time.Minute)
		must(t, err)
		urgent, err := high.Receive(t.Context(), 9, time.Minute)
		must(t, err)
		if len(got) != c.sent || len(urgent) != c.high {
			t.Errorf("%s: %d and %d messages, want %d and %d", c.name, len(got), len(urgent), c.sent, c.high)
		}
	}
	if got := all(one("", "")[:1] + `"task_type":"ingest","payload":{}}`); !strings.HasSuffix(got, " true;") {
		t.Errorf("without an id: %q", got)
	}
	if got := enqueue(t, conn, one("alone", "")); got != "alone true" {
		t.Error(got)
	}
	var different int
	must(t, connect(t, url).QueryRow(t.Context(), `select count(distinct (status, type, priority, payload, hints, queue, document,
		webhook_events, message, max_attempts)) from jobs where id in ('a', 'alone')`).Scan(&different))
	if different != 1 {
		t.Errorf("a row of the list differs from one that was enqueued alone")
	}
}
