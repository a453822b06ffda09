package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// TestContextAnswers: whatever the model answers, the document is indexed, and says how many chunks have no context. No
// answer is paid for twice.
func TestContextAnswers(t *testing.T) {
	t.Parallel()
	reply := func(r llmtest.Reply) func(llmtest.ChatRequest) llmtest.Reply {
		return func(llmtest.ChatRequest) llmtest.Reply { return r }
	}
	for name, c := range map[string]struct {
		options           llmtest.Options
		contexts, minimum int // requests
		warning           string
	}{
		"garbage":   {llmtest.Options{Reply: reply(llmtest.Reply{Text: "Ports are fine."})}, 0, 1, "no usable one"},
		"too long":  {llmtest.Options{Reply: contextsOf(strings.Repeat("word ", 61))}, 0, 1, "no usable one"},
		"one alone": {llmtest.Options{Reply: reply(llmtest.Reply{Text: `{"contexts":[{"passage":2,"context":"Of ports."}]}`})}, 1, 1, "no usable one"},
		"a refusal": {llmtest.Options{Reply: reply(llmtest.Reply{Refusal: "No."})}, 0, 1, "refused"},
		"a filter":  {llmtest.Options{Poison: "harbours"}, 0, 1, "refused"},
		"too small": {llmtest.Options{Window: 2000}, 0, 5, "context"}, // of each window: another may fit
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, on := withContexts(t, c.options)
			b := newBench(t, on)
			sections := 4
			if c.minimum > 1 {
				sections = 100
			}
			r := b.again(sections, task.Hints{})
			if r.Contexts != c.contexts || r.Embedded != r.Chunks || w.Requests() < c.minimum || len(r.Warnings) != 1 ||
				!said(r, c.warning) || !said(r, fmt.Sprintf("%d new chunks have no context", r.Chunks-c.contexts)) {
				t.Errorf("%+v after %d requests", r, w.Requests())
			}
			hits, err := b.Store.Search(t.Context(), store.Query{Text: "cranes", Limit: 100})
			if err != nil || len(hits) != r.Chunks {
				t.Errorf("%d hits, %v", len(hits), err)
			}
			if name == "too small" { // no answer came
				return
			}
			requests := w.Requests()
			b.Put("copy.md", text(4))
			if r := b.ingest(`{"filename":"copy.md","document_set":"docs"}`, task.Hints{}); w.Requests() != requests ||
				len(r.Warnings) != 1 {
				t.Errorf("a copy: %+v after %d more requests", r, w.Requests()-requests)
			}
			if b.ingest(handbook, task.Hints{Force: true}); w.Requests() == requests {
				t.Error("a forced task does not ask again")
			}
		})
	}
}

// TestContextCutOff: a model that reasons needs longer answers.
func TestContextCutOff(t *testing.T) {
	t.Parallel()
	w, on := withContexts(t, llmtest.Options{Reply: func(r llmtest.ChatRequest) llmtest.Reply {
		if r.MaxTokens < 2000 {
			return llmtest.Reply{Text: "{", Finish: "length"}
		}
		return contextsOf(ofPort)(r)
	}})
	b := newBench(t, on)
	if r := b.again(5, task.Hints{}); r.Contexts != r.Chunks || w.Requests() != 2 || r.ContextTokens != w.Tokens() {
		t.Errorf("%+v after %d requests", r, w.Requests())
	}
}

// attempt runs the next attempt of a job.
func (b *bench) attempt(c handlers.Call, last bool) (handlers.Call, handlers.Outcome, error) {
	b.Helper()
	if _, err := b.Store.Release(b.Context(), store.Release{Holder: c.Holder}); err != nil {
		b.Fatal(err)
	}
	next := b.BeginAs(c.Task.ID, task.Ingest, handbook, c.Task.Hints)
	next.Last = last
	out, err := b.handler.Handle(b.Context(), next)
	return next, out, err
}

// TestContextsAfterACrash: an attempt that ends in the middle leaves its answers and vectors to the next one. While the
// service is down the task waits.
func TestContextsAfterACrash(t *testing.T) {
	t.Parallel()
	w, on := withContexts(t, llmtest.Options{Reply: contextsOf(ofPort)})
	b := newBench(t, on)
	b.Put("handbook.md", text(80))
	w.Script(llmtest.Fault{}, llmtest.Fault{})
	w.Break(llmtest.UnknownModel)
	c := b.Begin(handbook, task.Hints{})
	_, err := b.handler.Handle(t.Context(), c)
	if failure, ok := errors.AsType[*taskerr.Error](err); !ok || failure.Dependency != taskerr.Contexts ||
		!taskerr.Classes[failure.Class].Retryable {
		t.Fatalf("the service is down: %v", err)
	}
	w.Mend()
	tokens := w.Tokens()
	c, out, err := b.attempt(c, false)
	if err != nil {
		t.Fatal(err)
	}
	r := b.complete(c, out)
	if r.Contexts != r.Chunks || tokens == 0 || w.Tokens() == tokens || r.ContextTokens != w.Tokens() {
		t.Errorf("%+v; %d tokens, of which %d in the first attempt", r, w.Tokens(), tokens)
	}

	// All is asked, and the worker dies before the commit: nothing is paid for twice.
	b.Put("handbook.md", text(30, 1, 2, 3, 4, 5, 6, 7, 8, 9))
	c = b.Begin(handbook, task.Hints{})
	if _, err := b.handler.Handle(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	requests, inputs, rows := w.Requests(), b.model.Inputs(), b.rows()
	if c, out, err = b.attempt(c, false); err != nil {
		t.Fatal(err)
	}
	if got := b.rows(); got != rows || w.Requests() != requests || b.model.Inputs() != inputs {
		t.Errorf("%d requests and %d inputs more", w.Requests()-requests, b.model.Inputs()-inputs)
	}
	if r := b.complete(c, out); r.Contexts != r.Chunks || r.Embedded == 0 {
		t.Errorf("%+v", r)
	}
}

// lasting keeps the context of a request.
type lasting struct {
	llm.Chat
	ctx context.Context //nolint:containedctx // it is what is tested
}

func (l *lasting) Ask(ctx context.Context, q llm.Question) (llm.Answer, error) {
	l.ctx = ctx
	return l.Chat.Ask(ctx, q)
}

// TestContextRequestsEnd: a request is paid for, and ends with the task alone, not when another writer fails.
func TestContextRequestsEnd(t *testing.T) {
	t.Parallel()
	_, on := withContexts(t, llmtest.Options{Reply: contextsOf(ofPort)})
	l := &lasting{}
	b := newBench(t, on, func(d *ingest.Deps) { l.Chat, d.Contexts.Chat = d.Contexts.Chat, l })
	if b.again(3, task.Hints{}); l.ctx.Err() != nil { // the writers' own has ended with them
		t.Errorf("the request was made under the context of the writers: %v", l.ctx.Err())
	}
}

// TestContextsInTheLastAttempt: a document that the model fails at each time is indexed without contexts.
func TestContextsInTheLastAttempt(t *testing.T) {
	t.Parallel()
	w, on := withContexts(t, llmtest.Options{Reply: contextsOf(ofPort)})
	b := newBench(t, on)
	b.Put("handbook.md", text(80))
	w.Break(llmtest.UnknownModel)
	c := b.Begin(handbook, task.Hints{})
	if _, err := b.handler.Handle(t.Context(), c); err == nil {
		t.Fatal("the service is down")
	}
	requests := w.Requests()
	c, out, err := b.attempt(c, true)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(out.Unused, taskerr.Contexts) {
		t.Errorf("the service counts as up: unused are %v", out.Unused)
	}
	r := b.complete(c, out)
	if r.Contexts != 0 || r.Embedded != r.Chunks || !said(r, "no context") || w.Requests()-requests > 3 {
		t.Errorf("%+v after %d requests", r, w.Requests()-requests)
	}
}

// TestContextsWithoutCredit: a permanent refusal is no reason to lose the document.
func TestContextsWithoutCredit(t *testing.T) {
	t.Parallel()
	w, on := withContexts(t, llmtest.Options{})
	b := newBench(t, on)
	w.Break(llmtest.NoQuota)
	if r := b.again(5, task.Hints{}); r.Contexts != 0 || r.Embedded != r.Chunks || len(r.Warnings) != 1 {
		t.Errorf("%+v", r)
	}
}
