package app

import (
	"context"
	"fmt"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	blobazure "github.com/seed-7227ef26/async-worker/internal/blob/azure"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/supabase"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
	queueazure "github.com/seed-7227ef26/async-worker/queue/azure"
)

func (t *Tenant) openQueues(context.Context) error {
	creds, err := t.credentials()
	if err != nil {
		return err
	}
	service, err := queueazure.Open(creds, queueazure.Options{
		Concurrency: t.Config.Concurrency + queue.MaxBatch, OnRequest: t.metrics.QueueRequest,
	})
	if err != nil {
		return fmt.Errorf("open the queues: %w", err)
	}
	t.closers = append(t.closers, service.Close)
	names := task.QueueNames(t.Config.ClientID)
	t.Queues = engine.Queues{
		High: service.Queue(names.High), Normal: service.Queue(names.Normal), Low: service.Queue(names.Low),
		DeadLetter: service.Queue(names.DeadLetter),
	}
	return nil
}

func (t *Tenant) openBucket(context.Context) error {
	creds, err := t.credentials()
	if err != nil {
		return err
	}
	t.Bucket, err = blobazure.Open(creds, t.Config.Azure.Container,
		blobazure.Options{Concurrency: t.Config.Concurrency})
	if err != nil {
		return fmt.Errorf("open the container %s: %w", t.Config.Azure.Container, err)
	}
	return nil
}

func (t *Tenant) credentials() (*storage.Credentials, error) {
	if s := t.Config.Azure.ConnectionString; s.IsSet() {
		return storage.FromConnectionString(s.Reveal())
	}
	return storage.FromIdentity(t.Config.Azure.Account)
}

func (t *Tenant) openStore(ctx context.Context) (err error) {
	c := t.Config
	unanswered := func() {
		t.log.Warn("the database has not answered yet; still waiting", "address", t.DatabaseAddress(), "settings",
			"SUPABASE_URL or DATABASE_URL")
	}
	if url := c.DatabaseURL.Reveal(); url != "" {
		t.Store, err = postgres.Open(ctx, url, postgres.Options{
			ClientID: c.ClientID, Schema: c.DBSchema, Dimensions: c.EmbeddingDimensions,
			MaxConns:     postgres.PoolFor(c.Concurrency),
			OnUnanswered: unanswered,
		})
	} else {
		t.Store, err = supabase.Open(c.Supabase.URL, c.Supabase.Key.Reveal(), supabase.Options{
			ClientID: c.ClientID, Schema: c.DBSchema, Dimensions: c.EmbeddingDimensions, OnUnanswered: unanswered,
			GatewayKey: c.Supabase.AnonKey.Reveal(),
		})
	}
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	t.announce()
	return nil
}
