package events_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestLongResult: the events of a job are read without its result, which may be long, but for that of its end.
func TestLongResult(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	h := begin(t, b.store, "ocr")
	for page := range 9 {
		progress(t, b.store, h, page+1)
	}
	conn := connect(t, b.url)
	if _, err := conn.Exec(t.Context(), `update jobs set result = jsonb_build_object('text', x), checkpoint = to_jsonb(x)
		from (select string_agg(md5(n::text), '') as x from generate_series(1, 20000) n) y`); err != nil {
		t.Fatal(err)
	}
	conn = connect(t, b.url) // whose statistics have nothing of the update
	claim, err := b.store.ClaimPublisher(t.Context(), "w", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	events, pages, held := 0, 0, true
	for held { // by a transaction of another test on this server
		events, pages, held = outgoing(t, conn, claim.Fence)
	}
	if events != 10 || pages > 100 {
		t.Errorf("%d events, for which %d pages of long values were read", events, pages)
	}
}

// outgoing reads the events that a publisher gets, and returns their number, how many pages of long values that took,
// and whether there are further ones behind an open transaction.
func outgoing(t *testing.T, conn *pgx.Conn, fence int64) (events, pages int, held bool) {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	if err := tx.QueryRow(t.Context(), `select jsonb_array_length(o -> 'events'), (o -> 'held')::boolean
		from aw_outgoing(jsonb_build_object('client_id', $1::text, 'fence', $2::int, 'lease_ms', 60000,
			'max_bytes', 2000000, 'max_result_bytes', 200000)) o`, client, fence).Scan(&events, &held); err != nil {
		t.Fatal(err)
	}
	if err := tx.QueryRow(t.Context(), `select pg_stat_get_xact_blocks_fetched(reltoastrelid) from pg_class
		where oid = 'jobs'::regclass`).Scan(&pages); err != nil {
		t.Fatal(err)
	}
	return events, pages, held
}
