package pgmq_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/pgmq"
	"github.com/seed-7227ef26/async-worker/queue/queuetest"
)

func TestMain(m *testing.M) { stacktest.Main(m, leaktest.Find) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// install returns a database with pgmq, and a connection to it.
func install(t *testing.T) (string, *pgx.Conn) {
	t.Helper()
	url := stacktest.EmptyPostgres(t)
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	t.Cleanup(func() { conn.Close(t.Context()) })
	script, err := os.ReadFile("testdata/pgmq.sql")
	must(t, err)
	_, err = conn.Exec(t.Context(), string(script))
	must(t, err)
	return url, conn
}

func open(t *testing.T, url string) queue.Service {
	t.Helper()
	s, err := pgmq.Open(url, pgmq.Options{})
	must(t, err)
	return s
}

func TestConformance(t *testing.T) {
	t.Parallel()
	url, _ := install(t)
	queuetest.Run(t, func(t *testing.T) queue.Service { return open(t, url) }, queuetest.Options{})
}

// A message that another client sends as an object is read as its JSON.
func TestForeignMessages(t *testing.T) {
	t.Parallel()
	url, conn := install(t)
	service := open(t, url)
	defer service.Close()
	q := service.Queue("acme-tasks")
	must(t, q.Ensure(t.Context()))
	_, err := conn.Exec(t.Context(), `select pgmq.send('acme-tasks', '{"task_id": "a"}')`)
	must(t, err)
	got, err := q.Receive(t.Context(), 1, time.Minute)
	must(t, err)
	if len(got) != 1 || got[0].Text != `{"task_id": "a"}` {
		t.Errorf("%v", got)
	}
}

// TestGiantMessages: of a text that is longer than any task's no more is read than shows that; those behind it come, too.
func TestGiantMessages(t *testing.T) {
	t.Parallel()
	url, conn := install(t)
	service := open(t, url)
	defer service.Close()
	q := service.Queue("acme-tasks")
	must(t, q.Ensure(t.Context()))
	for _, message := range []string{"to_jsonb(repeat('ü', 3000000))", "jsonb_build_object('a', repeat('x', 3000000))", "to_jsonb('small'::text)"} {
		_, err := conn.Exec(t.Context(), "select pgmq.send('acme-tasks', "+message+")")
		must(t, err)
	}
	peeked, err := q.Peek(t.Context(), 3)
	must(t, err)
	got, err := q.Receive(t.Context(), 3, time.Minute)
	must(t, err)
	if len(peeked) != 3 || len(got) != 3 || got[2].Text != "small" {
		t.Fatalf("peeked %d and received %d messages", len(peeked), len(got))
	}
	for _, m := range got[:2] {
		if n := utf8.RuneCountInString(m.Text); n != task.MaxBytes+1 {
			t.Errorf("%d characters of a giant message", n)
		}
	}
}

// Another client's header with our name, whatever is in it, holds up no message.
func TestForeignHeader(t *testing.T) {
	t.Parallel()
	url, conn := install(t)
	service := open(t, url)
	defer service.Close()
	q := service.Queue("acme-tasks")
	must(t, q.Ensure(t.Context()))
	for _, header := range []string{`"tomorrow"`, `"2026-13-45"`, `1e400`, `null`, `{}`, `"infinity"`, `"2099-02-31T00:00:00+00:00"`} {
		_, err := conn.Exec(t.Context(), `select pgmq.send('acme-tasks', '{}',
			jsonb_build_object('async-worker-expires-at', $1::jsonb))`, header)
		must(t, err)
		if peeked, err := q.Peek(t.Context(), 1); err != nil || len(peeked) != 1 {
			t.Errorf("%s: peeked %v, %v", header, peeked, err)
		}
		got, err := q.Receive(t.Context(), 1, time.Minute)
		must(t, err)
		if len(got) != 1 {
			t.Fatalf("%s: got %v", header, got)
		}
		must(t, got[0].Lease.Delete(t.Context()))
	}
}

// The version before wrote the time at which a message expires as text: such a message still expires.
func TestExpiryOfBefore(t *testing.T) {
	t.Parallel()
	url, conn := install(t)
	service := open(t, url)
	defer service.Close()
	q := service.Queue("acme-tasks")
	must(t, q.Ensure(t.Context()))
	_, err := conn.Exec(t.Context(), `select pgmq.send('acme-tasks', '{}', jsonb_build_object('async-worker-expires-at', t))
		from unnest(array[clock_timestamp() - interval '1 second', clock_timestamp() + interval '1 hour']) t`)
	must(t, err)
	got, err := q.Receive(t.Context(), 2, time.Minute)
	must(t, err)
	if len(got) != 1 || time.Until(got[0].ExpiresAt).Round(time.Minute) != time.Hour {
		t.Errorf("got %v", got)
	}
}

// A queue that may lose messages is told of, once; one that the worker or pgmq.create makes is not.
func TestRisks(t *testing.T) {
	t.Parallel()
	url, conn := install(t)
	for name, c := range map[string]struct {
		sql  string
		want string
	}{
		"Made-Here":      {"", ""},
		"By-Pgmq":        {`select pgmq.create('By-Pgmq')`, ""},
		"Unlogged":       {`select pgmq.create_unlogged('Unlogged')`, "unlogged"},
		"Unlogged-Since": {`select pgmq.create('Unlogged-Since'); alter table pgmq."q_unlogged-since" set unlogged`, "unlogged"},
		"Logged-Since":   {`select pgmq.create_unlogged('Logged-Since'); alter table pgmq."q_logged-since" set logged`, ""},
		"Partitioned": {`create table pgmq.q_partitioned (msg_id bigint) partition by range (msg_id);
			insert into pgmq.meta (queue_name, is_partitioned, is_unlogged) values ('Partitioned', true, false)`, "pg_partman"},
	} {
		_, err := conn.Exec(t.Context(), c.sql)
		must(t, err)
		var risks []string
		service, err := pgmq.Open(url, pgmq.Options{OnRisk: func(risk string) { risks = append(risks, risk) }})
		must(t, err)
		q := service.Queue(name)
		must(t, errors.Join(q.Ensure(t.Context()), q.Ensure(t.Context()), service.Close()))
		if c.want == "" && len(risks) > 0 || c.want != "" &&
			(len(risks) != 1 || !strings.Contains(risks[0], c.want) || !strings.Contains(risks[0], name)) {
			t.Errorf("%s: told %q, want %q once", name, risks, c.want)
		}
	}
}

// Without the extension the error says what to do.
func TestNotInstalled(t *testing.T) {
	t.Parallel()
	service := open(t, stacktest.EmptyPostgres(t))
	defer service.Close()
	err := service.Queue("acme-tasks").Ensure(t.Context())
	if !errors.Is(err, queue.ErrSetting) || !strings.Contains(err.Error(), "create extension pgmq") {
		t.Error(err)
	}
}
