package postgres_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// notErased are the tables that keep their rows when a document is deleted and purged, and why.
var notErased = map[string]string{
	"agent_runs":         "answers that quote the document: the result counts them as kept",
	"jobs":               "results of tasks: the result counts them as kept; until JOBS_KEEP_DAYS",
	"job_events":         "no text of a document; until EVENTS_KEEP_DAYS",
	"dead_letters":       "messages of senders; until dlq purge",
	"webhook_deliveries": "results that receivers get; until DELIVERIES_KEEP_DAYS",
	"webhook_outages":    "hosts of receivers",
	"webhook_locks":      "a lock",
	"idempotency_keys":   "hashes; for two days",
	"aw_queues":          "names",
	"aw_queue_messages":  "messages of senders; until they are done",
	"event_publishers":   "a position",
	"schedules":          "what people set up",
	"cognee_targets":     "the state of a service",
	"cognee_documents":   "that the document is to be removed from Cognee",
	"cognee_datasets":    "names of sets",
	"term_parts":         "numbers",
	"term_totals":        "numbers",
}

// TestDeletedDocumentIsErased: no table has anything of a document that was deleted and purged, except those above.
// A new table needs a row in this test, or a reason there.
func TestDeletedDocumentIsErased(t *testing.T) {
	t.Parallel()
	conn := connect(t, stacktest.PostgresWith(t, schema.Options{Dimensions: searchDimensions}))
	exec := func(statements ...string) {
		t.Helper()
		for _, statement := range statements {
			if _, err := conn.Exec(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
	begin := func(job string) string {
		return `select aw_begin('{"client_id":"a","job_id":"` + job + `","type":"ingest","fingerprint":"f","payload":
			{"filename":"xerxes.pdf","blob":"xerxes.pdf"},"priority":"normal","max_attempts":3,"lease_ms":60000,"worker":"w","begin_id":"b"}')`
	}
	stage := func(job string) string {
		return `select aw_stage_document('{"client_id":"a","job_id":"` + job + `","fence":1,"document_set":"s",
			"filename":"xerxes.pdf","blob":"xerxes.pdf"}')`
	}
	exec("select set_config('app.client_id', 'a', false)", begin("j"), stage("j"),
		`insert into document_chunks (client_id, document_id, version, position, content, chunk_key, model, embedding)
			select 'a', id, 1, i, 'xerxes ' || i, 'k', 'm', array_fill(1, array[48])::vector::halfvec from documents, generate_series(0, 2) i`,
		`select aw_stage_terms(jsonb_build_object('client_id', 'a', 'job_id', 'j', 'fence', 1, 'document_id', id, 'version', 1,
			'from', 0, 'limit', 10)) from documents`,
		`select aw_complete(jsonb_build_object('client_id', 'a', 'job_id', 'j', 'fence', 1, 'effects', jsonb_build_array(
			jsonb_build_object('kind', 'activate_document', 'args', jsonb_build_object('document_id', id, 'version', 1,
			'chunks', 3, 'blob', 'xerxes.pdf', 'content_sha256', 'sha of xerxes', 'terms_staged', true))))) from documents`,
		`insert into page_results (client_id, source, reader, page, reading) values ('a', 'sha of xerxes', 'r', 1, 'x')`,
		`insert into page_result_jobs (client_id, job_id, source, filename, blob) values ('a', 'o', 'sha of xerxes', 'xerxes.pdf', 'xerxes.pdf')`,
		`insert into partials (client_id, key, answer, prompt_tokens, completion_tokens, job_id, series, filename, blob)
			values ('a', 'k', '"xerxes"', 1, 1, 'o', 1, 'xerxes.pdf', 'xerxes.pdf')`,
		`select aw_partials_put('{"client_id":"a","job_id":"of no name","partials":[{"key":"check","answer":"xerxes","prompt_tokens":1,
			"completion_tokens":1,"filename":"xerxes.pdf","blob":"xerxes.pdf"}]}')`,
		`insert into summaries (client_id, job_id, filename, summary, model, blob, source_sha256)
			values ('a', 'o', 'xerxes.pdf', 'of xerxes', 'm', 'xerxes.pdf', 'sha of xerxes')`,
		`insert into derived_contents (client_id, job_id, source_filename, blob, format, engine, version, source_blob, source_sha256)
			values ('a', 'o', 'xerxes.pdf', 'derived/xerxes.xml', 'xml', 'e', 1, 'xerxes.pdf', 'sha of xerxes')`,
		`insert into llm_checks (client_id, job_id, confidence, verdict, findings, model) values ('a', 'o', 1, 'agrees', '["xerxes"]', 'm')`,
		`insert into gateway_answers (client_id, key, source_sha256, mapping, mode, blob)
			select 'a', step, 'sha of xerxes', 'm', step, 'b' from unnest(array['direct', 'checked', 'read', 'write']) step`,
		`insert into decks (client_id, id, job_id, source_filename, source_sha256, title, slides, blob)
			values ('a', gen_random_uuid(), 'o', 'xerxes.pdf', 'sha of xerxes', 'Xerxes', 1, 'decks/1.json')`)
	before := rowsWith(t, conn, "xerxes")

	exec(begin("d"), stage("d"),
		`select aw_complete(jsonb_build_object('client_id', 'a', 'job_id', 'd', 'fence', 1, 'effects', jsonb_build_array(
			jsonb_build_object('kind', 'delete_document', 'args', jsonb_build_object('document_id', v.document_id, 'version', v.version,
			'purged', (m.made -> 'blobs') || (m.made -> 'decks'))))))
			from document_versions v, aw_made_of(jsonb_build_object('client_id', 'a', 'document_id', v.document_id)) m(made)
			where v.status = 'staged'`,
		// What the upkeep does, with the blobs in between.
		`select aw_gateway_forget(aw_gateway_expire('{"client_id":"a","older_than_ms":86400000,"limit":10}') || '{"client_id":"a"}')`)
	after := rowsWith(t, conn, "xerxes")
	for _, table := range slices.Sorted(maps.Keys(after)) {
		reason, stays := notErased[table]
		switch {
		case stays && reason == "":
			t.Errorf("%s stays without a reason", table)
		case !stays && before[table] == 0:
			t.Errorf("%s: this test has no row of the document in it; add one, or the reason why it needs none", table)
		case !stays && after[table] > 0:
			t.Errorf("%s has %d rows of the deleted document", table, after[table])
		}
	}
}

// rowsWith counts the rows whose text has a word, by table with a client_id.
func rowsWith(t *testing.T, conn *pgx.Conn, word string) map[string]int {
	t.Helper()
	rows, err := conn.Query(t.Context(), `select c.relname::text from pg_class c join pg_attribute a on a.attrelid = c.oid
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
		and a.attname = 'client_id'`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(tables) < 20 {
		t.Fatalf("tables %v, %v", tables, err)
	}
	counts := map[string]int{}
	for _, table := range tables {
		var n int
		if err := conn.QueryRow(t.Context(), "select count(*) from "+pgx.Identifier{table}.Sanitize()+" x where x::text ilike $1",
			"%"+word+"%").Scan(&n); err != nil {
			t.Fatal(err)
		}
		counts[table] = n
	}
	return counts
}
