package schema_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// TestTermsAreRenewed: the terms of documents from before aw_letters are made again where they differ, a part of a long
// document at a time, while searches rank. The counts are those of the chunks.
func TestTermsAreRenewed(t *testing.T) {
	t.Parallel()
	super := connect(t, stacktest.PostgresWith(t, schema.Options{Dimensions: 8}))
	for _, statement := range []string{
		"select set_config('app.client_id', 'a', false)",
		`insert into documents (client_id, document_set, filename, blob, active_version, language)
			select 'a', 's', f, f, 1, 'en' from unnest(array['long', 'short', 'plain', 'beside', 'kana']) f`,
		"insert into document_versions (client_id, document_id, version, status, job_id) select 'a', id, 1, 'active', 'j' from documents",
		`insert into document_chunks (client_id, document_id, version, position, content, chunk_key, model, embedding)
			select 'a', id, 1, i, case filename when 'plain' then 'Kräne ' when 'beside' then '港の ｔｏｗｅｒ ' when 'kana' then '港のﾊﾟﾝ ' else 'ｔｏｗｅｒ ' end || i, 'k', 'm', array_fill(1, array[8])::vector::halfvec
			from documents, generate_series(0, 6) i where filename = 'long' or i < 2`,
		"select aw_fill_terms('a', 100)",
		// As they were made before, of letters of any width.
		"alter table document_chunks alter column search drop expression",
		"update document_chunks set search = to_tsvector('simple', content)",
		`create temp table had as select t.client_id, t.chunk_id, t.document_id, t.version, t.language, t.words, to_tsvector('english', c.content) as terms
			from chunk_terms t join document_chunks c on c.id = t.chunk_id`,
		"delete from chunk_terms", "insert into chunk_terms select client_id, chunk_id, document_id, language, words, terms, version from had",
		"update documents set terms_renewed = null",
		"create temp table chunks_had as select id, xmin::text as writer from document_chunks",
	} {
		if _, err := super.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	count := func(query string, want int) {
		t.Helper()
		var n int
		if err := super.QueryRow(t.Context(), query).Scan(&n); err != nil || n != want {
			t.Errorf("%s: %d, %v; want %d", query, n, err, want)
		}
	}
	const found = "select count(*) from chunk_terms where terms @@ 'tower'"
	count(found, 0)
	seen, steps := 3, 0
	for ; seen >= 3 && steps < 20; steps++ {
		before := 0
		if err := super.QueryRow(t.Context(), found).Scan(&before); err != nil {
			t.Fatal(err)
		}
		if err := super.QueryRow(t.Context(), "select aw_renew_terms('a', 3)").Scan(&seen); err != nil {
			t.Fatal(err)
		}
		after := 0
		if err := super.QueryRow(t.Context(), found).Scan(&after); err != nil || after > before+3 {
			t.Errorf("%d chunks in one step, %v", after-before, err)
		}
		count("select aw_indexed('a')::int", 1)
	}
	count(found, 11)
	// Their column is made again, but not that of a text that is looked for in its terms.
	count(`select count(*) from document_chunks c join chunks_had h on h.id = c.id where c.xmin::text <> h.writer`, 11)
	count(`select count(*) from document_chunks c join chunks_had h on h.id = c.id where c.xmin::text <> h.writer and c.content !~ 'ｔｏｗｅｒ'`, 0)
	count("select count(*) from chunk_terms where terms @@ 'パン'", 2)
	count("select count(*) from documents where terms_renewed is distinct from -1", 0)
	count("select aw_renew_terms('a', 3)", 0)
	wantCounts(t, super, 15)
}
