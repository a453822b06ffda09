package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/metrics"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func modelConfig(change func(*config.Config)) config.Config {
	c := config.Config{LLMProvider: config.ProviderOpenAI, EmbeddingDimensions: 8, ModelConcurrency: 8}
	c.OpenAI = config.OpenAI{
		APIKey: config.NewSecret("sk-a"), BaseURL: "http://localhost:1/v1", EmbeddingModel: "e", ChatModel: "gpt-4o",
	}
	change(&c)
	return c
}

// An account has one limiter for all its users, also after a reload; another key or service has its own.
func TestOneLimiterForAnAccount(t *testing.T) {
	t.Parallel()
	accounts := new(accounts)
	for _, tt := range []struct {
		what     string
		change   func(*config.Config)
		limiters int
	}{
		{"embeddings, chat and OCR", func(*config.Config) {}, 1},
		{"a reload", func(c *config.Config) { c.ModelConcurrency = 20; c.OpenAI.ChatModel = "gpt-5" }, 1},
		{"a service for OCR", func(c *config.Config) { c.OCR.BaseURL = "http://localhost:2/v1" }, 2},
		{"another key", func(c *config.Config) { c.OpenAI.APIKey = config.NewSecret("sk-b") }, 3},
		{"Azure", func(c *config.Config) {
			c.AzureOpenAI = config.AzureOpenAI{
				Endpoint: "http://localhost:3", APIKey: config.NewSecret("k"), APIVersion: "2024-10-21",
			}
		}, 4},
	} {
		tenant := &Tenant{
			Config: modelConfig(tt.change), log: slog.New(slog.DiscardHandler), counter: token.New(),
			accounts: accounts, metrics: metrics.New(metrics.Options{}),
		}
		if err := tenant.openUncounted(); err != nil {
			t.Fatal(err)
		}
		if _, err := tenant.openVision(4, nil); err != nil {
			t.Fatal(err)
		}
		if len(accounts.limiters) != tt.limiters {
			t.Errorf("%s: %d limiters, want %d", tt.what, len(accounts.limiters), tt.limiters)
		}
	}
}

// slots returns how many bulk requests a limiter lets through at a time.
func slots(t *testing.T, l *openai.Limiter) (n int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for {
			p, err := l.Acquire(ctx, openai.Bulk, "e", 1)
			if err != nil {
				return
			}
			n++
			defer p.Release()
		}
	})
	return n
}

// TestLargestLimitOfAnAccount: OCR with the address and key of embeddings and chat doesn't lower their limit, neither at
// the start nor at a reload; a reload that lowers MODEL_CONCURRENCY does.
func TestLargestLimitOfAnAccount(t *testing.T) {
	t.Parallel()
	accounts := new(accounts)
	for _, tt := range []struct{ models, ocr, want int }{{32, 4, 24}, {32, 4, 24}, {16, 4, 12}, {8, 16, 12}, {8, 4, 6}} {
		tenant := &Tenant{
			Config: modelConfig(func(c *config.Config) {
				c.ModelConcurrency, c.OCR.BaseURL, c.OCR.APIKey = tt.models, c.OpenAI.BaseURL, c.OpenAI.APIKey
			}),
			log: slog.New(slog.DiscardHandler), counter: token.New(), accounts: accounts, metrics: metrics.New(metrics.Options{}),
		}
		if err := tenant.openUncounted(); err != nil {
			t.Fatal(err)
		}
		if _, err := tenant.openVision(tt.ocr, nil); err != nil {
			t.Fatal(err)
		}
		if n := slots(t, accounts.limiters[accountOf(account(tenant.Config))]); n != tt.want {
			t.Errorf("%+v: %d bulk requests at a time", tt, n)
		}
	}
}

// TestAllOfAnAccountForPages: where chat never comes, nothing is reserved for it: OCR_CONCURRENCY pages are read at a time.
func TestAllOfAnAccountForPages(t *testing.T) {
	t.Parallel()
	accounts := new(accounts)
	ocr := config.OCR{BaseURL: "http://localhost:2/v1"}
	for _, c := range []struct {
		provider string
		ocr      config.OCR
		pages    int
		want     int
	}{
		{config.ProviderOpenAI, ocr, 1, 1},
		{config.ProviderOpenAI, ocr, 2, 2},
		{config.ProviderOpenAI, ocr, 16, 16},
		{config.ProviderOpenAI, config.OCR{}, 16, 6}, // at the service of chat, of MODEL_CONCURRENCY=8
		{config.ProviderOffline, config.OCR{}, 16, 8},
	} {
		tenant := &Tenant{
			Config: modelConfig(func(s *config.Config) { s.LLMProvider, s.OCR = c.provider, c.ocr }),
			log:    slog.New(slog.DiscardHandler), counter: token.New(), accounts: accounts, metrics: metrics.New(metrics.Options{}),
		}
		if err := tenant.openUncounted(); err != nil {
			t.Fatal(err)
		}
		if _, err := tenant.openVision(c.pages, nil); err != nil {
			t.Fatal(err)
		}
		key := accountOf(account(tenant.Config))
		if c.ocr.BaseURL != "" {
			key = accountKey{c.ocr.BaseURL, ""}
		}
		if n := slots(t, accounts.limiters[key]); n != c.want {
			t.Errorf("%+v: %d requests at a time", c, n)
		}
	}
}

// nothing is a store without a hit.
type nothing struct{ search.Store }

func (nothing) Search(context.Context, store.Query) ([]store.Hit, error) { return nil, nil }

// The question of a search is embedded while documents or chats take all of the account that is theirs, and others wait.
func TestQuestionPrecedesDocuments(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{})
	tenant := &Tenant{
		Config: modelConfig(func(c *config.Config) {
			c.OpenAI.BaseURL, c.OpenAI.APIKey, c.OpenAI.EmbeddingModel = s.URL(), config.NewSecret(llmtest.Key), openai.DefaultModel
		}),
		log: slog.New(slog.DiscardHandler), counter: token.New(), accounts: new(accounts),
		metrics: metrics.New(metrics.Options{Log: slog.New(slog.DiscardHandler)}),
	}
	if err := tenant.openModels(t.Context()); err != nil {
		t.Fatal(err)
	}
	limiter := tenant.accounts.limiters[accountOf(account(tenant.Config))]
	for of, u := range map[string]openai.Urgency{"documents": openai.Bulk, "chats": openai.Prompt} {
		ask := func(ctx context.Context) error { // as a task does
			if u == openai.Prompt {
				_, err := tenant.Chat.Ask(ctx, llm.Question{Text: "Hello", MaxTokens: 10})
				return err
			}
			_, err := tenant.Embedder.Embed(ctx, []string{"a chunk"})
			return err
		}
		var held []*openai.Permit
		for range 6 { // of MODEL_CONCURRENCY=8
			p, err := limiter.Acquire(t.Context(), u, openai.DefaultModel, 1)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, p)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		waiting := make(chan error, 1)
		others, stop := context.WithCancel(ctx)
		go func() {
			waiting <- ask(others)
		}()
		if _, err := tenant.Find(ctx, nothing{}, search.Query{Text: "when does the tide turn?", Limit: 1}); err != nil {
			t.Errorf("the search among %s: %v", of, err)
		}
		stop()
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("one of the %s did not wait: %v", of, err)
		}
		cancel()
		for _, p := range held {
			p.Release()
		}
	}
	w := httptest.NewRecorder()
	tenant.metrics.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
	if !regexp.MustCompile(`embedding_tokens_total(\{[^}]*\})? [1-9]`).MatchString(w.Body.String()) {
		t.Error("the tokens of the question are not counted")
	}
}

func TestChatModel(t *testing.T) {
	t.Parallel()
	tenant := &Tenant{
		Config: modelConfig(func(c *config.Config) { c.MaxTaskTokens = 1000 }),
		log:    slog.New(slog.DiscardHandler), counter: token.New(),
	}
	if err := tenant.openUncounted(); err != nil || tenant.Chat.Offline() || tenant.Chat.Model() != "gpt-4o" ||
		tenant.Chat.Window != 128_000 || tenant.Chat.Ceiling != 1000 {
		t.Errorf("%+v %v", tenant.Chat, err)
	}
	tenant.Config.OpenAI.ChatContext = 4096
	if err := tenant.openUncounted(); err != nil || tenant.Chat.Window != 4096 {
		t.Errorf("%+v %v", tenant.Chat, err)
	}
	tenant = &Tenant{
		Config: modelConfig(func(c *config.Config) { c.LLMProvider = config.ProviderOffline }),
		log:    slog.New(slog.DiscardHandler),
	}
	if err := tenant.openUncounted(); err != nil || !tenant.Chat.Offline() {
		t.Errorf("%+v %v", tenant.Chat, err)
	}
}

// TestContextModel: CONTEXT_MODE decides whether there is a model for contexts, with a breaker of its own.
func TestContextModel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ mode, model, want string }{
		{config.ContextOff, "gpt-4.1-nano", ""},
		{config.ContextModel, "", "gpt-4o"},
		{config.ContextModel, "gpt-4.1-nano", "gpt-4.1-nano"},
	} {
		tenant := &Tenant{
			Config: modelConfig(func(s *config.Config) {
				s.Contexts = config.Contexts{Mode: c.mode, Model: c.model, MaxTokens: 1000}
			}),
			log: slog.New(slog.DiscardHandler), counter: token.New(),
		}
		if err := tenant.openUncounted(); err != nil {
			t.Fatal(err)
		}
		contexts := tenant.newContexts()
		if _, probed := tenant.probed[taskerr.Contexts]; probed != (c.want != "") || (contexts != nil) != probed {
			t.Errorf("%+v: probed %t, %+v", c, probed, contexts)
		}
		if contexts != nil && (contexts.Chat.Model() != c.want || contexts.MaxTokens != 1000 || contexts.Window < 100_000) {
			t.Errorf("%+v: %+v", c, contexts)
		}
	}
}
