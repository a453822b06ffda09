package app

import (
	"context"
	"fmt"
	"time"

	azurecreds "github.com/seed-7227ef26/async-worker/internal/azure"
	blobazure "github.com/seed-7227ef26/async-worker/internal/blob/azure"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/supabase"
	"github.com/seed-7227ef26/async-worker/internal/task"
	queueazure "github.com/seed-7227ef26/async-worker/queue/azure"
)

func (t *Tenant) openQueues(context.Context) error {
	service, err := queueazure.Open(t.credentials(), queueazure.Options{Concurrency: t.Config.Concurrency})
	if err != nil {
		return fmt.Errorf("open the queues: %w", err)
	}
	t.queues = service
	t.closers = append(t.closers, service.Close)
	names := task.QueueNames(t.Config.ClientID)
	t.Queues = engine.Queues{
		High: service.Queue(names.High), Normal: service.Queue(names.Normal), Low: service.Queue(names.Low),
		DeadLetter: service.Queue(names.DeadLetter),
	}
	return nil
}

func (t *Tenant) openBucket(context.Context) error {
	bucket, err := blobazure.Open(t.credentials(), t.Config.Azure.Container, blobazure.Options{Concurrency: t.Config.Concurrency})
	if err != nil {
		return fmt.Errorf("open the container: %w", err)
	}
	t.Bucket = bucket
	return nil
}

func (t *Tenant) credentials() azurecreds.Credentials {
	return azurecreds.Credentials{
		ConnectionString: t.Config.Azure.ConnectionString.Reveal(), Account: t.Config.Azure.Account,
	}
}

func (t *Tenant) openStore(ctx context.Context) (err error) {
	c := t.Config
	if url := c.DatabaseURL.Reveal(); url != "" {
		t.Store, err = postgres.Open(ctx, url, postgres.Options{
			ClientID: c.ClientID, Schema: c.DBSchema, MaxConns: c.Concurrency + 2,
		})
	} else {
		t.Store, err = supabase.Open(c.Supabase.URL, c.Supabase.Key.Reveal(), supabase.Options{
			ClientID: c.ClientID, Schema: c.DBSchema,
		})
	}
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	t.closers = append(t.closers, func() error { t.Store.Close(); return nil })
	return nil
}

func (t *Tenant) openModels(context.Context) (err error) {
	c := t.Config
	if c.LLMProvider == config.ProviderOffline {
		t.Embedder = offline.New(c.EmbeddingDimensions)
		t.log.Warn("LLM_PROVIDER=offline: vectors are made of the words themselves, without a model and without the network; search finds words, not meaning")
		return nil
	}
	t.Embedder, err = openai.New(openai.Config{
		BaseURL: c.OpenAI.BaseURL, APIKey: c.OpenAI.APIKey.Reveal(), Model: c.OpenAI.EmbeddingModel,
		Dimensions: c.EmbeddingDimensions, RequestTimeout: max(c.StepTimeout, time.Second),
		Azure: openai.Azure{Endpoint: c.AzureOpenAI.Endpoint, APIKey: c.AzureOpenAI.APIKey.Reveal(), APIVersion: c.AzureOpenAI.APIVersion},
	})
	if err != nil {
		return fmt.Errorf("open the model: %w", err)
	}
	return nil
}
