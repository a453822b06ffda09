package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	hooks "github.com/seed-7227ef26/async-worker/webhook/receiver"
)

// tenant is one client of the worker, with queues, a container and rows of its own. The checks compare them with
// what it was sent.
type tenant struct {
	*servers
	client string
	store  string // which caller its workers use
	blobs  *azblob.Client
	bed    queueBed
	queues tenantQueues

	expected []expectation
	unsure   []string       // tasks that may have been sent: the answer was lost, and another one was sent in their place
	copies   map[string]int // of dead letters, by id, taken off their queue
}

// expectation is how a task has to end.
type expectation struct {
	task   string
	states []string // one of them; terminal
}

// newTenant creates the tenant's container and queues.
func (g *servers) newTenant(ctx context.Context, bed queueBed, store string) (*tenant, error) {
	t := &tenant{servers: g, client: "p-" + strings.ToLower(rand.Text()[:12]), store: store, bed: bed}
	var err error
	if t.blobs, err = azblob.NewClientFromConnectionString(g.azurite.ConnectionString, nil); err != nil {
		return nil, err
	}
	if _, err = t.blobs.CreateContainer(ctx, t.container(), nil); err != nil {
		return nil, fmt.Errorf("create the container: %w", err)
	}
	if t.queues, err = bed.open(ctx, t.client); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *tenant) container() string { return t.client + "-documents" }

// addresses are where a tenant's workers reach their services, possibly through a proxy.
type addresses struct {
	azure, database, api, model, hooks string
	nats                               string // "" without it
}

func (t *tenant) direct() addresses {
	at := addresses{
		azure: t.azurite.ConnectionString, database: t.pg.URL(database), api: t.api.URL, model: t.model.url(),
		hooks: t.hooks.URL,
	}
	t.bed.address(&at)
	return at
}

// environment is that of a worker of this tenant.
func (t *tenant) environment(at addresses, more ...string) ([]string, error) {
	env := []string{
		"PATH=/nonexistent", // no OCR engine is found: the documents are text
		"TMPDIR=" + t.dir, "CLIENT_ID=" + t.client, "AZURE_STORAGE_CONNECTION_STRING=" + at.azure,
		fmt.Sprintf("EMBEDDING_DIMENSIONS=%d", dimensions), "WEBHOOK_SECRET=" + hooks.Secret,
		"WEBHOOK_ALLOW_CIDRS=127.0.0.0/8",
		"WORKER_CONCURRENCY=2", "WORKER_LEASE_TTL_SEC=5", "POLL_MIN_MS=50", "POLL_MAX_MS=300", "RETRY_BACKOFF_MS=100",
		"OPENAI_BASE_URL=" + at.model, "OPENAI_API_KEY=" + modelKey, "LOG_FORMAT=text", "DRAIN_MAX_SEC=20",
	}
	if t.store == supabaseStore {
		key, err := stack.TenantKey(jwtSecret, t.client)
		if err != nil {
			return nil, err
		}
		env = append(env, "SUPABASE_URL="+at.api, "SUPABASE_KEY="+key)
	} else {
		env = append(env, "DATABASE_URL="+at.database)
	}
	return append(append(env, t.bed.settings(t.client, at)...), more...), nil
}

func (t *tenant) upload(ctx context.Context, name, content string) error {
	_, err := t.blobs.UploadBuffer(ctx, t.container(), name, []byte(content), nil)
	if err != nil {
		return fmt.Errorf("upload %s: %w", name, err)
	}
	return nil
}

// ingest is the message of an ingest task, as a frontend writes it. A nil value in payload makes it invalid.
func (t *tenant) ingest(id, blob, hooks string, payload map[string]any) string {
	p := map[string]any{"filename": id + ".md", "blob": blob, "document_set": "proof"}
	for k, v := range payload {
		p[k] = v
		if v == nil {
			delete(p, k)
		}
	}
	return t.taskMessage(id, "ingest", hooks, p)
}

// taskMessage is the message of a task.
func (t *tenant) taskMessage(id, kind, hooks string, payload map[string]any) string {
	text, err := json.Marshal(map[string]any{
		"task_id": id, "task_type": kind, "webhook_url": hooks + "/hook", "payload": payload,
	})
	if err != nil {
		panic(err) // of strings
	}
	return string(text)
}

// taskOf is the message of a task of another type.
func (t *tenant) taskOf(kind string, payload map[string]any) string {
	text, err := json.Marshal(map[string]any{
		"task_id": taskID, "task_type": kind, "webhook_url": t.hooks.URL + "/hook", "payload": payload,
	})
	if err != nil {
		panic(err) // of strings
	}
	return string(text)
}

// send puts a message on the normal queue, as it is, and records how its task has to end.
func (t *tenant) send(ctx context.Context, text, id string, states ...string) error {
	if err := t.put(ctx, text); err != nil {
		return err
	}
	t.expected = append(t.expected, expectation{id, states})
	return nil
}

func (t *tenant) put(ctx context.Context, text string) error {
	if err := t.queues.send(ctx, text); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	return nil
}

// undrained describes what is still to do for the tenant, "" for nothing. It looks at the queues first: what a
// message causes is committed before the message is deleted.
func (t *tenant) undrained(ctx context.Context) (string, error) {
	n, err := t.queues.depth(ctx)
	if err != nil || n > 0 {
		return fmt.Sprintf("the queues have %d messages", n), err
	}
	var over, open, deliveries, letters int
	err = t.db.QueryRow(ctx, `
		select (select count(*) from jobs where client_id = $1 and status in ('succeeded', 'failed', 'canceled')),
		       (select count(*) from jobs where client_id = $1 and status in ('pending', 'running')),
		       (select count(*) from webhook_deliveries where client_id = $1 and status = 'pending'),
		       (select count(*) from dead_letters where client_id = $1 and sent_at is null)`, t.client).
		Scan(&over, &open, &deliveries, &letters)
	if err != nil {
		return "", err
	}
	if over < len(t.expected) || open > 0 || deliveries > 0 || letters > 0 {
		return fmt.Sprintf("of %d tasks %d are finished and %d open, %d webhooks and %d copies of dead letters are due",
			len(t.expected), over, open, deliveries, letters), nil
	}
	return "", nil
}

var errNotDrained = errors.New("not drained in time")

// drain waits until nothing is left to do, at most as long as patience, or until gone is closed. An error that is
// errNotDrained says what is left.
func (t *tenant) drain(ctx context.Context, patience time.Duration, gone <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	left := "nothing was checked"
	for {
		now, err := t.undrained(ctx)
		switch {
		case err == nil && now == "":
			return nil
		case err == nil:
			left = now
		}
		select {
		case <-tick.C:
		case <-gone:
			return fmt.Errorf("%w: the worker ended: %s", errNotDrained, left)
		case <-ctx.Done():
			return fmt.Errorf("%w (%v): %s", errNotDrained, patience, left)
		}
	}
}

// expireClaims ends the webhooks' claims of dead workers, and makes the next attempts due: these waits would take
// minutes.
func (t *tenant) expireClaims(ctx context.Context) error {
	_, err := t.db.Exec(ctx, `update webhook_deliveries set lease_expires_at = clock_timestamp(),
		next_attempt_at = least(next_attempt_at, clock_timestamp())
		where client_id = $1 and status = 'pending'`, t.client)
	return err
}

// onlyWebhooksLeft reports whether everything but the delivery of webhooks is done.
func (t *tenant) onlyWebhooksLeft(ctx context.Context) (only bool, err error) {
	err = t.db.QueryRow(ctx, `
		select not exists (select from jobs where client_id = $1 and status in ('pending', 'running'))
		  and not exists (select from dead_letters where client_id = $1 and sent_at is null)
		  and (select count(*) from jobs where client_id = $1) >= $2
		  and exists (select from webhook_deliveries where client_id = $1 and status = 'pending')`,
		t.client, len(t.expected)).Scan(&only)
	return only, err
}

// age makes all jobs older, without the triggers that would record the time of the change.
func (t *tenant) age(ctx context.Context, by time.Duration) error {
	return pgx.BeginFunc(ctx, t.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "set local session_replication_role = replica"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `update jobs set created_at = created_at - make_interval(secs => $2),
			updated_at = updated_at - make_interval(secs => $2), sent_at = sent_at - make_interval(secs => $2),
			lease_expires_at = lease_expires_at - make_interval(secs => $2) where client_id = $1`, t.client, by.Seconds())
		return err
	})
}

// ledgerLength is the number of the tenant's lines in the ledger.
func (t *tenant) ledgerLength(ctx context.Context) (n int, err error) {
	err = t.db.QueryRow(ctx, `select count(*) from prove.ledger where client_id = $1`, t.client).Scan(&n)
	return n, err
}

// events lists the events of a job, one in a line.
func (t *tenant) events(ctx context.Context, id string) (list string) {
	if err := t.db.QueryRow(ctx, `select coalesce(string_agg(format('%s %s attempt %s: %s', at, stage, attempt, message),
		e'\n' order by seq), '') from job_events where client_id = $1 and job_id = $2`, t.client, id).Scan(&list); err != nil {
		return err.Error()
	}
	return list
}
