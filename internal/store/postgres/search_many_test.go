package postgres_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// testHits: what the legs find is read by its keys, also where a scan of the whole table is allowed: behind row-level
// security the planner took one for a join with the hits.
func (l *library) testHits(t *testing.T) {
	var plans strings.Builder
	conn := l.as(t, "async_worker", "a", &plans)
	for _, call := range []string{"match_document_chunks($1::text::halfvec, 10)", "hybrid_search('word7 common', $1::text::halfvec, 10)"} {
		plans.Reset()
		if _, err := conn.Exec(t.Context(), "select * from "+call, vector(l.topics[0])); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(plans.String(), "CTE fused") || strings.Contains(plans.String(), "Seq Scan on document_chunks") {
			t.Errorf("%s: a scan of all chunks, or no plan of the hits:\n%s", call, plans.String())
		}
	}
}

// testUnknownWord: in an index without terms, a word that no chunk has leaves room for one that most have.
func (l *library) testUnknownWord(t *testing.T) {
	var hits int
	if err := l.as(t, "async_worker", "a", nil).QueryRow(t.Context(), "select count(*) from hybrid_search('lighthouse common', null, 10)").
		Scan(&hits); err != nil || hits != 10 {
		t.Errorf("%d hits, %v; want 10", hits, err)
	}
}

// testBestOfMany: a question with words that most of many chunks have finds the same as a comparison with all of them.
func (l *library) testBestOfMany(t *testing.T) {
	scores := func(sql string, args ...any) []float64 {
		t.Helper()
		rows, err := l.super.Query(t.Context(), sql, args...)
		if err != nil {
			t.Fatal(err)
		}
		all, err := pgx.CollectRows(rows, pgx.RowTo[float64])
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	for range 20 {
		words := fmt.Sprintf("common half%d word%d word%d", l.random.IntN(2), l.random.IntN(400), l.random.IntN(400))
		want := scores(`with asked as (select * from aw_weighted_terms('a', $1)),
			length as (select sum(words) / sum(chunks) as average from term_totals where client_id = 'a')
			select (select sum(a.weight * f * 2.2 / (f + 1.2 * (0.25 + 0.75 * t.words / l.average)))
				from asked a, lateral (select aw_frequency(t.terms, a.query) as f) x where t.terms @@ a.query)
				/ (select sum(weight) from asked) as score
			from chunk_terms t, length l where t.client_id = 'a' order by score desc nulls last limit 10`, words)
		got := scores("select score from aw_ranked('a', $1, null, 10, null, null)", words)
		if len(got) != len(want) {
			t.Errorf("%s: %d chunks, want %d", words, len(got), len(want))
		}
		for i := range min(len(got), len(want)) {
			if math.Abs(got[i]-want[i]) > 1e-9 {
				t.Errorf("%s: the chunk at place %d has the score %v, want %v", words, i, got[i], want[i])
			}
		}
	}
}
