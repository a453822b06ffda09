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
