package postgres_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// newGrowing returns a database without chunks.
func newGrowing(t *testing.T) *library {
	t.Helper()
	l := &library{url: stacktest.PostgresWith(t, schema.Options{Dimensions: searchDimensions})}
	l.super = connect(t, l.url)
	tellPlans(t, l.super)
	if _, err := l.super.Exec(t.Context(), `alter table chunk_terms set (autovacuum_enabled = off);
		alter table term_counts set (autovacuum_enabled = off)`); err != nil {
		t.Fatal(err)
	}
	return l
}

// grow adds a document of so many chunks, with their terms. Each client's have a word of their own.
func (l *library) grow(t *testing.T, client string, chunks int) {
	t.Helper()
	if _, err := l.super.Exec(t.Context(), `
		with d as (insert into documents (client_id, document_set, filename, blob, active_version)
			values ($1, 's', gen_random_uuid()::text, 'f', 1) returning client_id, id),
		v as (insert into document_versions (client_id, document_id, version, status, job_id)
			select client_id, id, 1, 'active', 'j' from d)
		insert into document_chunks (client_id, document_id, version, position, content, chunk_key, model, embedding)
		select d.client_id, d.id, 1, i, 'common word' || i % 100 || ' only' || $1, 'k', 'm', $3::text::halfvec
		from d, generate_series(1, $2) i`,
		pgx.QueryExecModeSimpleProtocol, client, chunks, vector(make([]float32, searchDimensions))); err != nil {
		t.Fatal(err)
	}
	if err := l.super.QueryRow(t.Context(), "select aw_fill_terms($1, 1000000)", client).Scan(nil); err != nil {
		t.Fatal(err)
	}
}

// analyze brings the statistics of the search up to date.
func (l *library) analyze(t *testing.T) {
	t.Helper()
	if _, err := l.super.Exec(t.Context(), "vacuum analyze chunk_terms, term_counts, term_totals"); err != nil {
		t.Fatal(err)
	}
}

// TestPlansOutlastGrowth: a session that plans the second look while there are few chunks reads by keys when there are many,
// although no statistics say so yet.
func TestPlansOutlastGrowth(t *testing.T) {
	t.Parallel()
	l := newGrowing(t)
	var plans strings.Builder
	conn := l.as(t, "async_worker", "a", &plans)
	search := func() {
		t.Helper()
		var hits int
		if err := conn.QueryRow(t.Context(), "select count(*) from hybrid_search('word7 common', null, 3)").Scan(&hits); err != nil ||
			hits != 3 {
			t.Errorf("%d hits, %v", hits, err)
		}
	}
	l.grow(t, "a", 5)
	l.grow(t, "b", 5)
	l.analyze(t)
	search()
	l.grow(t, "a", 2000)
	l.grow(t, "b", 2000)
	plans.Reset()
	search()
	found := false
	for plan := range strings.SplitSeq(plans.String(), "duration: ") {
		if !strings.Contains(plan, "CTE candidates") {
			continue
		}
		found = true
		if !strings.Contains(plan, "Index Scan using chunk_terms_pkey") || !strings.Contains(plan, "Index Scan using term_counts_pkey") ||
			strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "Bitmap") {
			t.Errorf("the second look does not read by keys alone:\n%s", plan)
		}
	}
	if !found {
		t.Error("no plan of the second look")
	}
}

// TestNearlyAllChunksAreOne: for a client with nearly all chunks the index doesn't read the list of them. For one with four
// fifths it does: a word of the question may be in all chunks of the others, which would be looked at one by one.
func TestNearlyAllChunksAreOne(t *testing.T) {
	t.Parallel()
	l := newGrowing(t)
	looked := regexp.MustCompile(`chunk_terms_by_term[^\n]*\n[^\n]* AND \(client_id = 'a'::text\)`)
	l.grow(t, "a", 2500)
	for _, c := range []struct {
		others  int
		inIndex bool
	}{{20, false}, {600, true}} {
		l.grow(t, "b", c.others)
		l.analyze(t)
		var plans strings.Builder
		conn := l.as(t, "async_worker", "a", &plans)
		if _, err := conn.Exec(t.Context(), "set enable_seqscan = off"); err != nil { // see testIndexes
			t.Fatal(err)
		}
		var hits, others int
		if err := conn.QueryRow(t.Context(), `select count(*), count(*) filter (where content not like '%onlya')
			from hybrid_search('word7 common onlyb', null, 30)`).Scan(&hits, &others); err != nil || hits != 30 || others != 0 {
			t.Errorf("I10: %d hits, %d of others, %v; want 30", hits, others, err)
		}
		if !strings.Contains(plans.String(), "Bitmap Index Scan on chunk_terms_by_term") || strings.Contains(plans.String(), "Seq Scan on chunk_terms") {
			t.Errorf("%d chunks of others: a scan of all chunks:\n%s", c.others, plans.String())
		}
		if looked.MatchString(plans.String()) != c.inIndex {
			t.Errorf("%d chunks of others: whether the index looks for the client should be %v:\n%s", c.others, c.inIndex, plans.String())
		}
	}
}
