package pgmq_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
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
