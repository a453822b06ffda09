package app

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/rerank"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// openModels opens the models and wraps them to count tokens.
func (t *Tenant) openModels(context.Context) error {
	if err := t.openUncounted(); err != nil {
		return err
	}
	t.questions = nil
	if e, bills := t.Embedder.(*openai.Embedder); bills {
		t.Embedder, t.questions = t.metrics.Embedder(e), t.metrics.Embedder(e.Questions())
	}
	if !t.Chat.Offline() {
		t.Chat.Chat = t.metrics.Chat(t.Chat.Chat)
	}
	if !t.contexts.Offline() {
		t.contexts.Chat = t.metrics.Chat(t.contexts.Chat)
	}
	if t.Config.Rerank.URL == "" {
		return nil
	}
	rater, err := openRater(t.Config)
	if err != nil {
		return err
	}
	t.Rater = rater
	t.closers = append(t.closers, rater.Close)
	return nil
}

// openRater opens the service at RERANK_URL.
func openRater(c config.Config) (*rerank.Client, error) {
	return rerank.New(rerank.Config{URL: c.Rerank.URL, Model: c.Rerank.Model, APIKey: c.Rerank.APIKey.Reveal()})
}

// embeddingModel is the name that vectors are stored with.
func embeddingModel(c config.Config) string {
	if c.LLMProvider == config.ProviderOffline {
		return offline.Model
	}
	return c.OpenAI.EmbeddingModel
}

func (t *Tenant) openUncounted() (err error) {
	c := t.Config
	if c.LLMProvider == config.ProviderOffline {
		if t.Embedder, err = offline.New(c.EmbeddingDimensions); err != nil {
			return err
		}
		t.log.Warn("LLM_PROVIDER=offline: no model: search finds words, not meaning, and answers are quotations")
		return nil
	}
	o := account(c)
	o.Limiter = t.limiter(o)
	o.Model, o.Dimensions, o.Counter = c.OpenAI.EmbeddingModel, c.EmbeddingDimensions, t.counter
	// For one document; the limiter counts requests over all documents.
	o.Concurrency = min(o.Concurrency, openai.DefaultConcurrency)
	embedder, err := openai.New(o)
	if err != nil {
		return fmt.Errorf("open the model: %w", err)
	}
	t.Embedder = embedder
	t.probe(taskerr.Model, embedder.Probe)
	if t.Chat, err = openChat(c, o.Limiter); err != nil {
		return err
	}
	if chat, ok := t.Chat.Chat.(*openai.Chat); ok {
		t.probe(taskerr.Chat, chat.Probe)
	}
	if c.Contexts.Mode != config.ContextModel {
		return nil
	}
	if t.contexts, err = openContexts(c, o.Limiter); err != nil {
		return err
	}
	if chat, ok := t.contexts.Chat.(*openai.Chat); ok {
		t.probe(taskerr.Contexts, chat.Probe)
	}
	return nil
}

// openContexts opens the model that writes contexts of chunks. Its requests are many, and tasks that wait for an answer go
// before them. Its failures are its own: it may be another model than that of chat.
func openContexts(c config.Config, limiter *openai.Limiter) (ChatModel, error) {
	o := account(c)
	o.Urgency, o.Dependency = openai.Bulk, taskerr.Contexts
	o.Model, o.Names.Model = c.OpenAI.ChatModel, "OPENAI_CHAT_MODEL"
	if c.Contexts.Model != "" {
		o.Model, o.Names.Model = c.Contexts.Model, "CONTEXT_MODEL"
	}
	return openModel(c, o, limiter, "the model for contexts")
}

// account returns the settings of the service of OPENAI_* or AZURE_OPENAI_*, without a model.
func account(c config.Config) openai.Config {
	o := openai.Config{
		BaseURL: c.OpenAI.BaseURL, APIKey: c.OpenAI.APIKey.Reveal(), RequestTimeout: c.StepTimeout,
		Concurrency: c.ModelConcurrency,
	}
	if a := c.AzureOpenAI; a.Endpoint != "" {
		o.Azure = &openai.Azure{Endpoint: a.Endpoint, APIKey: a.APIKey.Reveal(), APIVersion: a.APIVersion}
	}
	return o
}

// accounts has one limiter per account at a model service. Embeddings, chat, OCR and what a reload opens share it. A
// nil accounts has none.
type accounts struct {
	mu       sync.Mutex
	limiters map[accountKey]*openai.Limiter
}

type accountKey struct{ service, key string }

func accountOf(o openai.Config) accountKey {
	if o.Azure != nil {
		return accountKey{o.Azure.Endpoint, o.Azure.APIKey}
	}
	return accountKey{o.BaseURL, o.APIKey}
}

// limiter returns the limiter of o's account. Its limit is the highest that this tenant has asked for: OCR with a service of
// its own wants fewer requests than embeddings and chat, and may turn out to use their account.
func (t *Tenant) limiter(o openai.Config) *openai.Limiter {
	key := accountOf(o)
	if t.inFlight == nil {
		t.inFlight = make(map[accountKey]int)
	}
	t.inFlight[key] = max(t.inFlight[key], o.Concurrency)
	chats := t.Config.LLMProvider != config.ProviderOffline && key == accountOf(account(t.Config))
	return t.accounts.limiter(key, t.inFlight[key], chats)
}

// limiter returns the limiter of an account and sets its limit. shared: chat and others use it.
func (a *accounts) limiter(key accountKey, inFlight int, shared bool) *openai.Limiter {
	if a == nil {
		a = new(accounts)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.limiters == nil {
		a.limiters = make(map[accountKey]*openai.Limiter)
	}
	l, ok := a.limiters[key]
	if !ok {
		l = openai.NewLimiter(inFlight)
		a.limiters[key] = l
	}
	l.Resize(inFlight, shared)
	return l
}

// ChatModel is the model that answers questions, and its limits. The zero value is that of LLM_PROVIDER=offline:
// there is no model, and internal/llm/offline replaces it.
type ChatModel struct {
	llm.Chat             // nil: offline
	Window   int         // tokens of a question and its answer
	Counter  llm.Counter // of its tokens
	Ceiling  int         // tokens that one task may use
}

// Offline reports whether there is no model.
func (m ChatModel) Offline() bool { return m.Chat == nil }

// openChat opens OPENAI_CHAT_MODEL with the limiter of its account; nil: a limiter of its own.
func openChat(c config.Config, limiter *openai.Limiter) (ChatModel, error) {
	o := account(c)
	o.Model, o.Names = c.OpenAI.ChatModel, openai.Names{Model: "OPENAI_CHAT_MODEL"}
	o.Urgency = openai.Prompt
	return openModel(c, o, limiter, "the chat model")
}

func openModel(c config.Config, o openai.Config, limiter *openai.Limiter, what string) (ChatModel, error) {
	o.Limiter, o.Counter = limiter, token.For(o.Model)
	chat, err := openai.NewChat(o)
	if err != nil {
		return ChatModel{}, fmt.Errorf("open %s: %w", what, err)
	}
	return ChatModel{
		Chat: chat, Counter: o.Counter, Ceiling: c.MaxTaskTokens,
		Window: cmp.Or(c.OpenAI.ChatContext, openai.Window(o.Model)),
	}, nil
}
