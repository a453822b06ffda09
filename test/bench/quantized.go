package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"
	pgxvector "github.com/pgvector/pgvector-go/pgx"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

const (
	insertedRows = 2000 // vectors that are added to each index, for the cost of one
	insertBatch  = 64   // in a statement, as ingest writes them
	legDepth     = 40   // chunks that a search for ten hits takes by vectors
)

// The server holds everything in memory: what an index costs without it depends on the disk.
var quantizedServer = []string{
	"shared_buffers=4GB", "max_wal_size=8GB", "wal_level=minimal", "max_wal_senders=0", "max_parallel_maintenance_workers=0",
	"max_parallel_workers_per_gather=0",
}

type quantizedOptions struct {
	rows, queries, dimensions int
	seed                      uint64
	set, embeddings, venv     string // set empty: vectors that the benchmark makes
	all                       bool   // all kinds of indexes
}

func (o *quantizedOptions) flags() {
	flag.StringVar(&o.embeddings, "embeddings", "", "vectors: of the set's passages: wordllama, or empty for the offline provider")
	flag.StringVar(&o.venv, "venv", ".tools/retrieval", "vectors: folder of a Python environment with wordllama")
	flag.BoolVar(&o.all, "all", false, "vectors: more kinds of indexes")
}

// quantizedBench is a table of vectors and its questions.
type quantizedBench struct {
	quantizedOptions
	out   io.Writer
	conn  *pgx.Conn
	asked []pgvector.HalfVector
	exact [][]int
	spare []pgvector.HalfVector // not in the table
}

// measureQuantized compares indexes of vectors with indexes of their signs: what they find, and what they cost.
func measureQuantized(ctx context.Context, out io.Writer, o quantizedOptions) (err error) {
	if o.rows < insertedRows || o.queries < 1 {
		return fmt.Errorf("-rows %d, -queries %d: use at least %d and 1", o.rows, o.queries, insertedRows)
	}
	pg, err := stack.StartPostgres(ctx, stack.PostgresOptions{Settings: quantizedServer})
	if err != nil {
		return err
	}
	defer stopping(&err, pg.Stop)
	b := &quantizedBench{quantizedOptions: o, out: out}
	if b.conn, err = pgx.Connect(ctx, pg.URL("postgres")); err != nil {
		return err
	}
	defer b.conn.Close(context.WithoutCancel(ctx))
	if _, err := b.conn.Exec(ctx, "create extension vector"); err != nil {
		return err
	}
	if err := pgxvector.RegisterTypes(ctx, b.conn); err != nil {
		return err
	}
	source, stop, err := b.source(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(b.fill(ctx, source), stop()); err != nil {
		return err
	}
	return b.compare(ctx)
}

// fill writes the table, and prepares the questions.
func (b *quantizedBench) fill(ctx context.Context, s vectorSource) error {
	if _, err := b.conn.Exec(ctx, fmt.Sprintf("create table vectors (id int primary key, embedding halfvec(%d) not null)",
		s.dimensions)); err != nil {
		return err
	}
	b.dimensions = s.dimensions
	for id := 0; id < b.rows; {
		some, err := b.next(ctx, s, b.rows-id)
		if err != nil {
			return err
		}
		rows := make([][]any, 0, len(some))
		for _, v := range some {
			rows = append(rows, []any{id, v})
			id++
		}
		if _, err := b.conn.CopyFrom(ctx, pgx.Identifier{"vectors"}, []string{"id", "embedding"}, pgx.CopyFromRows(rows)); err != nil {
			return err
		}
	}
	for len(b.spare) < insertedRows {
		some, err := b.next(ctx, s, insertedRows-len(b.spare))
		if err != nil {
			return err
		}
		b.spare = append(b.spare, some...)
	}
	return b.questions(ctx, s)
}

// next are the next vectors of the source, at most n.
func (b *quantizedBench) next(ctx context.Context, s vectorSource, n int) ([]pgvector.HalfVector, error) {
	some, err := s.more(ctx)
	if err == nil && len(some) == 0 {
		err = fmt.Errorf("the set has too few passages for -rows %d and %d more", b.rows, insertedRows)
	}
	if err != nil {
		return nil, err
	}
	vectors := make([]pgvector.HalfVector, 0, n)
	for _, v := range some[:min(n, len(some))] {
		vectors = append(vectors, pgvector.NewHalfVector(v))
	}
	return vectors, nil
}

// questions makes them, and finds the exact answers.
func (b *quantizedBench) questions(ctx context.Context, s vectorSource) error {
	asked, err := s.ask(ctx)
	if err != nil {
		return err
	}
	for _, v := range asked {
		b.asked = append(b.asked, pgvector.NewHalfVector(v))
	}
	if _, err := b.conn.Exec(ctx, "vacuum analyze vectors"); err != nil {
		return err
	}
	for _, q := range b.asked {
		ids, err := b.ids(ctx, "select id from vectors order by (embedding <=> $1) + 0, id limit $2", q, nearestK)
		if err != nil {
			return err
		}
		b.exact = append(b.exact, ids)
	}
	of := s.name
	if b.set != "" {
		of = filepath.Base(b.set) + ", " + of
	}
	fmt.Fprintf(b.out, "%d vectors of %d dimensions (%s), %d questions, the %d nearest; without parallel workers.\n\n",
		b.rows, b.dimensions, of, len(b.asked), nearestK)
	return nil
}

func (b *quantizedBench) ids(ctx context.Context, sql string, args ...any) ([]int, error) {
	rows, err := b.conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int])
}
