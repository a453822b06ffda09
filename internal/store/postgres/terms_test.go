package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// TestTermsAreMadeOnce: a document's terms cost one parse of each chunk, and one look at each language.
func TestTermsAreMadeOnce(t *testing.T) {
	t.Parallel()
	super := connect(t, stacktest.PostgresWith(t, schema.Options{Dimensions: searchDimensions}))
	tx, err := super.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	var document string
	if err := tx.QueryRow(t.Context(),
		`insert into documents (client_id, document_set, filename, blob, active_version)
			values ('a', 's', 'f', 'f', 1) returning id::text`).Scan(&document); err != nil {
		t.Fatal(err)
	}
	const chunks, languages = 7, 2
	for _, statement := range []string{
		"set local track_functions = 'all'",
		"insert into document_versions (client_id, document_id, version, status, job_id) select 'a', id, 1, 'active', 'j' from documents",
		`insert into document_chunks (client_id, document_id, version, position, content, chunk_key, model, language, embedding)
			select 'a', id, 1, i, 'quays-2 größer ' || i, 'k', 'm', case when i % 2 = 0 then 'de' else 'en' end,
				array_fill(1, array[48])::vector::halfvec
			from documents, generate_series(1, 7) i`,
	} {
		if _, err := tx.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Exec(t.Context(), "select aw_index_terms('a', $1::uuid)", document); err != nil {
		t.Fatal(err)
	}
	for function, want := range map[string]int{
		"aw_terms_of(regconfig, text)": chunks, "aw_plain(text)": chunks, "aw_text_config(text)": languages,
	} {
		if n := calls(t, tx, function); n != want {
			t.Errorf("%s: %d calls for %d chunks in %d languages, want %d", function, n, chunks, languages, want)
		}
	}
	var indexed, words int
	if err := tx.QueryRow(t.Context(), "select count(*), sum(words) from chunk_terms where terms @@ 'quay | quays-2'").
		Scan(&indexed, &words); err != nil || indexed == 0 || words == 0 {
		t.Errorf("%d chunks with %d words are found, %v", indexed, words, err)
	}
}

// calls is how often the transaction has called a function.
func calls(t *testing.T, tx pgx.Tx, function string) (n int) {
	t.Helper()
	if err := tx.QueryRow(t.Context(), "select coalesce(pg_stat_get_xact_function_calls($1::regprocedure), 0)", function).
		Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestStagedTermsAreNotMadeAgain: the commit of a version takes over its staged terms. They are the largest part of what a
// long document costs, more than a commit has time for.
func TestStagedTermsAreNotMadeAgain(t *testing.T) {
	t.Parallel()
	super := connect(t, stacktest.PostgresWith(t, schema.Options{Dimensions: searchDimensions}))
	tx, err := super.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	for _, statement := range []string{
		"set local track_functions = 'all'",
		"select set_config('app.client_id', 'a', true)",
		`select aw_begin('{"client_id":"a","job_id":"j","type":"ingest","fingerprint":"f","payload":{},"priority":"normal",
			"max_attempts":3,"lease_ms":60000,"worker":"w","begin_id":"b"}')`,
		`select aw_stage_document(jsonb_build_object('client_id', 'a', 'job_id', 'j', 'fence', 1, 'document_set', 's',
			'filename', 'f', 'blob', 'f'))`,
		`insert into document_chunks (client_id, document_id, version, position, content, chunk_key, model, embedding)
			select 'a', id, 1, i, 'quays ' || i, 'k', 'm', array_fill(1, array[48])::vector::halfvec
			from documents, generate_series(0, 6) i`,
		`select aw_stage_terms(jsonb_build_object('client_id', 'a', 'job_id', 'j', 'fence', 1, 'document_id', id, 'version', 1,
			'from', 0, 'limit', 10)) from documents`,
		`select aw_complete(jsonb_build_object('client_id', 'a', 'job_id', 'j', 'fence', 1, 'effects', jsonb_build_array(
			jsonb_build_object('kind', 'activate_document', 'args', jsonb_build_object('document_id', id, 'version', 1,
			'chunks', 7, 'blob', 'f', 'terms_staged', true))))) from documents`,
	} {
		if _, err := tx.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if n := calls(t, tx, "aw_terms_of(regconfig, text)"); n != 7 {
		t.Errorf("the terms of 7 chunks were made %d times", n)
	}
	var indexed bool
	if err := tx.QueryRow(t.Context(), "select aw_indexed('a')").Scan(&indexed); err != nil || !indexed {
		t.Errorf("indexed: %v, %v", indexed, err)
	}
}

// TestLongDocumentsAreFilledInParts: the terms of a long document of an earlier version are made in parts, each in a
// transaction of its own, and no other document waits for it.
func TestLongDocumentsAreFilledInParts(t *testing.T) {
	t.Parallel()
	super := connect(t, stacktest.PostgresWith(t, schema.Options{Dimensions: searchDimensions}))
	for _, statement := range []string{
		"select set_config('app.client_id', 'a', false)",
		`insert into documents (client_id, document_set, filename, blob, active_version)
			select 'a', 's', f, f, 1 from unnest(array['long', 'short', 'empty']) f`,
		"insert into document_versions (client_id, document_id, version, status, job_id) select 'a', id, 1, 'active', 'j' from documents",
		`insert into document_chunks (client_id, document_id, version, position, content, chunk_key, model, embedding)
			select 'a', id, 1, i, 'quays ' || i, 'k', 'm', array_fill(1, array[48])::vector::halfvec
			from documents, generate_series(0, 6) i where filename = 'long' or filename = 'short' and i < 2`,
	} {
		if _, err := super.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	const most = 3
	had, counted, steps := 0, 0, 0
	for filled := most; filled >= most && steps < 20; steps++ {
		if err := super.QueryRow(t.Context(), "select aw_fill_terms('a', $1)", most).Scan(&filled); err != nil {
			t.Fatal(err)
		}
		if err := super.QueryRow(t.Context(), "select count(*) from chunk_terms").Scan(&counted); err != nil {
			t.Fatal(err)
		}
		if counted > had+most {
			t.Errorf("%d chunks were indexed in one step, want at most %d", counted-had, most)
		}
		had = counted
	}
	var indexed bool
	if err := super.QueryRow(t.Context(), "select aw_indexed('a')").Scan(&indexed); err != nil || !indexed || counted != 9 {
		t.Errorf("indexed: %v, %d of 9 chunks in %d steps, %v", indexed, counted, steps, err)
	}
}
