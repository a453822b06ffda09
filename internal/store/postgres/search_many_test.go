package postgres_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// testHits: what the legs find is read by its keys, and whether all documents have terms from its index, also where a
// scan of the whole table is allowed: the planner took one for both.
func (l *library) testHits(t *testing.T) {
	var plans strings.Builder
	conn := l.as(t, "async_worker", "a", &plans)
	for _, call := range []string{"match_document_chunks($1::text::halfvec, 10)", "hybrid_search('word7 common', $1::text::halfvec, 10)"} {
		plans.Reset()
		if _, err := conn.Exec(t.Context(), "select * from "+call, vector(l.topics[0])); err != nil {
			t.Fatal(err)
		}
		found := false
		for plan := range strings.SplitSeq(plans.String(), "duration: ") { // other parts may scan a table as small as this one
			if strings.Contains(plan, "terms_version") && !strings.Contains(plan, "documents_without_terms") {
				t.Errorf("%s: whether all documents have terms is read from the table:\n%s", call, plan)
			}
			if strings.Contains(plan, "CTE fused") {
				found = true
				if strings.Contains(plan, "Seq Scan on document_chunks") {
					t.Errorf("%s: a scan of all chunks:\n%s", call, plan)
				}
			}
		}
		if !found {
			t.Errorf("%s: no plan of the hits", call)
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

// testNullFields: a null in what a frontend sends narrows nothing.
func (l *library) testNullFields(t *testing.T) {
	var hits int
	if err := l.as(t, "async_worker", "a", nil).QueryRow(t.Context(), `select jsonb_array_length(aw_search('{"client_id": "a",
		"text": "common", "limit": 5, "within": {"metadata": null, "language": null, "from": null, "to": null, "except": null}}'))`).
		Scan(&hits); err != nil || hits != 5 {
		t.Errorf("%d hits, %v; want 5", hits, err)
	}
}

// testWrongWithin: what would narrow nothing, or too much, in what a frontend sends is refused.
func (l *library) testWrongWithin(t *testing.T) {
	for within, want := range map[string]string{
		`"de"`:                                `within must be a JSON object, not of type string`,
		`{"languages": "de"}`:                 `within has no field "languages"; it has metadata, language, from, to, except and except_chunks`,
		`{"language": ["de"]}`:                `within.language must be of type string, not array`,
		`{"metadata": "year"}`:                `within.metadata must be of type object, not string`,
		`{"except": "3f0c"}`:                  `within.except must be of type array, not string`,
		`{"except_chunks": [1]}`:              `within.except_chunks must be a list of ids`,
		`{"from": "2024-12-31"}`:              `within.from must be a time in UTC like 2024-12-31T00:00:00Z`,
		`{"to": "2024-12-31T00:00:00+02:00"}`: `within.to must be a time in UTC like 2024-12-31T00:00:00Z`,
	} {
		var hits string
		err := l.as(t, "async_worker", "a", nil).QueryRow(t.Context(), "select aw_search(jsonb_build_object("+
			"'client_id', 'a', 'text', 'common', 'within', $1::jsonb))", within).Scan(&hits)
		refused, _ := errors.AsType[*pgconn.PgError](err)
		if refused == nil || refused.Code != "AW006" || refused.Message != want {
			t.Errorf("%s: %v; want AW006 %s", within, err, want)
		}
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
				from asked a, lateral (select max(aw_frequency(t.terms, f)) as f from unnest(a.forms) f) x where t.terms @@ a.query)
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

// testSeldomTogether: words that are each in many chunks, and together in a few: these are first, and the others follow.
// So do those with the frequent word of a question alone, if its rare word is in fewer chunks than are wanted. A chunk
// with all of a long question but its six rarest words is the first. Words that go together in more chunks than are scored
// leave room for what has another one as well. What has only the seventh word is found, too.
func (l *library) testSeldomTogether(t *testing.T) {
	for client, each := range map[string]int{"c": 3000, "d": 20000} {
		if _, err := l.super.Exec(t.Context(), `
			with d as (insert into documents (client_id, document_set, filename, blob, active_version)
				values ($1, 's', 'f', 'f', 1) returning client_id, id),
			v as (insert into document_versions (client_id, document_id, version, status, job_id)
				select client_id, id, 1, 'active', 'j' from d),
			c as (insert into document_chunks (client_id, document_id, version, position, content, chunk_key, model, embedding)
				select client_id, id, 1, i, case when i < $2 then 'north ' when i < 2 * $2 then 'south ' else 'north south ' end ||
					case when i % 2 = 0 then 'pier' else 'mole' end || case when i % 4 > 0 then ' quay' else '' end ||
					case when i < 5 then ' lantern' else '' end || case when i < 60 then ' rare' || i % 6
						when i = 2 * $2 - 1 then ' mark0 mark1 mark2 mark3 mark4 mark5' when i % 20 < 6 then ' mark' || i % 20 else '' end ||
					case when i >= 2 * $2 then ' harbour pilot beacon' when i % 13 = 0 then ' harbour pilot' when i % 26 = 1 then ' beacon' else '' end,
					'k', 'm', $3::text::halfvec
				from d, generate_series(0, 2 * $2 + 19) i)
			select`, pgx.QueryExecModeSimpleProtocol, client, each, vector(make([]float32, searchDimensions))); err != nil {
			t.Fatal(err)
		}
		var both, rare, all int
		if err := l.super.QueryRow(t.Context(), `select aw_index_terms($1, id) from documents where client_id = $1`, client).Scan(nil); err != nil {
			t.Fatal(err)
		}
		if err := l.super.QueryRow(t.Context(), `select count(*) filter (where r.n <= 20 and c.position >= 2 * $2), count(*)
			from aw_ranked($1, 'north south', null, 40, null, null) with ordinality r(id, score, n)
			join document_chunks c on c.id = r.id`, client, each).Scan(&both, &all); err != nil {
			t.Fatal(err)
		}
		if both != 20 || all != 40 {
			t.Errorf("among %d: %d of the 20 with both words are first, of %d", 2*each, both, all)
		}
		if err := l.super.QueryRow(t.Context(), `select count(*) filter (where r.n <= 5 and c.position < 5), count(*)
			from aw_ranked($1, 'lantern quay', null, 40, null, null) with ordinality r(id, score, n)
			join document_chunks c on c.id = r.id`, client).Scan(&rare, &all); err != nil {
			t.Fatal(err)
		}
		var best int
		if err := l.super.QueryRow(t.Context(), `select c.position
			from aw_ranked($1, 'rare0 rare1 rare2 rare3 rare4 rare5 mark0 mark1 mark2 mark3 mark4 mark5', null, 40, null, null)
				with ordinality r(id, score, n) join document_chunks c on c.id = r.id where r.n = 1`, client).
			Scan(&best); err != nil || best != 2*each-1 {
			t.Errorf("among %d: the first is %d, %v", 2*each, best, err)
		}
		var three, seventh int
		if err := l.super.QueryRow(t.Context(), `select (select count(*)
			from aw_ranked($1, 'harbour pilot beacon', null, 40, null, null) with ordinality r(id, score, n)
			join document_chunks c on c.id = r.id where r.n <= 20 and c.position >= 2 * $2), (select count(*)
			from aw_ranked($1, 'mark0 mark1 mark2 mark3 mark4 mark5 quay', 'mark0 | mark1 | mark2 | mark3 | mark4 | mark5', 40, null, null))`,
			client, each).Scan(&three, &seventh); err != nil || three != 20 || seventh != 40 {
			t.Errorf("among %d: %d of the 20 with all three words are first; %d have the seventh word, %v", 2*each, three, seventh, err)
		}
		if rare != 5 || all != 40 {
			t.Errorf("among %d: %d of the 5 with the rare word are first, of %d", 2*each, rare, all)
		}
	}
}
