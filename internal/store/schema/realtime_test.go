package schema_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// mayJoin asks as Realtime's server does (get_read_policies_for_connection of lib/realtime/tenants/authorization.ex)
// whether a subscriber with these claims may join a private topic.
func mayJoin(t *testing.T, conn *pgx.Conn, role, claims, topic string) bool {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	var id string
	if err := tx.QueryRow(t.Context(), "insert into realtime.messages (topic, extension) values ($1, 'broadcast') "+
		"returning id::text", topic).Scan(&id); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `select set_config('role', $1, true), set_config('realtime.topic', $2, true),
		set_config('request.jwt.claims', $3, true)`, role, topic, claims); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRow(t.Context(), "select count(*) from realtime.messages where id = $1::uuid", id).
		Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n == 1
}

// published is what Realtime's server reads of the publication since it was asked last, by pgoutput.
func published(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	var text string
	if err := conn.QueryRow(t.Context(),
		`select coalesce(string_agg(encode(data, 'escape'), ' ' order by lsn), '') from pg_logical_slot_get_binary_changes(
		'realtime', null, null, 'proto_version', '2', 'publication_names', 'supabase_realtime_messages_publication')`).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

// sends is why a signed-in user may not write to a topic, though it be his tenant's; empty: he may.
func sends(t *testing.T, conn *pgx.Conn, topic string) string {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), `select set_config('role', 'authenticated', true), set_config('realtime.topic', $1, true),
		set_config('request.jwt.claims', '{"client_id":"southhaven"}', true)`, topic); err != nil {
		t.Fatal(err)
	}
	_, err = tx.Exec(t.Context(), "insert into realtime.messages (topic, extension, event, payload, private) values "+
		"($1, 'broadcast', 'job_event', '{}', true)", topic)
	return code(err)
}

// waitsForNobody: while somebody keeps Realtime's table locked, a task's events are written all the same.
func waitsForNobody(t *testing.T, conn *pgx.Conn, url string, write, end func(string)) {
	t.Helper()
	locker := connect(t, url)
	if _, err := locker.Exec(t.Context(), "begin; lock table realtime.messages"); err != nil {
		t.Fatal(err)
	}
	// without the limit it would wait for good
	if _, err := conn.Exec(t.Context(), "set statement_timeout = '20s'"); err != nil {
		t.Fatal(err)
	}
	write("patient")
	end("commit")
	if _, err := locker.Exec(t.Context(), "rollback"); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := conn.QueryRow(t.Context(), "select count(*) from job_events where job_id = 'patient'").
		Scan(&n); err != nil || n != 1 {
		t.Errorf("behind a lock of Realtime's table %d events were written, %v", n, err)
	}
}

// readsAsAuthenticated: by the one line of docs/frontend.md a signed-in user is a reader of the tenant that his claims
// name.
func readsAsAuthenticated(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	rows := func(claims string) string {
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback(t.Context()) }()
		if _, err := tx.Exec(t.Context(),
			"select set_config('role', 'authenticated', true), set_config('request.jwt.claims', $1, true)",
			claims); err != nil {
			t.Fatal(err)
		}
		var ids string
		if err := tx.QueryRow(t.Context(), "select coalesce(string_agg(id, ' '), '') from own_jobs").
			Scan(&ids); err != nil {
			return code(err)
		}
		return ids
	}
	if got := rows(`{"client_id":"southhaven"}`); got != "42501" {
		t.Errorf("before it is allowed, a user reads %q", got)
	}
	if _, err := conn.Exec(t.Context(), "grant async_worker_reader to authenticated"); err != nil {
		t.Fatal(err)
	}
	for claims, want := range map[string]string{
		`{"client_id":"southhaven"}`: "told", `{"client_id":"northport"}`: "",
		`{}`: "",
	} {
		if got := rows(claims); got != want {
			t.Errorf("a user with %s reads %q, want %q", claims, got, want)
		}
	}
}

// TestRealtime: with --realtime, what is written of a job's events, and committed, is what Realtime's server gets to
// broadcast, and only subscribers of the tenant may join its topic. Realtime's trouble is nobody else's.
func TestRealtime(t *testing.T) {
	t.Parallel()
	// decoding reads what is on disk
	server, err := stack.StartPostgres(t.Context(), stack.PostgresOptions{
		Memory: true, Durable: true, Settings: []string{"wal_level=logical"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	conn := connect(t, server.URL("postgres"))
	o := schema.Options{Dimensions: 8, Realtime: true}
	if _, err := schema.Migrate(t.Context(), server.URL("postgres"), o); err == nil ||
		!strings.Contains(err.Error(), "realtime.send") {
		t.Errorf("without Realtime: %v", err)
	}
	vendored, err := os.ReadFile("testdata/realtime.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		string(vendored),
		"select pg_create_logical_replication_slot('realtime', 'pgoutput')",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	for _, realtime := range []bool{false, true, false} { // nothing is broadcast before, and all after it was asked for
		o.Realtime = realtime
		if _, err := schema.Migrate(t.Context(), server.URL("postgres"), o); err != nil {
			t.Fatal(err)
		}
	}
	write := func(job string) {
		t.Helper()
		for _, sql := range []string{
			"begin", "set local role async_worker", "set local app.client_id = 'southhaven'",
			fmt.Sprintf(`select aw_begin('{"client_id":"southhaven","job_id":"%s","type":"ingest","payload":{},"hints":{},"priority":"normal","fingerprint":"f",
				"max_attempts":3,"worker":"w","source":{"queue":"q","message_id":"%[1]s"},"original_message":"{}","begin_id":"b","lease_ms":60000}')`, job),
		} {
			if _, err := conn.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
	}
	end := func(how string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), how); err != nil {
			t.Fatal(err)
		}
	}
	write("told")
	end("commit")
	if got := published(t, conn); !strings.Contains(got, "async-worker:southhaven") ||
		!strings.Contains(got, `"job_id": "told"`) || !strings.Contains(got, `"stage": "started"`) {
		t.Errorf("Realtime reads %s", got)
	}
	write("undone")
	end("rollback")
	if got := published(t, conn); strings.Contains(got, "undone") {
		t.Errorf("Realtime reads what was rolled back: %s", got)
	}

	// What else a project may allow its users.
	if _, err := conn.Exec(t.Context(), "create policy r on realtime.messages for select to authenticated using "+
		"(true); "+
		"create policy w on realtime.messages for insert to authenticated with check (true)"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		claims, topic string
		may           bool
	}{
		{`{"role":"authenticated","client_id":"southhaven"}`, "async-worker:southhaven", true},
		{`{"role":"authenticated","client_id":"northport"}`, "async-worker:southhaven", false},
		{`{"role":"authenticated"}`, "async-worker:southhaven", false},
		{`{"role":"authenticated"}`, "async-worker:", false},
		{`{"role":"authenticated","client_id":"southhaven"}`, "jobs", true}, // by the project's own policy
		{`{"role":"authenticated","client_id":"%"}`, "async-worker:southhaven", false},
		{``, "async-worker:southhaven", false},
	} {
		if got := mayJoin(t, conn, "authenticated", c.claims, c.topic); got != c.may {
			t.Errorf("%s may join %s: %v", c.claims, c.topic, got)
		}
	}

	for topic, want := range map[string]string{"async-worker:southhaven": "42501", "chat": ""} {
		if got := sends(t, conn, topic); got != want {
			t.Errorf("a user sends to %s: %q, want %q", topic, got, want)
		}
	}
	readsAsAuthenticated(t, conn)
	waitsForNobody(t, conn, server.URL("postgres"), write, end)

	if _, err := conn.Exec(t.Context(), "drop function realtime.send"); err != nil {
		t.Fatal(err)
	}
	write("alone")
	end("commit")
	var status string
	if err := conn.QueryRow(t.Context(), "select status from jobs where id = 'alone'").Scan(&status); err != nil ||
		status != "running" {
		t.Errorf("without Realtime's function the job is %q, %v", status, err)
	}
	// as of a restored copy
	if _, err := schema.Migrate(t.Context(), server.URL("postgres"), schema.Options{Dimensions: 8}); err != nil {
		t.Errorf("a database that has no Realtime any more: %v", err)
	}
}
