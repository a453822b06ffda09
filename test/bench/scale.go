package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/test/quality/retrieval"
)

const (
	scaleDocument = 100  // chunks
	scaleProof    = 2000 // chunks that are written in both ways
)

// The server has the memory that a database of a million chunks is given.
var scaleServer = []string{
	"shared_buffers=4GB", "max_wal_size=8GB", "work_mem=16MB", "effective_cache_size=8GB", "wal_level=minimal", "max_wal_senders=0",
	"random_page_cost=1.1",
}

type scaleOptions struct {
	rows, queries, dimensions int
	writers                   int // connections that fill the database
	seed                      uint64
	set                       string // folder with passages.jsonl and questions.jsonl
	database                  string // empty: on a server that is removed afterwards
}

// scaleBench is one tenant's index of many chunks.
type scaleBench struct {
	scaleOptions
	out  io.Writer
	read retrieval.Set
	url  string
	conn *pgx.Conn
}

// measureSearch prints what a search costs among many chunks, and what its indexes cost.
func measureSearch(ctx context.Context, out io.Writer, o scaleOptions) (err error) {
	if o.rows < scaleProof || o.queries < 1 {
		return fmt.Errorf("-rows %d, -queries %d: use at least %d and 1", o.rows, o.queries, scaleProof)
	}
	b := &scaleBench{scaleOptions: o, out: out}
	if b.read, err = retrieval.Load(o.set); err != nil {
		return fmt.Errorf("%w (SET=dir is a folder with passages.jsonl and questions.jsonl of a language with spaces)", err)
	}
	if o.database == "" {
		pg, err := stack.StartPostgres(ctx, stack.PostgresOptions{Settings: scaleServer})
		if err != nil {
			return err
		}
		defer stopping(&err, pg.Stop)
		if err := b.costs(ctx, pg); err != nil {
			return err
		}
		if err := pg.CreateDatabase(ctx, "search", "template1"); err != nil {
			return err
		}
		b.url = pg.URL("search")
	} else {
		b.url = o.database
	}
	if err := b.load(ctx); err != nil {
		return err
	}
	defer b.conn.Close(context.WithoutCancel(ctx))
	if err := b.sizes(ctx); err != nil {
		return err
	}
	return b.measure(ctx)
}

// load fills the database, unless it is.
func (b *scaleBench) load(ctx context.Context) (err error) {
	if _, err := schema.Migrate(ctx, b.url, schema.Options{Dimensions: b.dimensions}); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if b.conn, err = pgx.Connect(ctx, b.url); err != nil {
		return err
	}
	var chunks int
	if err := b.conn.QueryRow(ctx, "select coalesce(sum(chunks), 0) from term_totals").Scan(&chunks); err != nil || chunks > 0 {
		fmt.Fprintf(b.out, "The database has %d chunks.\n\n", chunks)
		return err
	}
	t, err := newScaleText(b.read, b.seed, b.dimensions)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "%d chunks of %d dimensions, and the passages of %s between them.\n", b.rows, b.dimensions, filepath.Base(b.set))
	began := time.Now()
	note := func(what string, took time.Duration) {
		fmt.Fprintf(b.out, "  %-40s %6.0f s\n", what, took.Seconds())
	}
	l := scaleLoad{b.conn}
	if err := l.withoutIndexes(ctx, func() error {
		planted, _ := t.planted(b.read)
		if err := l.copy(ctx, planted); err != nil {
			return err
		}
		if err := l.together(ctx, b.writers, func(writer int, l scaleLoad) error { return b.writeShare(ctx, t.share(writer), writer, l) }); err != nil {
			return err
		}
		note("written", time.Since(began))
		began = time.Now()
		if _, err := b.conn.Exec(ctx, "analyze"); err != nil {
			return err
		}
		if err := l.together(ctx, b.writers, func(_ int, l scaleLoad) error { return l.fill(ctx) }); err != nil {
			return err
		}
		note("terms made", time.Since(began))
		return nil
	}, note); err != nil {
		return err
	}
	fmt.Fprintln(b.out)
	return nil
}

// writeShare writes what falls to one of the writers: each makes documents of its own.
func (b *scaleBench) writeShare(ctx context.Context, t *scaleText, writer int, l scaleLoad) error {
	var some []bulkDocument
	for i := writer; i < b.rows/scaleDocument; i += b.writers {
		some = append(some, bulkDocument{set: others, filename: fmt.Sprintf("%d.pdf", i), chunks: t.document(scaleDocument)})
		if len(some) < 20 {
			continue
		}
		if err := l.copy(ctx, some); err != nil {
			return err
		}
		some = nil
	}
	return l.copy(ctx, some)
}

// sizes prints the size of each part per chunk.
func (b *scaleBench) sizes(ctx context.Context) error {
	rows, err := b.conn.Query(ctx, `with n as (select greatest(sum(chunks), 1) as n from term_totals)
		select x.what, (x.bytes / n.n)::int from n, (values
			('chunks: text, vector, and its table of words', pg_table_size('document_chunks')),
			('index of vectors (HNSW)', pg_relation_size('document_chunks_embedding')),
			('index of words, for phrases and operators (GIN)', coalesce(pg_relation_size(coalesce(to_regclass('document_chunks_words'), to_regclass('document_chunks_search'))), 0)),
			('terms, for BM25', pg_table_size('chunk_terms')),
			('index of terms (GIN)', pg_relation_size('chunk_terms_by_term')),
			('counts of terms', pg_total_relation_size('term_counts')),
			('all tables and indexes', pg_total_relation_size('document_chunks') + pg_total_relation_size('chunk_terms')
				+ pg_total_relation_size('term_counts') + pg_total_relation_size('documents'))) x(what, bytes)`)
	if err != nil {
		return err
	}
	fmt.Fprintln(b.out, "Bytes per chunk:")
	var what string
	var bytes int
	_, err = pgx.ForEachRow(rows, []any{&what, &bytes}, func() error {
		fmt.Fprintf(b.out, "  %-50s %6d\n", what, bytes)
		return nil
	})
	fmt.Fprintln(b.out)
	return err
}

// costs proves that the bulk load leaves what ingest leaves, and prints what ingest spends on terms.
func (b *scaleBench) costs(ctx context.Context, pg *stack.Postgres) error {
	t, err := newScaleText(b.read, b.seed+1, b.dimensions)
	if err != nil {
		return err
	}
	var documents []bulkDocument
	for i := range scaleProof / scaleDocument {
		documents = append(documents, bulkDocument{set: others, filename: fmt.Sprintf("%d.pdf", i), chunks: t.document(scaleDocument)})
	}
	var prints []string
	var efforts [2]effort // of ingest, with terms and without
	for i, name := range []string{"ingested", "termless", "loaded"} {
		if err := pg.CreateDatabase(ctx, name, "template1"); err != nil {
			return err
		}
		if _, err := schema.Migrate(ctx, pg.URL(name), schema.Options{Dimensions: b.dimensions}); err != nil {
			return err
		}
		conn, err := pgx.Connect(ctx, pg.URL(name))
		if err != nil {
			return err
		}
		defer conn.Close(context.WithoutCancel(ctx))
		if name == "loaded" {
			l := scaleLoad{conn}
			if err := l.withoutIndexes(ctx, func() error {
				if err := l.copy(ctx, documents); err != nil {
					return err
				}
				return l.fill(ctx)
			}, func(string, time.Duration) {}); err != nil {
				return err
			}
		} else {
			if name == "termless" {
				if _, err := conn.Exec(ctx, `create or replace function aw_index_terms(client text, document uuid) returns void
					language plpgsql as $$ begin end $$`); err != nil {
					return err
				}
			}
			if err := b.ingestInto(ctx, pg, pg.URL(name), documents, &efforts[i]); err != nil {
				return err
			}
		}
		var print string
		if err := conn.QueryRow(ctx, fingerprint).Scan(&print); err != nil {
			return err
		}
		prints = append(prints, print)
	}
	if prints[0] != prints[2] || prints[0] == prints[1] {
		return fmt.Errorf("the bulk load leaves another state than ingest: %v", prints)
	}
	fmt.Fprintf(b.out, "%d chunks loaded in bulk are the same, with terms and counts, as ingested ones.\n"+
		"Ingest without a model: %s\n        without terms:  %s; ratio of CPU time %.2f\n\n", scaleProof,
		efforts[0].of(scaleProof), efforts[1].of(scaleProof), efforts[0].cpu.Seconds()/efforts[1].cpu.Seconds())
	return nil
}

func (b *scaleBench) ingestInto(ctx context.Context, pg *stack.Postgres, url string, documents []bulkDocument, sum *effort) error {
	s, err := postgres.Open(ctx, url, postgres.Options{ClientID: client, MaxConns: 2, Dimensions: b.dimensions})
	if err != nil {
		return err
	}
	defer s.Close()
	w, err := watchCPU(ctx, pg)
	if err != nil {
		return err
	}
	defer w.close()
	x := indexBench{server: w}
	return x.timed(sum, func() error { return ingestAll(ctx, s, documents) })
}
