package schema_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// TestFeedMigrationIsCheap: the table of events, which may be large, is not rewritten.
func TestFeedMigrationIsCheap(t *testing.T) {
	t.Parallel()
	url := stacktest.EmptyPostgres(t)
	conn := connect(t, url)
	if _, err := conn.Exec(t.Context(), oldSchema(t)+`;
		insert into jobs (client_id, id, type) values ('a', 'j', 'x');
		insert into job_events (client_id, job_id, seq, id, progress, attempt)
		select 'a', 'j', n, gen_random_uuid(), 0, 1 from generate_series(1, 10000) n`); err != nil {
		t.Fatal(err)
	}
	const file = "select pg_relation_filenode('job_events'), count(tx is null or null) from job_events"
	var before, after uint32
	var without int
	if err := conn.QueryRow(t.Context(), "select pg_relation_filenode('job_events')").Scan(&before); err != nil {
		t.Fatal(err)
	}
	if _, err := schema.Migrate(t.Context(), url, schema.Options{Dimensions: 8}); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `insert into job_events (client_id, job_id, seq, id, progress, attempt)
		values ('a', 'j', 10001, gen_random_uuid(), 0, 1)`); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRow(t.Context(), file).Scan(&after, &without); err != nil {
		t.Fatal(err)
	}
	if after != before || without != 10000 {
		t.Errorf("the file of the table was %d and is %d; %d rows have no transaction, want 10000", before, after, without)
	}
}
