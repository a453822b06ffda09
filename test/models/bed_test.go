package models

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/handlers/summarize"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/memory"
)

func TestMain(m *testing.M) { stacktest.Main(m, leaktest.Find) }

const (
	client     = "acme"
	dimensions = 8
	workers    = 16 // tasks at a time
	inFlight   = 16 // requests to the model
)

// bed is an engine with handlers of three types on a real Postgres, a queue in memory, and one account at a stub of
// the model service.
type bed struct {
	*testing.T
	model  *llmtest.Server
	store  store.Store
	bucket *dir.Bucket
	queues engine.Queues
	ends   ends
}

// ends counts how attempts ended.
type ends struct {
	engine.NopObserver
	mu        sync.Mutex
	succeeded map[task.Type]int
	other     map[string]int
	want      int
	done      chan struct{}
}

func (e *ends) Ended(t task.Type, ending engine.Ending) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if ending.Outcome == string(job.Succeeded) {
		e.succeeded[t]++
	} else {
		e.other[fmt.Sprint(ending.Outcome, " ", ending.Class)]++
	}
	if ending.Outcome != engine.Retried && ending.Outcome != engine.Released {
		if e.want--; e.want == 0 {
			close(e.done)
		}
	}
}

func newBed(t *testing.T, options llmtest.Options) *bed {
	t.Helper()
	options.Dimensions = dimensions
	b := &bed{T: t, model: llmtest.New(t, options), bucket: dir.New(t.TempDir())}
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: dimensions})
	var err error
	if b.store, err = postgres.Open(t.Context(), url, postgres.Options{
		ClientID: client, Dimensions: dimensions,
		MaxConns: postgres.PoolFor(workers),
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.store.Close)
	if err := b.bucket.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	service, names := memory.New(memory.Options{}), task.QueueNames(client)
	b.queues = engine.Queues{
		High: service.Queue(names.High), Normal: service.Queue(names.Normal), Low: service.Queue(names.Low),
		DeadLetter: service.Queue(names.DeadLetter),
	}
	for _, q := range []queue.Queue{b.queues.High, b.queues.Normal, b.queues.Low, b.queues.DeadLetter} {
		if err := q.Ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// handlers are built as the daemon builds them, on one account.
func (b *bed) handlers() handlers.Registry {
	b.Helper()
	config := openai.Config{
		BaseURL: b.model.URL(), APIKey: llmtest.Key, Dimensions: dimensions, HTTPClient: b.model.Client(),
		Limiter: openai.NewLimiter(inFlight),
	}
	embedder, err := openai.New(config)
	if err != nil {
		b.Fatal(err)
	}
	config.Model = "gpt-4o-mini"
	chat, err := openai.NewChat(config)
	if err != nil {
		b.Fatal(err)
	}
	limits := extract.DefaultLimits
	limits.Bytes = 1 << 20
	router, counter := extract.NewRouter(native.Extractors(pdf.New(), nil)), token.New()
	answering := agent.Deps{Store: b.store, Find: search.Finder{Embedder: embedder}.Find, Chat: chat, Counter: counter, Window: 128_000}
	registry, err := handlers.NewRegistry(
		ingest.New(ingest.Deps{
			Bucket: b.bucket, Extractor: router, Documents: b.store, Embedder: embedder, Counter: counter,
			Limits: limits, TempDir: b.TempDir(),
		}),
		summarize.New(summarize.Deps{
			Bucket: b.bucket, Extractor: router, Store: b.store, Limits: limits, TempDir: b.TempDir(),
			Log:  slog.New(slog.DiscardHandler),
			Chat: chat, Window: 128_000, Counter: counter, Concurrency: 4, Extracts: none{},
			Chunks: counter, EmbeddingModel: embedder.Model(), EmbeddingDimensions: dimensions,
		}),
		agent.New(answering), agent.NewAI(answering),
	)
	if err != nil {
		b.Fatal(err)
	}
	return registry
}

// none are summarize's extracts; there is a model.
type none struct{}

func (none) Model() string                   { return "none" }
func (none) Sentences(text string) []string  { return []string{text} }
func (none) Choose([]string, int, int) []int { return nil }

// run works until this many tasks have ended.
func (b *bed) run(tasks int) {
	b.Helper()
	b.ends = ends{succeeded: map[task.Type]int{}, other: map[string]int{}, want: tasks, done: make(chan struct{})}
	e, err := engine.New(engine.Config{
		ClientID: client, Worker: "w", Concurrency: workers, Lease: time.Minute,
		PollMin: 20 * time.Millisecond, PollMax: 200 * time.Millisecond, TaskTimeout: 5 * time.Minute,
		DrainMax: 10 * time.Second,
	}, engine.Deps{
		Queues: b.queues, Store: b.store, Bucket: b.bucket, Handlers: b.handlers(), Observer: &b.ends,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithTimeout(b.Context(), 15*time.Minute)
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { _ = e.Run(ctx) }) // always nil
	select {
	case <-b.ends.done:
	case <-ctx.Done():
		b.Errorf("not all tasks have ended in time")
	}
	stop()
	running.Wait()
}

func (b *bed) upload(name, text string) {
	b.Helper()
	if _, err := b.bucket.Put(b.Context(), name, strings.NewReader(text), "text/markdown"); err != nil {
		b.Fatal(err)
	}
}

func (b *bed) send(id string, kind task.Type, payload map[string]any) {
	b.Helper()
	raw, err := json.Marshal(map[string]any{"task_id": id, "task_type": kind, "payload": payload})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := b.queues.Normal.Send(b.Context(), string(raw), queue.SendOptions{}); err != nil {
		b.Fatal(err)
	}
}

// reply is a model that summarizes, searches once, and answers.
func reply(r llmtest.ChatRequest) llmtest.Reply {
	switch {
	case r.Schema != nil:
		return llmtest.Reply{
			Text: `{"summary":"Coal is unloaded at the quay.","key_points":[{"text":"Coal is unloaded.","sources":[1]}]}`,
		}
	case r.Find("finish") == nil:
		return llmtest.Reply{Text: "Coal."}
	case r.Last().Role == "tool" || r.Forced == "finish":
		return llmtest.Reply{
			Calls: []llm.ToolCall{{Name: "finish", Arguments: `{"answer":"Nothing is said about it.","citations":[]}`}},
		}
	}
	return llmtest.Reply{Calls: []llm.ToolCall{{Name: "search", Arguments: `{"query":"coal at the quay","k":3}`}}}
}
