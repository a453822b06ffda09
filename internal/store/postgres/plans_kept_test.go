package postgres_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// TestPlansOutlastGrowth: a session that plans the second look while there are few chunks reads by keys when there are many,
// although no statistics say so yet.
func TestPlansOutlastGrowth(t *testing.T) {
	t.Parallel()
	l := &library{url: stacktest.PostgresWith(t, schema.Options{Dimensions: searchDimensions})}
	l.super = connect(t, l.url)
	tellPlans(t, l.super)
	grow := func(client string, chunks int) {
		t.Helper()
		if _, err := l.super.Exec(t.Context(), `
			with d as (insert into documents (client_id, document_set, filename, blob, active_version)
				values ($1, 's', 'f' || $2, 'f', 1) returning client_id, id),
			v as (insert into document_versions (client_id, document_id, version, status, job_id)
				select client_id, id, 1, 'active', 'j' from d)
			insert into document_chunks (client_id, document_id, version, position, content, chunk_key, model, embedding)
			select d.client_id, d.id, 1, i, 'common word' || i % 100, 'k', 'm', $3::text::halfvec from d, generate_series(1, $2) i`,
			pgx.QueryExecModeSimpleProtocol, client, chunks, vector(make([]float32, searchDimensions))); err != nil {
			t.Fatal(err)
		}
		if err := l.super.QueryRow(t.Context(), "select aw_fill_terms($1, 1000000)", client).Scan(nil); err != nil {
			t.Fatal(err)
		}
	}
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
	grow("a", 5)
	grow("b", 5)
	if _, err := l.super.Exec(t.Context(), "vacuum analyze chunk_terms, term_counts, term_totals"); err != nil {
		t.Fatal(err)
	}
	search()
	grow("a", 2000)
	grow("b", 2000)
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
