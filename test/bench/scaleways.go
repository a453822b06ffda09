package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pgvector/pgvector-go"
	pgxvector "github.com/pgvector/pgvector-go/pgx"

	"github.com/seed-7227ef26/async-worker/test/quality/retrieval"
)

// scaleWay is a statement that answers a question: $1 its text, $2 its vector.
type scaleWay struct {
	name, sql string
	few       bool // only for some questions: it is slow
	plain     bool // as the superuser, without policies
}

// plainText is how one searches with Postgres alone: any of the words, by the index, ordered by ts_rank_cd.
const plainText = `select d.filename from document_chunks c join documents d on d.id = c.document_id and d.client_id = c.client_id,
	(select replace(plainto_tsquery('simple', array_to_string(aw_terms($1), ' '))::text, ' & ', ' | ')::tsquery offset 0) q(words) -- once, not for each chunk
	where c.search @@ q.words and c.client_id = 'bench' and $2::text::vector is not null
	order by ts_rank_cd(c.search, q.words) desc limit 10`

// exactBM25 scores every chunk that has one of the terms.
const exactBM25 = `with asked as (select query, forms, weight from aw_weighted_terms('bench', $1) where chunks > 0),
	length as (select sum(words) / sum(chunks) as average from term_totals)
	select d.filename from (
		select t.document_id, t.chunk_id, (
			select sum(a.weight * f * 2.2 / (f + 1.2 * (0.25 + 0.75 * t.words / l.average)))
			from asked a, lateral (select max(aw_frequency(t.terms, f)) as f from unnest(a.forms) f) x where t.terms @@ a.query) as score
		from chunk_terms t, length l
		where t.terms @@ (select string_agg(query::text, ' | ')::tsquery from asked) and $2::text::vector is not null
		order by score desc, t.chunk_id limit 10) x join documents d on d.id = x.document_id order by x.score desc, x.chunk_id`

var scaleWays = []scaleWay{
	{name: "words", sql: "select filename from hybrid_search($1, null, 10) where $2::text::vector is not null"},
	{name: "vectors", sql: "select filename from match_document_chunks($2::text::vector::halfvec, 10) where $1 <> ''"},
	{name: "hybrid", sql: "select filename from hybrid_search($1, $2::text::vector::halfvec, 10)"},
	{name: "ranking of words alone", plain: true, sql: `select d.filename from (
		select * from aw_ranked('bench', $1, null, 40, null, null) where $2::text::vector is not null limit 10) r
		join chunk_terms t on t.chunk_id = r.id join documents d on d.id = t.document_id order by r.score desc, r.id`},
	{name: "exact BM25", sql: exactBM25, few: true, plain: true},
	{name: "Postgres full text, ts_rank_cd", sql: plainText, few: true, plain: true},
	{name: "select 1", sql: "select 'x' where $1 <> '' and $2 <> ''", plain: true},
}

// ask returns what a way finds; a slow one finds nothing if it takes longer.
func (w scaleWay) ask(ctx context.Context, conn *pgx.Conn, text, vector string) ([]string, error) {
	limit := time.Duration(0)
	if w.few {
		limit = slowest
	}
	if _, err := conn.Exec(ctx, "select set_config('statement_timeout', $1, false)", fmt.Sprint(limit.Milliseconds())); err != nil {
		return nil, err
	}
	rows, err := conn.Query(ctx, w.sql, text, vector)
	if err != nil {
		return nil, err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "57014" {
		return nil, nil
	}
	return names, err
}

// slowest is how long a slow way is waited for.
const slowest = 12 * time.Second

// fewQuestions is every how many questions a slow way is asked.
const fewQuestions = 10

// measure asks the ways in turn, so that the machine's other load affects all of them.
func (b *scaleBench) measure(ctx context.Context) error {
	tenant, err := pgx.Connect(ctx, b.url)
	if err != nil {
		return err
	}
	defer tenant.Close(context.WithoutCancel(ctx))
	if _, err := tenant.Exec(ctx, "select set_config('role', 'async_worker', false), set_config('app.client_id', $1, false)", client); err != nil {
		return err
	}
	for _, c := range []*pgx.Conn{tenant, b.conn} {
		if err := pgxvector.RegisterTypes(ctx, c); err != nil {
			return err
		}
	}
	vectors, err := b.vectors(ctx)
	if err != nil {
		return err
	}
	noise := newSample(b.seed+2, b.dimensions)
	asked := b.questions()
	answers := make([]scaleAnswers, len(scaleWays))
	for i := -5; i < len(asked); i++ { // the first ones warm up
		q := asked[(i+len(asked))%len(asked)]
		vector := pgvector.NewVector(noise.near(vectors[q.Answers[0]], 0.6)).String()
		for w, way := range scaleWays {
			if way.few && i%fewQuestions != 0 {
				continue
			}
			conn := tenant
			if way.plain {
				conn = b.conn
			}
			began, cpu := time.Now(), runTime(conn)
			names, err := way.ask(ctx, conn, q.Text, vector)
			if err != nil {
				return fmt.Errorf("%s: %w", way.name, err)
			}
			if i >= 0 {
				a := &answers[w]
				a.took, a.cpu = append(a.took, time.Since(began)), append(a.cpu, runTime(conn)-cpu)
				a.ranked = append(a.ranked, names)
			}
		}
	}
	return b.report(asked, answers)
}

// scaleAnswers are those of one way, by question.
type scaleAnswers struct {
	took   []time.Duration
	cpu    []time.Duration // of the server's process: it doesn't depend on who else uses the machine
	ranked [][]string
}

// runTime is how long a session's process on this machine has run; 0: it is on another one.
func runTime(conn *pgx.Conn) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", conn.PgConn().PID()))
	if err != nil {
		return 0
	}
	var ns int64
	if _, err := fmt.Sscan(string(stat), &ns); err != nil {
		return 0
	}
	return time.Duration(ns)
}

// questions are drawn from those of the set.
func (b *scaleBench) questions() []retrieval.Question {
	all := slices.Clone(b.read.Questions)
	random := rand.New(rand.NewPCG(b.seed, 3))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(b.queries, len(all))]
}

// vectors are those of the set's passages.
func (b *scaleBench) vectors(ctx context.Context) (map[string][]float32, error) {
	rows, err := b.conn.Query(ctx, `select d.filename, c.embedding from documents d join document_chunks c on c.document_id = d.id and c.client_id = d.client_id
		where not d.filename like '%.pdf'`)
	if err != nil {
		return nil, err
	}
	vectors := map[string][]float32{}
	var name string
	var v pgvector.HalfVector
	_, err = pgx.ForEachRow(rows, []any{&name, &v}, func() error {
		vectors[name] = v.Slice()
		return nil
	})
	return vectors, err
}

func (b *scaleBench) report(asked []retrieval.Question, answers []scaleAnswers) error {
	fmt.Fprintf(b.out, "%d questions of the set, 10 hits each; the slow ways each %dth of them. Answers: the part whose "+
		"passage is the first, and among the first 10.\n\n", len(asked), fewQuestions)
	table := tabwriter.NewWriter(b.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\tp50 ms\tp95 ms\tof CPU time\tp95\tmost\tfirst\tof 10\t")
	for w, way := range scaleWays {
		a, first, among := answers[w], 0, 0
		for i, names := range a.ranked {
			n := i
			if way.few {
				n = i * fewQuestions
			}
			if len(names) > 0 && slices.Contains(asked[n].Answers, names[0]) {
				first++
			}
			if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(asked[n].Answers, name) }) {
				among++
			}
		}
		n := float64(max(len(a.ranked), 1))
		fmt.Fprintf(table, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.3f\t%.3f\t\n", way.name, quantile(a.took, 0.5), quantile(a.took, 0.95),
			quantile(a.cpu, 0.5), quantile(a.cpu, 0.95), quantile(a.cpu, 1), float64(first)/n, float64(among)/n)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	const words, exact = 3, 4
	same, all := 0, 0
	for i, want := range answers[exact].ranked {
		for _, name := range want {
			all++
			if slices.Contains(answers[words].ranked[i*fewQuestions], name) {
				same++
			}
		}
	}
	fmt.Fprintf(b.out, "\nOf the first 10 by exact BM25, the ranking of words has %.3f.\n", float64(same)/float64(max(all, 1)))
	return nil
}
