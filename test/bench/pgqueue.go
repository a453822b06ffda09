package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/queue"
	queuepgmq "github.com/seed-7227ef26/async-worker/queue/pgmq"
	queuepostgres "github.com/seed-7227ef26/async-worker/queue/postgres"
)

const (
	// queueConns are the connections for the queues, as the daemon has them.
	queueConns = 4
	// senders are the clients that send tasks, as many as River's.
	senders = 8
)

// pgBackend is the queue in the database of the jobs, or pgmq in it.
type pgBackend struct {
	url  string
	pgmq bool
	pool *pgxpool.Pool // of a client that is not ours
}

// openPG returns the queues of a migrated database.
func openPG(ctx context.Context, url string, pgmq bool) (*pgBackend, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = senders
	if !pgmq {
		config.ConnConfig.RuntimeParams["role"] = "async_worker"
		config.ConnConfig.RuntimeParams["app.client_id"] = client
	}
	b := &pgBackend{url: url, pgmq: pgmq}
	if b.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil || !pgmq {
		return b, err
	}
	root, err := stack.Root()
	if err != nil {
		return b, err
	}
	script, err := os.ReadFile(filepath.Join(root, "queue", "pgmq", "testdata", "pgmq.sql"))
	if err == nil {
		_, err = b.pool.Exec(ctx, string(script))
	}
	return b, err
}

func (b *pgBackend) close() error {
	b.pool.Close()
	return nil
}

func (b *pgBackend) open(ctx context.Context, _ int, wake func()) (queue.Service, error) {
	if b.pgmq {
		return queuepgmq.Open(b.url, queuepgmq.Options{})
	}
	caller, err := postgres.OpenCaller(ctx, b.url, postgres.Options{ClientID: client, MaxConns: queueConns})
	if err != nil {
		return nil, err
	}
	go postgres.KeepListening(ctx, b.url, queuepostgres.Channel(client), wake, func(error) {})
	return queuepostgres.Open(caller, queuepostgres.Options{ClientID: client}), nil
}

func (b *pgBackend) fill(ctx context.Context, name string, n int, text func(i int) string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(senders)
	for i := range n {
		group.Go(func() error { return b.send(ctx, name, text(i)) })
	}
	return group.Wait()
}

// send sends one message in a transaction of its own, as a client does.
func (b *pgBackend) send(ctx context.Context, name, text string) error {
	var err error
	if b.pgmq {
		_, err = b.pool.Exec(ctx, "select pgmq.send($1, $2::jsonb)", name, text)
	} else {
		_, err = b.pool.Exec(ctx, `select aw_queue_send(jsonb_build_object('client_id', aw_bound(), 'queue', $1::text,
			'text', $2::text))`, name, text)
	}
	return err
}

func (b *pgBackend) ensureBare(ctx context.Context) error {
	if b.pgmq {
		_, err := b.pool.Exec(ctx, "select pgmq.create($1)", bareName)
		return err
	}
	_, err := b.pool.Exec(ctx, "select aw_queue_ensure(jsonb_build_object('client_id', aw_bound(), 'queue', $1::text))",
		bareName)
	return err
}

// claimed is a message of the bare loop.
type claimed struct {
	ID      json.RawMessage `json:"id"`
	Receipt string          `json:"receipt"`
}

func (b *pgBackend) bare(ctx context.Context, name string, n int) (took time.Duration, receives int, err error) {
	started, running := time.Now(), newSlots()
	after := ""
	for got := 0; got < n; {
		receives++
		messages, next, err := b.receive(ctx, name, min(running.free(), queue.MaxBatch), after)
		if err != nil {
			return 0, 0, fmt.Errorf("bare loop: %w", err)
		}
		after = next
		got += len(messages)
		for _, m := range messages {
			running.run(func() error { return b.remove(ctx, name, m) })
		}
	}
	err = running.wait()
	return time.Since(started), receives, err
}

func (b *pgBackend) receive(ctx context.Context, name string, n int, after string) ([]claimed, string, error) {
	if b.pgmq {
		rows, err := b.pool.Query(ctx, "select to_json(msg_id) from pgmq.read($1, 60, $2)", name, n)
		if err != nil {
			return nil, "", err
		}
		messages, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (m claimed, err error) {
			return m, r.Scan(&m.ID)
		})
		return messages, "", err
	}
	var answer struct {
		Messages []claimed `json:"messages"`
		After    string    `json:"after"`
	}
	err := b.pool.QueryRow(ctx, `select aw_queue_receive(jsonb_strip_nulls(jsonb_build_object('client_id', aw_bound(),
		'queue', $1::text, 'n', $2::int, 'visibility_ms', 60000, 'after', nullif($3, ''))))`, name, n, after).Scan(&answer)
	return answer.Messages, answer.After, err
}

func (b *pgBackend) remove(ctx context.Context, name string, m claimed) error {
	sql, args := `select aw_queue_delete(jsonb_build_object('client_id', aw_bound(), 'queue', $1::text,
		'id', $2::jsonb, 'receipt', $3::text))`, []any{name, m.ID, m.Receipt}
	if b.pgmq {
		sql, args = "select pgmq.delete($1, ($2::jsonb)::bigint)", []any{name, m.ID}
	}
	_, err := b.pool.Exec(ctx, sql, args...)
	return err
}
