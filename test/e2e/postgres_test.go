package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/webhook/receiver"
)

// newPostgresBed returns a tenant with a database and a folder, and nothing else. env has the queue's settings.
func newPostgresBed(t *testing.T, env func(b *bed) []string) *bed {
	t.Helper()
	built(t, program)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	b := &bed{
		t: t, ctx: ctx, client: stacktest.UniqueName("e2e"), database: stacktest.Postgres(t), hooks: newHooks(t),
		folder: t.TempDir(),
	}
	b.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + t.TempDir(), "CLIENT_ID=" + b.client,
		"BLOB_BACKEND=dir", "BLOB_DIR=" + b.folder, "LLM_PROVIDER=offline", "LOG_FORMAT=text",
		"WEBHOOK_SECRET=" + receiver.Secret, "WEBHOOK_ALLOW_CIDRS=127.0.0.0/8",
	}, env(b)...)
	return b
}

// frontend is a connection of the tenant's frontend, which has a table of its own.
func (b *bed) frontend() *pgx.Conn {
	b.t.Helper()
	conn, err := pgx.Connect(b.ctx, b.database)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { conn.Close(context.Background()) })
	b.exec(conn, fmt.Sprintf(`create table orders (id text primary key); grant all on orders to async_worker;
		set role async_worker; set app.client_id = '%s'`, b.client))
	return conn
}

func (b *bed) exec(conn *pgx.Conn, sql string, args ...any) {
	b.t.Helper()
	if _, err := conn.Exec(b.ctx, sql, args...); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
}

// until waits until a query returns what it should.
func (b *bed) until(what string, want int, sql string) {
	b.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for query[int](b, sql) != want {
		select {
		case <-tick.C:
		case <-b.ctx.Done():
			b.t.Fatalf("%s: %d, want %d", what, query[int](b, sql), want)
		}
	}
}

// TestPostgresQueue: a frontend inserts its own row and a job in one transaction, both or neither, and three workers do
// each job once. The only service is Postgres.
func TestPostgresQueue(t *testing.T) {
	brings(t)
	t.Parallel()
	for name, env := range map[string]func(b *bed) []string{
		// Idle workers would poll too late: notifications wake them.
		"direct": func(b *bed) []string {
			return []string{
				"QUEUE_BACKEND=postgres", "DATABASE_URL=" + b.database, "POLL_MAX_MS=60000",
			}
		},
		"over PostgREST alone": func(b *bed) []string {
			api := stacktest.PostgREST(b.t, b.database)
			return []string{
				"QUEUE_BACKEND=postgres", "SUPABASE_URL=" + api.URL, "SUPABASE_KEY=" + api.TenantKey(b.t, b.client),
				"POLL_MAX_MS=500",
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testPostgresQueue(newPostgresBed(t, env))
		})
	}
}

func testPostgresQueue(b *bed) {
	const rows = 30
	var workers []*worker
	for range 3 {
		workers = append(workers, b.start())
	}
	frontend := b.frontend()
	for n := range rows + 1 {
		text := fmt.Sprintf("# Tides %d\n\nHigh water is at noon.\n", n)
		if err := os.WriteFile(filepath.Join(b.folder, fmt.Sprintf("%d.md", n)), []byte(text), 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	const order = `insert into orders values ($1)`
	const insert = `insert into processing_jobs (id, type, source_uri, payload, status)
		values ($1, 'ingest', 'blob:' || $2 || '.md', '{"document_set": "e2e"}', 'created')`
	for id, commit := range map[string]bool{"kept": true, "undone": false} {
		tx, err := frontend.Begin(b.ctx)
		if err == nil {
			_, err = tx.Exec(b.ctx, order, id)
		}
		if err == nil {
			_, err = tx.Exec(b.ctx, insert, id, fmt.Sprint(rows))
		}
		if err == nil && commit {
			err = tx.Commit(b.ctx)
		} else if err == nil {
			err = tx.Rollback(b.ctx)
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
	for n := range rows {
		b.exec(frontend, insert, fmt.Sprintf("row-%d", n), fmt.Sprint(n))
	}
	b.exec(frontend, `select aw_enqueue('{"task_id": "bad", "task_type": "nonsense", "payload": {}}')`)
	b.exec(frontend, fmt.Sprintf(`select aw_enqueue('%s')`, b.ingest("last", "0.md")))
	if got := b.await(b.ctx, "last"); got.Type != "task.completed" {
		b.t.Errorf("the webhook has %s", got.Type)
	}
	b.until("jobs that ended", rows+3, "select count(*)::int from jobs where completed_at is not null")
	for _, w := range workers {
		w.signal(syscall.SIGTERM)
		if err := w.exit(); err != nil {
			b.t.Errorf("a worker ended with %v", err)
		}
	}
	expect(b, "messages of tasks", 0, "select count(*)::int from aw_queue_messages where queue not like '%-deadletter'")
	expect(b, "orders", "kept", "select string_agg(id, ' ') from orders")
	expect(b, "jobs of orders", "kept",
		"select string_agg(id, ' ') from jobs where id in (select id from orders) or id = 'undone'")
	expect(b, "jobs that were done in one attempt", rows+2,
		"select count(*)::int from jobs where status = 'succeeded' and attempts = 1 and fence = 1")
	expect(b, "starts", rows+2, "select count(*)::int from job_events where stage = 'started'")
	expect(b, "copies of dead letters", 1, "select count(*)::int from aw_queue_messages where queue like '%-deadletter'")
	expect(b, "dead letters", 1, "select count(*)::int from dead_letters")
	b.t.Logf("from the insert to the start: p50 %s", query[string](b, `select percentile_cont(0.5) within group
		(order by extract(epoch from started_at - created_at) * 1000)::numeric(9, 1) || ' ms'
		from jobs where id like 'row%'`))
}

// TestPGMQ: a task that a client of Supabase Queues sends is done, and its message removed. Another process wakes the
// worker, which would look for the second one ten minutes later.
func TestPGMQ(t *testing.T) {
	brings(t)
	t.Parallel()
	b := newPostgresBed(t, func(b *bed) []string {
		return []string{"QUEUE_BACKEND=pgmq", "DATABASE_URL=" + b.database, "POLL_MIN_MS=600000", "POLL_MAX_MS=600000"}
	})
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(root, "queue", "pgmq", "testdata", "pgmq.sql"))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(b.ctx, b.database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(b.ctx)
	b.exec(conn, string(script))
	if err := os.WriteFile(filepath.Join(b.folder, "tides.md"), []byte("# Tides\n\nHigh water.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := b.start()
	for _, id := range []string{"one", "two"} {
		b.exec(conn, "select pgmq.send($1, $2::jsonb)", b.client+"-tasks", b.ingest(id, "tides.md"))
		b.exec(conn, "select aw_wake(jsonb_build_object('client_id', $1::text, 'tasks', true))", b.client)
		if got := b.await(b.ctx, id); got.Type != "task.completed" {
			t.Errorf("the webhook has %s", got.Type)
		}
	}
	w.signal(syscall.SIGTERM)
	if err := w.exit(); err != nil {
		t.Errorf("the worker ended with %v", err)
	}
	expect(b, "messages", 0, fmt.Sprintf("select count(*)::int from pgmq.%q", "q_"+b.client+"-tasks"))
}
