package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"
	pgxvector "github.com/pgvector/pgvector-go/pgx"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// nearestK is the number of hits that are requested and compared with the exact ones.
const nearestK = 10

// question searches for something like a chunk: a vector near its own, and three of its words.
func (s *sample) question(c store.Chunk) question {
	words := strings.Fields(c.Content)
	var some []string
	for range 3 {
		some = append(some, words[s.random.IntN(len(words))])
	}
	return question{vector: s.near(c.Embedding, 0.6), words: strings.Join(some, " "), source: c.Content}
}

// found is the result of one way of searching.
type found struct {
	hits, wanted int // of the exact nearest
	sources      int // questions whose chunk is among the hits
	short        int // answers with fewer hits than there are chunks
	took         []time.Duration
}

// search prints recall and latencies as the tenant's role, behind row-level security.
func (b *indexBench) search(ctx context.Context) error {
	if _, err := b.super.Exec(ctx, "drop table bare"); err != nil {
		return err
	}
	if _, err := b.super.Exec(ctx, "vacuum analyze"); err != nil { // as autovacuum would
		return err
	}
	if err := pgxvector.RegisterTypes(ctx, b.super); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "Found by %d questions, as the role async_worker bound to one tenant; the nearest %d are "+
		"those of an exact comparison with all.\n\n", len(b.asked), nearestK)
	table := tabwriter.NewWriter(b.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "tenant\tdocument set\tchunks\tfunction\trecall@%d\tits chunk found\ttoo few hits\tp50 "+
		"ms\tp95 ms\t\n", nearestK)
	for _, scope := range []struct{ client, set string }{
		{client, ""},
		{client, others},
		{client, tenth},
		{client, oneTopic},
		{client, hundredth},
		{second, ""},
		{second, tenth},
	} {
		if err := b.searchIn(ctx, table, scope.client, scope.set); err != nil {
			return err
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\nrecall@%d of match_document_chunks: at least %.2f in each. What hybrid_search finds is "+
		"meant to differ from the nearest vectors.\n", nearestK, leastRecall)
	return nil
}

func (b *indexBench) searchIn(ctx context.Context, out *tabwriter.Writer, client, set string) error {
	var chunks int
	if err := b.super.QueryRow(ctx, `select count(*) from document_chunks c join documents d on d.id = c.document_id and d.client_id = c.client_id
		where c.client_id = $1 and ($2 = '' or d.document_set = $2)`, client, set).Scan(&chunks); err != nil {
		return err
	}
	if chunks == 0 {
		return nil // too few documents for this set
	}
	exact, err := b.exact(ctx, client, set)
	if err != nil {
		return err
	}
	conn, err := b.session(ctx, client)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, way := range []struct {
		name, sql string
		words     bool
	}{
		{"match_document_chunks", "select id::text, content from match_document_chunks($1, $2, nullif($3, ''))", false},
		{"hybrid_search", "select id::text, content from hybrid_search($4, $1, $2, nullif($3, ''))", true},
	} {
		f, err := b.measure(ctx, conn, way.sql, way.words, set, min(chunks, nearestK), exact)
		if err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
		name := set
		if name == "" {
			name = "(all)"
		}
		fmt.Fprintf(out, "%s\t%s\t%d\t%s\t%.3f\t%.2f\t%d\t%.1f\t%.1f\t\n", client, name, chunks, way.name,
			float64(f.hits)/float64(max(f.wanted, 1)),
			float64(f.sources)/float64(len(b.asked)), f.short, quantile(f.took, 0.5), quantile(f.took, 0.95))
	}
	return nil
}

// session is one of the tenant's role.
func (b *indexBench) session(ctx context.Context, client string) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, b.url)
	if err != nil {
		return nil, err
	}
	if err := pgxvector.RegisterTypes(ctx, conn); err != nil {
		return nil, err
	}
	_, err = conn.Exec(ctx, "select set_config('role', 'async_worker', false), set_config('app.client_id', $1, false)",
		client)
	return conn, err
}

// exact are the ids that a comparison with every chunk of the set finds, for each question.
func (b *indexBench) exact(ctx context.Context, client, set string) ([][]string, error) {
	all := make([][]string, len(b.asked))
	for i, q := range b.asked {
		rows, err := b.super.Query(ctx, `select c.id::text from document_chunks c
			join documents d on d.client_id = c.client_id and d.id = c.document_id and d.active_version = c.version
			where c.client_id = $1 and ($2 = '' or d.document_set = $2) order by (c.embedding <=> $3) + 0, c.id limit $4`,
			client, set, pgvector.NewHalfVector(q.vector), nearestK)
		if err != nil {
			return nil, err
		}
		if all[i], err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// measure asks all questions, after a warm-up.
func (b *indexBench) measure(
	ctx context.Context, conn *pgx.Conn, sql string, words bool, set string, full int, exact [][]string,
) (found, error) {
	var f found
	warm := min(10, len(b.asked))
	for i := -warm; i < len(b.asked); i++ {
		q := b.asked[(i+len(b.asked))%len(b.asked)]
		args := []any{pgvector.NewHalfVector(q.vector), nearestK, set}
		if words {
			args = append(args, q.words)
		}
		began := time.Now()
		rows, err := conn.Query(ctx, sql, args...)
		if err != nil {
			return f, err
		}
		hits, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ ID, Content string }])
		if err != nil {
			return f, err
		}
		took := time.Since(began)
		if i < 0 {
			continue
		}
		f.took = append(f.took, took)
		f.wanted += len(exact[i])
		if len(hits) < full {
			f.short++
		}
		for _, h := range hits {
			if slices.Contains(exact[i], h.ID) {
				f.hits++
			}
			if h.Content == q.source {
				f.sources++
			}
		}
	}
	return f, nil
}

// quantile of the durations, in milliseconds.
func quantile(took []time.Duration, q float64) float64 {
	slices.Sort(took)
	i := min(int(math.Ceil(q*float64(len(took))))-1, len(took)-1)
	return float64(took[max(i, 0)]) / float64(time.Millisecond)
}
