package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/pgvector/pgvector-go"
	pgxvector "github.com/pgvector/pgvector-go/pgx"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/supabase"
)

// The keys of the API under measurement, which listens on loopback only.
const (
	authenticatorPassword = "authenticator"
	jwtSecret             = "a secret of benchmarks, of at least 32 characters"
)

// copyBare writes the rows with one binary COPY: the upper bound for writers that check keys and fences.
func (b *indexBench) copyBare(ctx context.Context, documents []bulkDocument) error {
	if err := pgxvector.RegisterTypes(ctx, b.super); err != nil {
		return err
	}
	var rows [][]any
	for _, d := range documents {
		id := pgtype.UUID{Bytes: uuid.New(), Valid: true}
		for _, c := range d.chunks {
			boxes := c.Boxes
			rows = append(rows, []any{
				client, id, 1, c.Position, c.Content, c.HeadingPath, c.Pages, c.Kind, c.Tokens, c.Key, boxes,
				embedModel,
				pgvector.NewHalfVector(c.Embedding),
			})
		}
	}
	_, err := b.super.CopyFrom(ctx, pgx.Identifier{"bare"}, []string{
		"client_id", "document_id", "version", "position", "content", "heading_path", "pages", "kind", "tokens",
		"chunk_key", "boxes",
		"model", "embedding",
	}, pgx.CopyFromRows(rows))
	return err
}

// writeThroughPostgREST writes the second tenant's documents, through the same table and index.
func (b *indexBench) writeThroughPostgREST(ctx context.Context) (err error) {
	u, err := pgx.ParseConfig(b.url)
	if err != nil {
		return err
	}
	rest, err := stack.StartPostgREST(ctx, stack.PostgRESTOptions{
		DatabaseURL: b.pg.URLAs("authenticator", authenticatorPassword, u.Database), JWTSecret: jwtSecret, Pool: 4,
	})
	if err != nil {
		return err
	}
	defer stopping(&err, rest.Stop)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: rest.Handler(), ReadHeaderTimeout: time.Minute}
	go server.Serve(listener) //nolint:errcheck // closed below
	defer server.Close()
	key, err := stack.TenantKey(jwtSecret, second)
	if err != nil {
		return err
	}
	s, err := supabase.Open("http://"+listener.Addr().String(), key, supabase.Options{
		ClientID: second, Dimensions: schema.DefaultDimensions,
	})
	if err != nil {
		return err
	}
	defer s.Close()

	documents := make([]bulkDocument, max(b.rows/10/perDocument, 1))
	for i := range documents {
		documents[i] = b.document(i)
	}
	var written effort
	if err := b.timed(&written, func() error { return ingestAll(ctx, s, documents) }); err != nil {
		return err
	}
	n := len(documents) * perDocument
	fmt.Fprintf(b.out, "  the store through PostgREST             %s\n"+
		"    (%d more chunks, of another tenant, into the same table; PostgREST's own CPU time is not counted)\n\n",
		written.of(n), n)
	return nil
}
