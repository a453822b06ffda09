package schema_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// jobsOfBefore makes own_jobs as schema version 22 had it at first, and a view of a frontend that stands on it.
const jobsOfBefore = `
	drop function aw_own_jobs() cascade;
	create function aw_own_jobs() returns table (client_id text, id text, type text, status text, stage text, progress integer,
		attempts integer, max_attempts integer, priority text, payload jsonb, hints jsonb, error_class text, error_code text,
		error_message text, result jsonb, requested_by text, parent_job_id text, created_at timestamptz, updated_at timestamptz,
		started_at timestamptz, completed_at timestamptz)
	language sql stable security definer rows 1000 set search_path = pg_catalog, pg_temp as $$
		select client_id, id, type, status, stage, progress, attempts, max_attempts, priority, payload, hints, error_class, error_code,
			error_message, result, requested_by, parent_job_id, created_at, updated_at, started_at, completed_at
		from public.jobs where client_id = (select public.aw_bound())
	$$;
	create view own_jobs as select * from aw_own_jobs();
	create view my_failures as select id, error_message from own_jobs where status = 'failed';
	insert into jobs (client_id, id, type, status, attempts, max_attempts, worker, error_class, error_message, completed_at)
		values ('a', 'j', 'ingest', 'failed', 3, 3, 'w', 'timeout', 'late', now())`

// TestViewsGrow: a view gets its new columns at its end, and what a frontend's owner built on it stays.
func TestViewsGrow(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: 8})
	conn := connect(t, url)
	if _, err := conn.Exec(t.Context(), jobsOfBefore); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := schema.Migrate(t.Context(), url, schema.Options{Dimensions: 8}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Exec(t.Context(), "set app.client_id = 'a'"); err != nil {
		t.Fatal(err)
	}
	var text string
	if err := conn.QueryRow(t.Context(), "select x::text from my_failures x").Scan(&text); err != nil ||
		text != "(j,late)" {
		t.Errorf("the view of before: %s, %v", text, err)
	}
	var columns []string
	if err := conn.QueryRow(t.Context(), `select array_agg(attname order by attnum) from pg_attribute
		where attrelid = 'own_jobs'::regclass and attnum > 0`).Scan(&columns); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(columns[20:],
		" "); got != "completed_at error_type retry_count processing_time_ms worker_id cancel_requested" {
		t.Errorf("the view ends with %s", got)
	}
	if err := conn.QueryRow(t.Context(),
		"select concat_ws(' ', error_type, retry_count, worker_id, cancel_requested) from own_jobs").
		Scan(&text); err != nil || text != "timeout 2 w f" {
		t.Errorf("the failure is shown as %q, %v", text, err)
	}
}
