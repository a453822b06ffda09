package app

import (
	"cmp"
	"context"
	"fmt"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	blobazure "github.com/seed-7227ef26/async-worker/internal/blob/azure"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
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
	service, err := queueazure.Open(creds, queueazure.Options{Concurrency: t.Config.Concurrency + queue.MaxBatch})
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
	t.Bucket, err = blobazure.Open(creds, t.Config.Azure.Container, blobazure.Options{Concurrency: t.Config.Concurrency})
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
	if url := c.DatabaseURL.Reveal(); url != "" {
		t.Store, err = postgres.Open(ctx, url, postgres.Options{
			ClientID: c.ClientID, Schema: c.DBSchema, Dimensions: c.EmbeddingDimensions, MaxConns: postgres.PoolFor(c.Concurrency),
		})
	} else {
		t.Store, err = supabase.Open(c.Supabase.URL, c.Supabase.Key.Reveal(), supabase.Options{
			ClientID: c.ClientID, Schema: c.DBSchema, Dimensions: c.EmbeddingDimensions,
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
		if t.Embedder, err = offline.New(c.EmbeddingDimensions); err != nil {
			return err
		}
		t.log.Warn("LLM_PROVIDER=offline: vectors are made of the words themselves, without a model and without the network; search finds words, not meaning, summaries are sentences of the document, and answers are quotations")
		return nil
	}
	o := account(c)
	o.Model, o.Dimensions, o.Counter = c.OpenAI.EmbeddingModel, c.EmbeddingDimensions, t.counter
	t.Embedder, err = openai.New(o)
	if err != nil {
		return fmt.Errorf("open the model: %w", err)
	}
	t.Chat, err = openChat(c)
	return err
}

// account is the service of OPENAI_* or AZURE_OPENAI_*, without a model.
func account(c config.Config) openai.Config {
	o := openai.Config{BaseURL: c.OpenAI.BaseURL, APIKey: c.OpenAI.APIKey.Reveal(), RequestTimeout: c.StepTimeout}
	if a := c.AzureOpenAI; a.Endpoint != "" {
		o.Azure = &openai.Azure{Endpoint: a.Endpoint, APIKey: a.APIKey.Reveal(), APIVersion: a.APIVersion}
	}
	return o
}

// ChatModel is the model that answers questions, and what there is to know of it. The zero value is that of
// LLM_PROVIDER=offline: there is no model, and internal/llm/offline does what can be done without one.
type ChatModel struct {
	llm.Chat             // nil: offline
	Window   int         // tokens of a question and its answer together
	Counter  llm.Counter // of its tokens
	Ceiling  int         // tokens that one task may use
}

// Offline says that there is no model.
func (m ChatModel) Offline() bool { return m.Chat == nil }

func openChat(c config.Config) (ChatModel, error) {
	o := account(c)
	o.Model, o.Names = c.OpenAI.ChatModel, openai.Names{Model: "OPENAI_CHAT_MODEL"}
	o.Counter = token.For(o.Model)
	chat, err := openai.NewChat(o)
	if err != nil {
		return ChatModel{}, fmt.Errorf("open the chat model: %w", err)
	}
	return ChatModel{
		Chat: chat, Counter: o.Counter, Ceiling: c.MaxTaskTokens,
		Window: cmp.Or(c.OpenAI.ChatContext, openai.Window(o.Model)),
	}, nil
}
