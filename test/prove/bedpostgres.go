package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

// postgresBed is the store's database, which the workers reach as they reach their store: what happens to it happens
// to both.
type postgresBed struct{ *servers }

func (b postgresBed) open(ctx context.Context, client string) (tenantQueues, error) {
	names := task.QueueNames(client)
	for _, name := range []string{names.High, names.Normal, names.Low, names.DeadLetter} {
		if _, err := b.db.Exec(ctx, `select aw_queue_ensure(jsonb_build_object('client_id', $1::text, 'queue', $2::text))`,
			client, name); err != nil {
			return nil, fmt.Errorf("create the queue %s: %w", name, err)
		}
	}
	return postgresTenant{b.servers, client}, nil
}

func (postgresBed) name() string { return postgresQueue }

func (postgresBed) crashes() []crashes { return nil }

func (postgresBed) address(*addresses) {}

func (postgresBed) settings(string, addresses) []string { return []string{"QUEUE_BACKEND=postgres"} }

// intercept leaves it to the proxies of the database and of PostgREST, which know the calls of the queues' functions.
func (postgresBed) intercept(*addresses, *faultPlan) (queueProxy, error) { return nil, nil }

type postgresTenant struct {
	*servers
	client string
}

func (t postgresTenant) send(ctx context.Context, text string) error {
	_, err := t.db.Exec(ctx, `select aw_queue_send(jsonb_build_object('client_id', $1::text, 'queue', $2::text,
		'text', $3::text))`, t.client, task.QueueNames(t.client).Normal, text)
	return err
}

func (t postgresTenant) depth(ctx context.Context) (n int, err error) {
	err = t.db.QueryRow(ctx, `select count(*) from aw_queue_messages where client_id = $1 and queue <> $2`, t.client,
		task.QueueNames(t.client).DeadLetter).Scan(&n)
	return n, err
}

func (t postgresTenant) hold(ctx context.Context) (stale func(context.Context) error, err error) {
	var id, receipt string
	normal := task.QueueNames(t.client).Normal
	err = t.db.QueryRow(ctx, `select m ->> 'id', m ->> 'receipt' from jsonb_array_elements(aw_queue_receive(
		jsonb_build_object('client_id', $1::text, 'queue', $2::text, 'n', 1, 'visibility_ms', $3::bigint)) -> 'messages') m`,
		t.client, normal, holdFor.Milliseconds()).Scan(&id, &receipt)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, errNoMessage
	}
	return func(ctx context.Context) error {
		_, err := t.db.Exec(ctx, `select aw_queue_delete(jsonb_build_object('client_id', $1::text, 'queue', $2::text,
			'id', $3::text, 'receipt', $4::text))`, t.client, normal, id, receipt)
		return err
	}, err
}

func (t postgresTenant) letters(ctx context.Context) ([]string, error) {
	rows, err := t.db.Query(ctx, `delete from aw_queue_messages where client_id = $1 and queue = $2 returning body`,
		t.client, task.QueueNames(t.client).DeadLetter)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
