package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

// TestForeignPostgres: tasks of psql, of psycopg and of supabase-js over PostgREST, by aw_enqueue and as rows of
// processing_jobs.
func TestForeignPostgres(t *testing.T) {
	brings(t)
	t.Parallel()
	for name, scenario := range map[string]func(b *bed){
		"psql": psqlTasks, "psycopg": psycopgTasks, "psycopg, a row and its job": psycopgTransaction,
		"supabase-js": supabaseTasks,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newPostgresBed(t, func(b *bed) []string {
				return []string{"QUEUE_BACKEND=postgres", "DATABASE_URL=" + b.database, "POLL_MAX_MS=60000"}
			})
			for _, file := range []string{"a.md", "b.md"} {
				text := []byte("# Tides of " + file + "\n\nHigh water is at noon.\n")
				if err := os.WriteFile(filepath.Join(b.folder, file), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			scenario(b)
		})
	}
}

// succeeded waits for jobs and checks that each was done once.
func (b *bed) succeeded(jobs ...string) {
	b.t.Helper()
	list := "'" + strings.Join(jobs, "', '") + "'"
	b.until("jobs that succeeded", len(jobs), "select count(*)::int from jobs where status = 'succeeded' "+
		"and attempts = 1 and id in ("+list+")")
	expect(b, "jobs", len(jobs), "select count(*)::int from jobs")
}

func psqlTasks(b *bed) {
	psql, err := exec.LookPath("psql")
	if err != nil {
		b.t.Skip("SKIPPED: psql is not installed")
	}
	b.start()
	cmd := exec.CommandContext(b.ctx, psql, b.database, "-v", "ON_ERROR_STOP=1", "-v", "client="+b.client, "-X", "-q")
	cmd.Stdin = strings.NewReader(`set role async_worker;
		select set_config('app.client_id', :'client', false);
		select aw_enqueue('{"task_id": "one", "task_type": "ingest",
			"payload": {"filename": "a.md", "document_set": "e2e"}}');
		insert into processing_jobs (id, type, source_uri, payload, status)
		values ('two', 'ingest', 'blob:b.md', '{"document_set": "e2e"}', 'queued');`)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("psql: %v\n%s", err, out)
	}
	b.succeeded("one", "two")
}

// psycopg runs the client with psycopg.
func (b *bed) psycopg(in string, args ...string) string {
	b.t.Helper()
	foreignTool(b.t, "psycopg.version")
	return b.foreign("bin/python", []string{"DATABASE_URL=" + b.database, "CLIENT_ID=" + b.client}, in,
		append([]string{"testdata/psycopg_client.py"}, args...)...)
}

func psycopgTasks(b *bed) {
	foreignTool(b.t, "psycopg.version")
	b.start()
	if got := b.psycopg(b.ingest("one", "a.md"), "enqueue"); got != "one\n" {
		b.t.Errorf("aw_enqueue returned %q", got)
	}
	b.psycopg("", "insert", "two", "b.md")
	b.succeeded("one", "two")
}

func psycopgTransaction(b *bed) {
	foreignTool(b.t, "psycopg.version")
	b.frontend() // makes the table orders
	b.start()
	b.psycopg("", "order", "undone", "a.md", "rollback")
	b.psycopg("", "order", "kept", "b.md", "commit")
	b.succeeded("kept")
	expect(b, "orders", "kept", "select string_agg(id, ' ') from orders")
}

func supabaseTasks(b *bed) {
	foreignTool(b.t, "supabase-js.version")
	api := stacktest.PostgREST(b.t, b.database)
	b.start()
	cmd := exec.CommandContext(b.ctx, "node", "testdata/supabase_client.mjs", "a.md")
	cmd.Env = append(os.Environ(), "SUPABASE_URL="+api.URL, "SUPABASE_KEY="+api.TenantKey(b.t, b.client),
		"CLIENT_ID="+b.client, "MODULES="+foreignTool(b.t, "node"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("supabase-js: %v\n%s", err, out)
	}
	if got := string(out); !strings.Contains(got, "by-row completed, by-rpc completed") {
		b.t.Errorf("supabase-js sees %s", got)
	}
}
