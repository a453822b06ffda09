package postgres_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
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

// as returns a session of a role that is bound to a client. Its plans are written to notices.
func (l *library) as(t *testing.T, role, client string, notices *strings.Builder) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(l.url)
	if err != nil {
		t.Fatal(err)
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { notices.WriteString(n.Message + "\n") }
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), `load 'auto_explain'; set auto_explain.log_min_duration = 0;
		set auto_explain.log_nested_statements = on; set client_min_messages = log;
		select set_config('role', $2, false), set_config('app.client_id', $1, false)`, pgx.QueryExecModeSimpleProtocol, client, role); err != nil {
		t.Fatal(err)
	}
	return conn
}

// exact returns the ids that an exhaustive search finds.
func (l *library) exact(t *testing.T, client, set, query string, n int) []string {
	t.Helper()
	rows, err := l.super.Query(t.Context(), `select c.id::text from document_chunks c
		join documents d on d.client_id = c.client_id and d.id = c.document_id and d.active_version = c.version
		where c.client_id = $1 and ($2 = '' or d.document_set = $2) order by (c.embedding <=> $3::text::halfvec) + 0, c.id limit $4`, client, set, query, n)
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
