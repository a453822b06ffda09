package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/pgvector/pgvector-go"
	pgxvector "github.com/pgvector/pgvector-go/pgx"
	"golang.org/x/sync/errgroup"
)

// scaleLoad writes documents as ingest leaves them, without jobs, faster: by COPY into tables whose indexes are made
// afterwards, as migrate defines them, and whose terms the upkeep's function makes.
type scaleLoad struct {
	conn *pgx.Conn // of a superuser
}

// withoutIndexes writes the tables while they have only their keys.
func (l scaleLoad) withoutIndexes(ctx context.Context, write func() error, note func(string, time.Duration)) error {
	rows, err := l.conn.Query(ctx, `select i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) from pg_index i
		where i.indrelid in ('document_chunks'::regclass, 'chunk_terms'::regclass) and not i.indisunique order by 1`)
	if err != nil {
		return err
	}
	indexes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Name, Definition string }])
	if err != nil {
		return err
	}
	for _, x := range indexes {
		if _, err := l.conn.Exec(ctx, "drop index "+x.Name); err != nil {
			return err
		}
	}
	if err := write(); err != nil {
		return err
	}
	began := time.Now()
	all, within := errgroup.WithContext(ctx)
	for _, x := range indexes {
		all.Go(func() error {
			if err := l.beside(within, func(other scaleLoad) error {
				_, err := other.conn.Exec(within, "set maintenance_work_mem = '3GB'; set max_parallel_maintenance_workers = 3; "+x.Definition)
				return err
			}); err != nil {
				return fmt.Errorf("make index %s: %w", x.Name, err)
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		return err
	}
	note("indexes made", time.Since(began))
	_, err = l.conn.Exec(ctx, "vacuum analyze")
	return err
}

// beside works on a connection of its own.
func (l scaleLoad) beside(ctx context.Context, work func(scaleLoad) error) error {
	conn, err := pgx.Connect(ctx, l.conn.Config().ConnString())
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return work(scaleLoad{conn})
}

// together works on some connections at the same time.
func (l scaleLoad) together(ctx context.Context, writers int, work func(writer int, l scaleLoad) error) error {
	all, within := errgroup.WithContext(ctx)
	for w := range writers {
		all.Go(func() error {
			return l.beside(within, func(other scaleLoad) error { return work(w, other) })
		})
	}
	return all.Wait()
}

// copy writes documents whose only version is active.
func (l scaleLoad) copy(ctx context.Context, documents []bulkDocument) error {
	if err := pgxvector.RegisterTypes(ctx, l.conn); err != nil {
		return err
	}
	var heads, versions, chunks [][]any
	for _, d := range documents {
		id := pgtype.UUID{Bytes: uuid.New(), Valid: true}
		heads = append(heads, []any{client, id, d.set, d.filename, d.filename, 1})
		versions = append(versions, []any{client, id, 1, "active", "bench", len(d.chunks)})
		for _, c := range d.chunks {
			if c.HeadingPath == nil {
				c.HeadingPath = []string{}
			}
			chunks = append(chunks, []any{
				client, id, 1, c.Position, c.Content, c.HeadingPath, c.Pages, c.Kind, c.Tokens, c.Key, c.Boxes, c.Language,
				embedModel, pgvector.NewHalfVector(c.Embedding),
			})
		}
	}
	_, err1 := l.conn.CopyFrom(ctx, pgx.Identifier{"documents"},
		[]string{"client_id", "id", "document_set", "filename", "blob", "active_version"}, pgx.CopyFromRows(heads))
	_, err2 := l.conn.CopyFrom(ctx, pgx.Identifier{"document_versions"},
		[]string{"client_id", "document_id", "version", "status", "job_id", "chunks"}, pgx.CopyFromRows(versions))
	_, err3 := l.conn.CopyFrom(ctx, pgx.Identifier{"document_chunks"}, []string{
		"client_id", "document_id", "version", "position", "content", "heading_path", "pages", "kind", "tokens", "chunk_key",
		"boxes", "language", "model", "embedding",
	}, pgx.CopyFromRows(chunks))
	return errors.Join(err1, err2, err3)
}

// fill makes the terms of all documents, as the upkeep does, in larger steps.
func (l scaleLoad) fill(ctx context.Context) error {
	for filled := 1; filled > 0; {
		if err := l.conn.QueryRow(ctx, "select aw_fill_terms($1, 20000)", client).Scan(&filled); err != nil {
			return fmt.Errorf("fill the terms: %w", err)
		}
	}
	return nil
}

// fingerprint is a hash of what a search reads: all terms, and the counts. Two databases of the same documents have the
// same, whatever the ids are.
const fingerprint = `select md5(concat(
	(select string_agg(concat_ws('|', d.filename, c.position, c.content, c.search, c.language, c.embedding, d.terms_version = d.active_version,
		t.language, t.words, t.terms), E'\n' order by d.filename, c.position)
	 from documents d join document_chunks c on c.client_id = d.client_id and c.document_id = d.id and c.version = d.active_version
	 left join chunk_terms t on t.client_id = c.client_id and t.chunk_id = c.id),
	(select string_agg(concat_ws('|', x.client_id, x.term, x.chunks), E'\n' order by x.client_id, x.term collate "C") from (
		select client_id, term, sum(chunks) as chunks from term_counts group by client_id, term having sum(chunks) <> 0) x),
	(select string_agg(concat_ws('|', x.client_id, x.language, x.chunks, x.words), E'\n' order by x.client_id, x.language) from (
		select client_id, language, sum(chunks) as chunks, sum(words) as words from term_totals group by client_id, language) x)))`
