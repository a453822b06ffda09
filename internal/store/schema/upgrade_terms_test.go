package schema_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// TestTermsOfAnOldIndex: an index of version 16 is searched as before, filled in steps while others work, two at a time,
// and then ranked. The counts are those of its chunks, also when all are removed from outside.
func TestTermsOfAnOldIndex(t *testing.T) {
	t.Parallel()
	url := stacktest.EmptyPostgres(t)
	super := connect(t, url)
	if _, err := super.Exec(t.Context(), oldSchema(t)); err != nil {
		t.Fatal(err)
	}
	login := func() *pgx.Conn {
		conn := connect(t, url)
		if _, err := conn.Exec(t.Context(), "set role async_worker; set app.client_id = 'a'"); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	first, second := login(), login()
	for _, job := range []string{"one", "two", "three", "four"} {
		oldWorker{first, "a"}.do(t, job, append(oldCalls[0][:len(oldCalls[0]):len(oldCalls[0])], oldCalls[1]...))
	}
	if _, err := schema.Migrate(t.Context(), url, schema.Options{Dimensions: 8}); err != nil {
		t.Fatal(err)
	}
	finds := func(text string, want int) {
		t.Helper()
		var n int
		if err := first.QueryRow(t.Context(), "select count(*) from hybrid_search($1, null, 100)", text).Scan(&n); err != nil ||
			n != want {
			t.Errorf("%s: %d chunks, %v; want %d", text, n, err, want)
		}
	}
	finds("zero", 4)
	finds("zeroes", 0)

	const collect = `select (aw_collect('{"client_id":"a","superseded_for_ms":3600000000,"abandoned_for_ms":3600000000,"limit":2}') ->> 'terms')::int`
	filled := func(conn pgx.Tx) (n int) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), collect).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	// step fills one document, and leaves its transaction open.
	step := func(conn *pgx.Conn, want int) pgx.Tx {
		t.Helper()
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), "set local lock_timeout = '5s'"); err != nil {
			t.Fatal(err)
		}
		if n := filled(tx); n != want {
			t.Errorf("the terms of %d chunks are counted, want %d", n, want)
		}
		return tx
	}
	end := func(txs ...pgx.Tx) {
		t.Helper()
		for _, tx := range txs {
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	end(step(first, 2))
	end(step(first, 2), step(second, 2)) // neither waits for the other
	finds("zero", 4)                     // some of it has no terms yet
	end(step(first, 2))
	end(step(second, 0))
	finds("zero", 4)
	wantCounts(t, super, 8)
	if _, err := super.Exec(t.Context(), "delete from documents where filename = 'one.pdf'"); err != nil {
		t.Fatal(err)
	}
	wantCounts(t, super, 6)
	if _, err := super.Exec(t.Context(), "delete from documents"); err != nil {
		t.Fatal(err)
	}
	wantCounts(t, super, 0)
}

// wantCounts compares the sums over the parts with the chunks themselves.
func wantCounts(t *testing.T, super *pgx.Conn, chunks int) {
	t.Helper()
	var rows int
	var differ []string
	if err := super.QueryRow(t.Context(), `select (select count(*) from chunk_terms), array(
		select coalesce(a.term, b.term) from
			(select term, sum(chunks) as n from term_counts group by term having sum(chunks) <> 0) a
			full join (select u.term, count(*) as n from chunk_terms, unnest(tsvector_to_array(terms)) u(term) group by u.term) b using (term)
			where a.n is distinct from b.n
		union all select 'totals' where (select (coalesce(sum(chunks), 0), coalesce(sum(words), 0)) from term_totals)
			is distinct from (select (count(*)::numeric, coalesce(sum(words), 0)::numeric) from chunk_terms))`).Scan(&rows, &differ); err != nil {
		t.Fatal(err)
	}
	if rows != chunks || len(differ) > 0 {
		t.Errorf("%d chunks have terms, want %d; other counts: %s", rows, chunks, strings.Join(differ, ", "))
	}
}

// TestTermFrequency: how often a term is in a chunk follows from its rank, up to what a tsvector can hold.
func TestTermFrequency(t *testing.T) {
	t.Parallel()
	conn := connect(t, stacktest.PostgresWith(t, schema.Options{Dimensions: 8}))
	var wrong []string
	if err := conn.QueryRow(t.Context(), `select array(select format('%s: %s', n, aw_frequency(t, 'a')) from (
		select n, ('b:300 c:400 ' || (select string_agg('a:' || i, ' ') from generate_series(1, n) i))::tsvector as t
		from generate_series(1, 255) n) x where aw_frequency(t, 'a') <> n)`).Scan(&wrong); err != nil || len(wrong) > 0 {
		t.Errorf("%v, %v", wrong, err)
	}
}

// TestEnough: the query for enough of the terms' weight matches exactly the sets of terms that have it, with one of the
// first terms if that is asked, and the weight that is needed leaves about as many chunks as it should if terms are
// independent.
func TestEnough(t *testing.T) {
	t.Parallel()
	conn := connect(t, stacktest.PostgresWith(t, schema.Options{Dimensions: 8}))
	var wrong []string
	if err := conn.QueryRow(t.Context(), `
		with terms as (select array['a', 'b', 'c', 'd', 'e', 'f']::tsquery[] as terms, array[6, 4.5, 4, 2.5, 1, 0.5]::float8[] as weights),
		sets as (
			select n, (select coalesce(string_agg(substr('abcdef', i, 1), ' '), '')::tsvector from generate_series(1, 6) i where n & (1 << i - 1) <> 0) as has,
				(select coalesce(sum(weights[i]), 0) from generate_series(1, 6) i where n & (1 << i - 1) <> 0) as weight
			from generate_series(0, 63) n, terms)
		select array(select format('%s of %s for %s, last %s', s.has, s.weight, need, last)
			from sets s, terms, generate_series(0.25, 18.5, 0.25) need, unnest(array[null, 1, 2, 6]) last
			where coalesce(s.has @@ aw_enough(terms, weights, need, 1, last), false) is distinct from (
				s.weight >= need and (last is null or s.n & ((1 << last) - 1) <> 0)))`).Scan(&wrong); err != nil || len(wrong) > 0 {
		t.Errorf("%v, %v", wrong, err)
	}
	for _, tt := range []struct {
		most float64
		last *int
		want float64
	}{
		// Both terms are expected in 1 of a million chunks, the rare one in 100.
		{1, nil, 9},
		{50, nil, 9},
		{101, nil, 6},
		{1e4, nil, 6},
		{1e6, nil, 3},
		{50, new(1), 9},
		{1e6, new(1), 6},
		{1e6, new(2), 3},
	} {
		var need float64
		if err := conn.QueryRow(t.Context(), "select aw_need(array[100, 10000], array[6, 3], 1e6, $1, $2)", tt.most, tt.last).
			Scan(&need); err != nil || need > tt.want || need < tt.want-1e-6 {
			t.Errorf("%+v: %v, %v", tt, need, err)
		}
	}
}
