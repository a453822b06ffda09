package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

func TestMain(m *testing.M) { stacktest.Main(m, leaktest.Find) }

const dimensions = 64

// bench is a handler of agent tasks with a scripted model.
type bench struct {
	*handlertest.Bench
	embedder llm.Embedder
	model    *model
	deps     agent.Deps
}

// with returns the same bench with another model, for another test.
func (b *bench) with(t *testing.T, script func(n int, q llm.Question) llm.Answer) *bench {
	other := *b
	other.Bench, other.model = b.With(t), &model{script: script}
	other.deps.Chat = other.model
	return &other
}

func newBench(t *testing.T, script func(n int, q llm.Question) llm.Answer) *bench {
	t.Helper()
	b := &bench{Bench: handlertest.New(t, task.Agent, dimensions), model: &model{script: script}}
	b.Job.RequestedBy, b.Job.Lease = "ann", time.Hour
	var err error
	if b.embedder, err = offline.New(dimensions); err != nil {
		t.Fatal(err)
	}
	b.deps = agent.Deps{
		Store: b.Store, Find: search.Finder{Embedder: b.embedder}.Find, Chat: b.model, Counter: steadyCounter{token.New()}, Window: 128_000,
	}
	return b
}

// served is like with, through a service with OpenAI's protocol, which records model.questions.
func (b *bench) served(t *testing.T, script func(n int, q llm.Question) llm.Answer) *bench {
	t.Helper()
	other, counter := b.with(t, script), token.New()
	server := llmtest.New(t, llmtest.Options{Reply: func(r llmtest.ChatRequest) llmtest.Reply {
		q := llm.Question{System: r.System(), Tools: r.Tools, Force: r.Forced, Schema: r.Schema, MaxTokens: r.MaxTokens}
		for _, m := range r.Messages {
			if m.Role != "system" {
				q.Turns = append(q.Turns, llm.Turn{Role: llm.Role(m.Role), Text: m.Text, Calls: m.Calls, Call: m.Call})
			}
		}
		other.model.mu.Lock()
		other.model.questions = append(other.model.questions, q)
		other.model.billed = append(other.model.billed, counter.Count(r.Text)) // like the service
		n := len(other.model.questions)
		other.model.mu.Unlock()
		a := script(n, q)
		return llmtest.Reply{Text: a.Text, Calls: a.Calls}
	}})
	chat, err := openai.NewChat(openai.Config{
		BaseURL: server.URL(), APIKey: llmtest.Key, Model: "gpt-4o-mini", HTTPClient: server.Client(),
	})
	if err != nil {
		t.Fatal(err)
	}
	other.deps.Chat = chat
	return other
}

// document ingests a text of some passages and returns the ids of its chunks.
func (b *bench) document(set, filename string, passages ...string) (ids []string) {
	b.Helper()
	h := b.BeginAs("", task.Ingest, `{}`, task.Hints{}).Holder
	s, err := b.Store.StageDocument(b.Context(), store.Staging{
		Holder: h, DocumentSet: set, Filename: filename, Blob: filename,
	})
	if err != nil {
		b.Fatal(err)
	}
	vectors, err := b.embedder.Embed(b.Context(), passages)
	if err != nil {
		b.Fatal(err)
	}
	var chunks []store.Chunk
	for i, p := range passages {
		chunks = append(chunks, store.Chunk{
			Position: i, Content: p, HeadingPath: []string{"Part " + fmt.Sprint(i+1)}, Pages: []int{i + 1},
			Kind: "text", Tokens: 10,
			Key: fmt.Sprint(set, filename, i, p), Embedding: vectors.Vectors[i],
		})
	}
	if _, err := b.Store.StageChunks(b.Context(), store.ChunkBatch{
		Holder: h, DocumentID: s.DocumentID,
		Version: s.Version, Model: "m", Chunks: chunks,
	}); err != nil {
		b.Fatal(err)
	}
	if _, err := b.Store.Complete(b.Context(), store.Completion{
		Holder: h, Result: json.RawMessage(`{}`),
		Effects: []store.Effect{{
			Kind: store.EffectActivateDocument, Args: store.Activation{
				Reading:    store.Reading{ContentSHA256: filename, Pages: len(passages), Extractor: "native"},
				DocumentID: s.DocumentID, Version: s.Version, Chunks: len(chunks), Blob: filename,
			},
		}},
	}); err != nil {
		b.Fatal(err)
	}
	all, err := b.Store.DocumentPassages(b.Context(), store.DocumentPassageQuery{DocumentID: s.DocumentID, Limit: 1000})
	if err != nil {
		b.Fatal(err)
	}
	for _, p := range all {
		ids = append(ids, p.ChunkID)
	}
	return ids
}

// result is the result in a webhook.
type result struct {
	agent.Result
	Text string // the answer, if it is a string
}

// ask runs an agent task to its end, like the engine.
func (b *bench) ask(payload string) result {
	b.Helper()
	r, err := b.try(agent.New(b.deps), payload, &handlertest.Progress{})
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func (b *bench) try(h *agent.Handler, payload string, j *handlertest.Progress) (result, error) {
	b.Helper()
	kind := h.Spec().Type
	t := task.Task{ID: "t", Type: kind, Payload: json.RawMessage(payload)}
	if err := h.Check(t); err != nil {
		return result{}, err
	}
	holder := b.BeginAs("", kind, payload, task.Hints{}).Holder
	out, err := h.Handle(b.Context(), handlers.Call{Task: t, Holder: holder, Attempt: 1, Progress: j})
	for attempt := 2; errors.Is(err, handlertest.ErrKilled); attempt++ {
		out, err = h.Handle(b.Context(), handlers.Call{
			Task: t, Holder: holder, Attempt: attempt, Checkpoint: j.Saved, Progress: j,
		})
	}
	if err != nil {
		return result{}, err
	}
	var r result
	b.Complete(handlers.Call{Holder: holder}, out, &r.Result)
	if r.RunID == "" {
		b.Fatalf("result without run_id: %+v", r.Result)
	}
	_ = json.Unmarshal(r.Answer, &r.Text) // it may not be a string
	return r, nil
}

// model is scripted: its n-th answer (from 1) to a question.
type model struct {
	script func(n int, q llm.Question) llm.Answer
	errs   map[int]error // instead of the n-th answer

	mu        sync.Mutex
	questions []llm.Question
	billed    []int // tokens of each question, if served
}

func (*model) Model() string { return "scripted-1" }

func (m *model) Ask(_ context.Context, q llm.Question) (llm.Answer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.questions = append(m.questions, q)
	n := len(m.questions)
	if err := m.errs[n]; err != nil {
		return llm.Answer{}, err
	}
	a := m.script(n, q)
	for i := range a.Calls {
		if a.Calls[i].ID == "" {
			a.Calls[i].ID = fmt.Sprintf("c%d-%d", n, i)
		}
	}
	if a.End == "" {
		a.End = llm.Stopped
		if len(a.Calls) > 0 {
			a.End = llm.Called
		}
	}
	for piece := range strings.SplitSeq(a.Text, " ") {
		if piece != "" {
			q.Stream(piece+" ", false)
		}
	}
	for _, c := range a.Calls {
		for i := 0; i < len(c.Arguments); i += 5 {
			q.StreamCall(c.Name, c.Arguments[i:min(i+5, len(c.Arguments))])
		}
	}
	a.PromptTokens, a.CompletionTokens = 100, 10
	return a, nil
}

// steadyCounter counts every run's mark alike: the token counts of random characters differ by a fifth.
type steadyCounter struct{ llm.Counter }

var aMark = regexp.MustCompile(`\b[a-z2-7]{26}\b`)

func (c steadyCounter) Count(text string) int {
	return c.Counter.Count(aMark.ReplaceAllString(text, "abcdefghijklmnopqrstuvwxyz"))
}

// results returns the tools' results in the last question.
func results(q llm.Question) (all []string) {
	for _, t := range q.Turns {
		if t.Role == llm.ToolTurn {
			all = append(all, t.Text)
		}
	}
	return all
}

// call returns an answer that calls a tool.
func call(name string, arguments any) llm.Answer {
	return llm.Answer{Calls: []llm.ToolCall{toolCall(name, arguments)}}
}

func toolCall(name string, arguments any) llm.ToolCall {
	if text, ok := arguments.(string); ok {
		return llm.ToolCall{Name: name, Arguments: text}
	}
	raw, err := json.Marshal(arguments)
	if err != nil {
		panic(err)
	}
	return llm.ToolCall{Name: name, Arguments: string(raw)}
}

type object = map[string]any

// finish returns an answer that calls finish; cites are pairs of chunk and quote.
func finish(answer any, cites ...string) llm.Answer {
	citations := []object{}
	for i := 0; i+1 < len(cites); i += 2 {
		citations = append(citations, object{"chunk_id": cites[i], "quote": cites[i+1]})
	}
	return call("finish", object{"answer": answer, "citations": citations})
}
