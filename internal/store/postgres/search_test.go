package postgres_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

const searchDimensions = 48

// library is a database with many chunks of two clients, in sets of different sizes.
type library struct {
	url    string
	super  *pgx.Conn
	random *rand.Rand
	topics [][]float32
}

// newLibrary inserts documents of perDocument chunks each, around random topics, by SQL. Every document also has a
// chunk of an old version and one of a staged version, which are nearer to every query.
func newLibrary(t *testing.T) *library {
	t.Helper()
	l := &library{
		url:    stacktest.PostgresWith(t, schema.Options{Dimensions: searchDimensions}),
		random: rand.New(rand.NewPCG(7, 7)),
	}
	l.super = connect(t, l.url)
	tellPlans(t, l.super)
	for range 20 {
		l.topics = append(l.topics, l.near(make([]float32, searchDimensions), 1))
	}
	if _, err := l.super.Exec(t.Context(), "drop index document_chunks_embedding"); err != nil { // made below, at once
		t.Fatal(err)
	}
	for _, part := range []struct {
		client, set string
		documents   int
	}{{"a", "large", 85}, {"a", "tenth", 10}, {"a", "hundredth", 1}, {"b", "large", 24}} {
		l.fill(t, part.client, part.set, part.documents)
	}
	if _, err := l.super.Exec(t.Context(),
		`create index document_chunks_embedding on document_chunks using hnsw (embedding halfvec_cosine_ops)`); err != nil {
		t.Fatal(err)
	}
	if _, err := l.super.Exec(t.Context(), "vacuum analyze documents, document_chunks"); err != nil {
		t.Fatal(err)
	}
	return l
}

const perDocument = 40

func (l *library) fill(t *testing.T, client, set string, documents int) {
	t.Helper()
	for d := range documents {
		var id string
		if err := l.super.QueryRow(t.Context(),
			`with d as (insert into documents (client_id, document_set, filename, blob, active_version)
				values ($1, $2, $3, $3, 2) returning client_id, id),
			v as (insert into document_versions (client_id, document_id, version, status, job_id)
				select client_id, id, n, s, 'j' from d, (values (1, 'superseded'), (2, 'active'), (3, 'staged')) x(n, s))
			select id from d`, client, set, fmt.Sprintf("%s-%d.pdf", set, d)).Scan(&id); err != nil {
			t.Fatal(err)
		}
		center := l.near(l.topics[l.random.IntN(len(l.topics))], 0.5)
		b := &pgx.Batch{}
		for i := range perDocument + 2 {
			version, position := 2, i
			if i >= perDocument {
				version, position = 1+2*(i-perDocument), 0
			}
			b.Queue(`insert into document_chunks (client_id, document_id, version, position, content, chunk_key, model, embedding)
				values ($1, $2, $3, $4, $5, 'k', 'm', $6::text::halfvec)`, client, id, version, position,
				fmt.Sprintf("common word%d half%d", l.random.IntN(400), i%2), vector(l.near(center, 0.8)))
		}
		if err := l.super.SendBatch(t.Context(), b).Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func (l *library) near(v []float32, by float64) []float32 {
	moved := make([]float32, len(v))
	for i := range v {
		moved[i] = v[i] + float32(l.random.NormFloat64()*by/math.Sqrt(searchDimensions))
	}
	return moved
}

func vector(v []float32) string { return strings.ReplaceAll(fmt.Sprint(v), " ", ",") }

// as returns a session of a role that is bound to a client. Its plans are written to notices, unless that is nil.
func (l *library) as(t *testing.T, role, client string, notices *strings.Builder) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(l.url)
	if err != nil {
		t.Fatal(err)
	}
	var plans string
	if notices != nil {
		config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { notices.WriteString(n.Message + "\n") }
		plans = `load 'auto_explain'; set auto_explain.log_min_duration = 0;
			set auto_explain.log_nested_statements = on; set client_min_messages = log;`
	}
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(),
		plans+"select set_config('role', $2, false), set_config('app.client_id', $1, false)", pgx.QueryExecModeSimpleProtocol, client, role); err != nil {
		t.Fatal(err)
	}
	return conn
}

// exact returns the ids that an exhaustive search finds. The query is in a subselect, or it is parsed for each chunk.
func (l *library) exact(t *testing.T, client, set, query string, n int) []string {
	t.Helper()
	rows, err := l.super.Query(t.Context(), `select c.id::text from document_chunks c
		join documents d on d.client_id = c.client_id and d.id = c.document_id and d.active_version = c.version
		where c.client_id = $1 and ($2 = '' or d.document_set = $2) order by (c.embedding <=> (select $3::text::halfvec)) + 0, c.id limit $4`, client, set, query, n)
	if err != nil {
		t.Fatal(err)
	}
	return collect(t, rows)
}

func collect(t *testing.T, rows pgx.Rows) []string {
	t.Helper()
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestSearchAmongMany has the tests that need some thousand chunks. They only read them.
func TestSearchAmongMany(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	t.Run("recall", l.testRecall)
	t.Run("recall without what is excluded", l.testExclusion)
	t.Run("indexes", l.testIndexes)
	t.Run("hits", l.testHits)
	t.Run("unknown word", l.testUnknownWord)
	t.Run("null fields", l.testNullFields)
	t.Run("wrong within", l.testWrongWithin)
	t.Run("own chunks", l.testMatchingOwn)
	t.Run("terms", l.testTerms) // from here on there are some
	t.Run("best of many", l.testBestOfMany)
	t.Run("seldom together", l.testSeldomTogether)
}

// testRecall: under row-level security and with a filter, a search returns as many hits as requested, and at least 95
// of 100 are those of an exhaustive search.
func (l *library) testRecall(t *testing.T) {
	for _, client := range []string{"a", "b"} {
		conn := l.as(t, "async_worker", client, nil)
		for _, set := range []string{"", "large", "tenth", "hundredth"} {
			for _, n := range []int{1, 10, 100} {
				found, wanted := 0, 0
				for range max(10, 100/n) { // at least a hundred hits: one missed of ten would be below the bound
					query := vector(l.near(l.topics[l.random.IntN(len(l.topics))], 0.9))
					want := l.exact(t, client, set, query, n)
					rows, err := conn.Query(t.Context(),
						"select id::text from match_document_chunks($1::text::halfvec, $2, nullif($3, ''))", query, n,
						set)
					if err != nil {
						t.Fatal(err)
					}
					got := collect(t, rows)
					if len(got) != len(want) {
						t.Errorf("client %s, set %q: %d of %d chunks", client, set, len(got), len(want))
					}
					for _, id := range want {
						wanted++
						if slices.Contains(got, id) {
							found++
						}
					}
				}
				if float64(found) < 0.95*float64(wanted) {
					t.Errorf("client %s, set %q, %d asked for: %d of %d are the nearest", client, set, n, found, wanted)
				}
			}
		}
	}
}

// testExclusion: the index scan skips excluded chunks, rather than a later filter: a search returns as many hits as
// requested, and they are the nearest of the rest. No chunk has a word of the question, so that the vectors alone
// decide.
func (l *library) testExclusion(t *testing.T) {
	var plans strings.Builder
	conn := l.as(t, "async_worker", "a", &plans)
	if _, err := conn.Exec(t.Context(), "set enable_seqscan = off"); err != nil { // see testIndexes
		t.Fatal(err)
	}
	for set, n := range map[string]int{"": 10, "large": 100, "tenth": 10, "hundredth": 10} {
		found, wanted := 0, 0
		for range 10 {
			query := vector(l.near(l.topics[l.random.IntN(len(l.topics))], 0.9))
			rows, err := l.super.Query(t.Context(), `select c.id::text from document_chunks c
				join documents d on d.client_id = c.client_id and d.id = c.document_id and d.active_version = c.version
				where c.client_id = 'a' and ($1 = '' or d.document_set = $1) and c.content not like '%half0%'
				order by (c.embedding <=> (select $2::text::halfvec)) + 0, c.id limit $3`, set, query, n)
			if err != nil {
				t.Fatal(err)
			}
			want := collect(t, rows)
			plans.Reset()
			rows, err = conn.Query(t.Context(),
				"select id::text from hybrid_search('lighthouse -half0', $1::text::halfvec, $2, nullif($3, ''))", query,
				n, set)
			if err != nil {
				t.Fatal(err)
			}
			got := collect(t, rows)
			if len(got) != len(want) {
				t.Errorf("set %q: %d of %d chunks", set, len(got), len(want))
			}
			if set == "" && !strings.Contains(plans.String(), "Index Scan using document_chunks_embedding") {
				t.Errorf("the index was not used:\n%s", plans.String())
			}
			for _, id := range want {
				wanted++
				if slices.Contains(got, id) {
					found++
				}
			}
		}
		if float64(found) < 0.95*float64(wanted) {
			t.Errorf("set %q: %d of %d are the nearest that are not excluded", set, found, wanted)
		}
	}
	var left int
	if err := conn.QueryRow(t.Context(),
		"select count(*) from hybrid_search('lighthouse -common', $1::text::halfvec, 10)", vector(l.topics[0])).
		Scan(&left); err != nil || left != 0 {
		t.Errorf("all are excluded: %d are found, %v", left, err)
	}
}

// testIndexes: searches use the indexes, also under row-level security. Few chunks are compared one by one, which is
// faster.
func (l *library) testIndexes(t *testing.T) {
	var plans strings.Builder
	conn := l.as(t, "async_worker", "a", &plans)
	// In a small table a scan is cheap. With scans turned off, Postgres scans only if it can't use an index.
	if _, err := conn.Exec(t.Context(), "set enable_seqscan = off"); err != nil {
		t.Fatal(err)
	}
	query := vector(l.topics[0])
	for _, c := range []struct {
		call      string
		want, not []string
	}{
		{
			"match_document_chunks($1::text::halfvec, 10)",
			[]string{"Index Scan using document_chunks_embedding"},
			[]string{"Seq Scan on document_chunks"},
		},
		{
			"match_document_chunks($1::text::halfvec, 10, 'hundredth')",
			[]string{"document_chunks_document_id_version_position_client_id_key", "documents_in_order"},
			[]string{"Index Scan using document_chunks_embedding", "Seq Scan on document_chunks"},
		},
		{
			"hybrid_search('word7 word77 common', $1::text::halfvec, 10)",
			[]string{
				"Bitmap Index Scan on document_chunks_words", "Index Scan using document_chunks_embedding",
				"AND (client_id = 'a'::text)",
			},
			[]string{"Seq Scan on document_chunks"},
		},
		{
			"aw_search(jsonb_build_object('client_id', 'a', 'text', 'word7', 'embedding', $1::text, 'limit', 5))",
			[]string{"Bitmap Index Scan on document_chunks_words", "Index Scan using document_chunks_embedding"},
			[]string{"Seq Scan on document_chunks"},
		},
	} {
		for range 7 { // also when the session may cache plans
			plans.Reset()
			if _, err := conn.Exec(t.Context(), "select * from "+c.call, query); err != nil {
				t.Fatal(err)
			}
		}
		for _, part := range c.want {
			if !strings.Contains(plans.String(), part) {
				t.Errorf("%s: no %q in\n%s", c.call, part, plans.String())
			}
		}
		for _, part := range c.not {
			if strings.Contains(plans.String(), part) {
				t.Errorf("%s: %q in\n%s", c.call, part, plans.String())
			}
		}
	}
}

// testMatchingOwn: the one function that no policy restricts returns only the client's own chunks (I10).
func (l *library) testMatchingOwn(t *testing.T) {
	var plans strings.Builder
	const matching = "select count(*) from aw_matching_own('common', array['common']::tsquery[], null, 100000, null, null)"
	for client, want := range map[string]int{"a": 96 * perDocument, "b": 24 * perDocument, "c": 0, "": 0} {
		conn := l.as(t, "aw_owner", client, &plans) // the role of the functions that call it
		var n int
		if err := conn.QueryRow(t.Context(), matching).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if most := 2000; n != min(want, most) {
			t.Errorf("client %q: %d chunks, want %d", client, n, min(want, most))
		}
		var others int
		if err := conn.QueryRow(t.Context(),
			`select count(*) from aw_matching_own('common', array['common']::tsquery[], null, 100000, null, null) m
			left join document_chunks c using (id) where c.id is null`).Scan(&others); err != nil || others != 0 {
			t.Errorf("I10: client %q: %d chunks of others, %v", client, others, err)
		}
	}
}

// testTerms: the search by terms uses its index, also under row-level security, and returns only the client's own chunks
// (I10).
func (l *library) testTerms(t *testing.T) {
	var plans strings.Builder
	for client, want := range map[string]int{"a": 96 * perDocument, "b": 24 * perDocument} {
		var filled int
		if err := l.super.QueryRow(t.Context(), "select aw_fill_terms($1, 1000000)", client).Scan(&filled); err != nil ||
			filled != want {
			t.Fatalf("client %s: the terms of %d chunks, %v; want %d", client, filled, err, want)
		}
	}
	if _, err := l.super.Exec(t.Context(), "vacuum analyze chunk_terms"); err != nil {
		t.Fatal(err)
	}
	conn := l.as(t, "async_worker", "a", &plans)
	if _, err := conn.Exec(t.Context(), "set enable_seqscan = off"); err != nil { // see testIndexes
		t.Fatal(err)
	}
	var hits int
	if err := conn.QueryRow(t.Context(), "select count(*) from hybrid_search('word7 word77 common', null, 10)").Scan(&hits); err != nil ||
		hits != 10 {
		t.Errorf("%d hits, %v", hits, err)
	}
	for _, part := range []string{"Bitmap Index Scan on chunk_terms_by_term", "AND (client_id = 'a'::text)"} {
		if !strings.Contains(plans.String(), part) {
			t.Errorf("no %q in\n%s", part, plans.String())
		}
	}
	if strings.Contains(plans.String(), "Seq Scan on chunk_terms") {
		t.Errorf("a scan of all chunks:\n%s", plans.String())
	}
	for client, want := range map[string]int{"a": 96 * perDocument, "b": 24 * perDocument, "c": 0, "": 0} {
		conn := l.as(t, "aw_owner", client, nil)
		var n, others int
		if err := conn.QueryRow(t.Context(), `select count(*), count(*) filter (where c.id is null)
			from aw_ranked_own('common', null, 100000, null, null) r left join document_chunks c using (id)`).Scan(&n, &others); err != nil ||
			n != min(want, 2000) || others != 0 {
			t.Errorf("I10: client %q: %d chunks, %d of others, %v; want %d", client, n, others, err, want)
		}
	}
}
