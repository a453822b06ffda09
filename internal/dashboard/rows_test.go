package dashboard_test

import (
	"flag"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// rows is how many jobs TestRows makes; zero: it makes none.
var rows = flag.Int("rows", 0, "measure the pages with so many jobs, and ten events of each")

// pageLimit is what 19 of 20 requests of a page stay below, however many jobs there are.
const pageLimit = 200 * time.Millisecond

// TestRows measures how long each page takes with many jobs, and that none reads a large table from its beginning to its
// end: make bench ONLY=dashboard.
func TestRows(t *testing.T) {
	if *rows == 0 {
		t.Skip("no number of rows was given: make bench ONLY=dashboard")
	}
	b := newBench(t)
	w := b.furnish()
	began := time.Now()
	for _, fill := range []string{
		`insert into jobs (client_id, id, type, status, attempts, max_attempts, payload, created_at, updated_at, started_at,
			series_started_at, completed_at, progress, result, error_class, error_code, error_message, event_seq)
		select 'southhaven', 'old-' || n, 'ingest', s, 1, 3, jsonb_build_object('filename', 'file-' || n || '.pdf', 'document_set', 'archive'),
			at, at, at, at, at + interval '3 s', 100, case s when 'succeeded' then '{"chunks_embedded":3,"chunks_reused":9}'::jsonb end,
			case s when 'failed' then 'network_timeout' end, case s when 'failed' then 'INGEST_NETWORK_TIMEOUT' end,
			case s when 'failed' then 'no answer' end, 10
		from (select n, now() - n * interval '0.5 s' - interval '1 h' as at,
				case when n % 50 = 0 then 'failed' else 'succeeded' end as s from generate_series(1, $1) n) x`,
		`insert into job_events (client_id, job_id, seq, id, progress, attempt, stage)
		select 'southhaven', 'old-' || n, e, gen_random_uuid(), e * 10, 1, 'parsing' from generate_series(1, $1) n, generate_series(1, 10) e`,
		`insert into dead_letters (client_id, job_id, rejected, task_type, reason, error_class, error_message, attempts, original_message, created_at)
		select 'southhaven', 'old-' || n * 50, false, 'ingest', 'exhausted', 'network_timeout', 'no answer', 3, '{}', now() - n * interval '25 s'
		from generate_series(1, $1 / 50) n`,
	} {
		if _, err := b.super().Exec(t.Context(), fill, *rows); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.super().Exec(t.Context(), `vacuum analyze`); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d jobs and %d events in %s", *rows, *rows*10, time.Since(began).Round(time.Second))
	before := b.scanned()
	v := b.visit("operate")
	pages := w.addresses()
	pages["jobs-type"], pages["jobs-text-old"] = "jobs?q=type:ocr", "jobs?q=nothing-is-like-this"
	pages["jobs-failed-page"], pages["job-old"] = "jobs?q=status:failed+class:network_timeout", "jobs/old-100"
	pages["dead-letters-class"] = "dead-letters?class=network_timeout"
	for name, path := range pages {
		if name == "not-found" {
			continue
		}
		var took []time.Duration
		for range 20 {
			at := time.Now()
			v.want(v.get(path), http.StatusOK)
			took = append(took, time.Since(at))
		}
		slices.Sort(took)
		t.Logf("%-20s p50 %4d ms, p95 %4d ms", name, took[9].Milliseconds(), took[18].Milliseconds())
		if took[18] > pageLimit {
			t.Errorf("%s: p95 is %s, more than %s", name, took[18].Round(time.Millisecond), pageLimit)
		}
	}
	// A page that scans a table does so 20 times here, and one that reads the beginning of it 20 times a part.
	sizes := map[string]int{"jobs": *rows, "job_events": 10 * *rows, "dead_letters": *rows / 50}
	for table, tuples := range b.scanned() {
		read := tuples - before[table]
		t.Logf("%-20s %d rows, %d read by sequential scans", table, sizes[table], read)
		if sizes[table] >= 20_000 && read >= int64(sizes[table]) {
			t.Errorf("a page reads the table %s from its beginning to its end", table)
		}
	}
}

// scanned is how many rows of each table that grows were read by sequential scans. The server counts what a connection did
// once it has ended, at the latest; so all of the worker's are ended.
func (b *bench) scanned() map[string]int64 {
	b.Helper()
	conn := b.super()
	if _, err := conn.Exec(b.Context(), `select pg_terminate_backend(pid, 10000) from pg_stat_activity
		where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`); err != nil {
		b.Fatal(err)
	}
	found, err := conn.Query(b.Context(), `select relname::text, seq_tup_read from pg_stat_user_tables
		where relname in ('jobs', 'job_events', 'dead_letters')`)
	if err != nil {
		b.Fatal(err)
	}
	tuples := map[string]int64{}
	var table string
	var read int64
	if _, err := pgx.ForEachRow(found, []any{&table, &read}, func() error { tuples[table] = read; return nil }); err != nil {
		b.Fatal(err)
	}
	if len(tuples) != 3 {
		b.Fatalf("the server counts the scans of %v", tuples)
	}
	return tuples
}
