package ingest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/privacy"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// writer is a stand-in for the model that writes contexts.
type writer struct {
	*llmtest.Server
	deps *ingest.Contexts
}

// asked matches the numbers of the passages that a question asks about.
var asked = regexp.MustCompile(`\[(\d+)\][,.]`)

// contextsOf answers a question: "of" for each passage that it asks about.
func contextsOf(of string) func(llmtest.ChatRequest) llmtest.Reply {
	return func(r llmtest.ChatRequest) llmtest.Reply {
		type one struct {
			Passage int    `json:"passage"`
			Context string `json:"context"`
		}
		all := []one{}
		text := r.Last().Text
		for _, m := range asked.FindAllStringSubmatch(text[strings.LastIndex(text, "\nWrite"):], -1) {
			var c one
			_, _ = fmt.Sscan(m[1], &c.Passage)
			c.Context = of
			all = append(all, c)
		}
		raw, _ := json.Marshal(map[string]any{"contexts": all})
		return llmtest.Reply{Text: string(raw)}
	}
}

const ofPort = "Part of the handbook of the port of Rotterdam."

// withContexts gives a bench a model that writes contexts.
func withContexts(t *testing.T, options llmtest.Options) (*writer, func(*ingest.Deps)) {
	t.Helper()
	w := &writer{Server: llmtest.New(t, options)}
	chat, err := openai.NewChat(openai.Config{
		BaseURL: w.URL(), APIKey: llmtest.Key, Model: "small", HTTPClient: w.Client(), Dependency: taskerr.Contexts,
	})
	if err != nil {
		t.Fatal(err)
	}
	return w, func(d *ingest.Deps) {
		w.deps = &ingest.Contexts{
			Chat: chat, Window: 128_000, Counter: token.New(), MaxTokens: 100_000, Answers: d.Documents.(store.Partials),
			Log: slog.New(slog.DiscardHandler),
		}
		d.Contexts = w.deps
	}
}

func withoutContexts(d *ingest.Deps) { d.Contexts = nil }

// rotterdam counts the chunks that a search finds by a word that is only in the contexts.
func (b *bench) rotterdam() int {
	b.Helper()
	hits, err := b.Store.Search(b.Context(), store.Query{Text: "Rotterdam", Limit: 100})
	if err != nil {
		b.Fatal(err)
	}
	for _, h := range hits {
		if strings.Contains(h.Content, "Rotterdam") || strings.Contains(strings.Join(h.HeadingPath, " "), "Rotterdam") {
			b.Errorf("a context is shown: %+v", h)
		}
	}
	return len(hits)
}

// again asks for the document once more with other bytes; changed are the sections that differ.
func (b *bench) again(n int, hints task.Hints, changed ...int) result {
	b.Helper()
	b.Put("handbook.md", text(n, changed...))
	return b.ingest(handbook, hints)
}

// TestContexts: each chunk gets a context, which is embedded and found, and not shown. An unchanged document costs no
// request, a changed one its changes, and a forced one nothing that is known.
func TestContexts(t *testing.T) {
	t.Parallel()
	w, on := withContexts(t, llmtest.Options{Reply: contextsOf(ofPort)})
	b := newBench(t, on)
	first := b.again(40, task.Hints{})
	if first.Contexts != first.Chunks || first.Chunks < 40 || first.ContextRequests != w.Requests() || w.Requests() < 2 ||
		w.Requests() > 4 || first.ContextTokens != w.Tokens() || first.Embedded != first.Chunks || len(first.Warnings) > 0 {
		t.Errorf("first: %+v after %d requests and %d tokens", first, w.Requests(), w.Tokens())
	}
	if n := b.rotterdam(); n != first.Chunks {
		t.Errorf("%d of %d chunks are found by their context", n, first.Chunks)
	}
	for _, r := range b.model.Received() {
		for _, input := range r.Inputs {
			if !strings.HasPrefix(input, ofPort+"\n\n") {
				t.Errorf("embedded without its context: %.80q", input)
			}
		}
	}
	if first.TokensSent <= 40*len(strings.Fields(ofPort)) {
		t.Errorf("%d tokens are said to be embedded", first.TokensSent)
	}

	requests, inputs := w.Requests(), b.model.Inputs()
	b.rebuild(watch(privacy.Tag, privacy.Patterns{})) // it is read again
	if r := b.ingest(handbook, task.Hints{}); !r.Unchanged || w.Requests() != requests || r.Contexts != first.Chunks ||
		len(r.Warnings) > 0 {
		t.Errorf("unchanged: %+v after %d requests", r, w.Requests()-requests)
	}
	changed := b.again(40, task.Hints{}, 20)
	if changed.Contexts != changed.Chunks || changed.ContextRequests != 1 || w.Requests() != requests+1 ||
		b.model.Inputs() > inputs+3 || changed.Embedded == 0 || changed.Embedded > 3 {
		t.Errorf("changed: %+v after %d requests and %d inputs", changed, w.Requests()-requests, b.model.Inputs()-inputs)
	}
	last := w.Received()[w.Requests()-1].Chat.Last().Text
	if n := len(asked.FindAllString(last[strings.LastIndex(last, "\nWrite"):], -1)); n != changed.Embedded {
		t.Errorf("a change of %d chunks asks for %d contexts", changed.Embedded, n)
	}
	requests, inputs = w.Requests(), b.model.Inputs()
	if r := b.ingest(handbook, task.Hints{Force: true}); r.Unchanged || r.Contexts != r.Chunks || w.Requests() != requests ||
		b.model.Inputs() != inputs {
		t.Errorf("forced: %+v after %d requests and %d inputs", r, w.Requests()-requests, b.model.Inputs()-inputs)
	}
}

// TestContextsOfCopies: a copy with the same text costs no request, nor does another model of embeddings, and a deletion
// leaves no context.
func TestContextsOfCopies(t *testing.T) {
	t.Parallel()
	w, on := withContexts(t, llmtest.Options{Reply: contextsOf(ofPort)})
	b := newBench(t, on)
	first := b.again(5, task.Hints{})
	requests := w.Requests()
	b.Put("copy.md", text(5))
	if r := b.ingest(`{"filename":"copy.md","document_set":"docs"}`, task.Hints{}); r.Contexts != first.Chunks ||
		w.Requests() != requests || r.Embedded != 0 || r.ContextTokens != 0 {
		t.Errorf("a copy: %+v after %d requests", r, w.Requests()-requests)
	}
	b.rebuild(func(d *ingest.Deps) { d.Embedder = renamed{d.Embedder, new("another")} })
	if r := b.ingest(handbook, task.Hints{}); r.Unchanged || r.Contexts != r.Chunks || w.Requests() != requests ||
		len(r.Warnings) > 0 {
		t.Errorf("by another model of embeddings: %+v after %d requests", r, w.Requests()-requests)
	}
	for _, name := range []string{"copy.md", "handbook.md"} {
		b.forget(name)
	}
	if all := b.everything(); strings.Contains(all, "Rotterdam") {
		t.Error("contexts of deleted documents are left")
	}
}

// forget deletes a document.
func (b *bench) forget(name string) {
	b.Helper()
	c := b.Begin(fmt.Sprintf(`{"filename":%q,"document_set":"docs","delete":true}`, name), task.Hints{})
	out, err := b.handler.Handle(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	var r map[string]any
	b.Complete(c, out, &r)
}

// TestContextsOfAnOldIndex: what was indexed without contexts stays so, and says it, until a task is forced; what has
// them keeps them when the mode is off.
func TestContextsOfAnOldIndex(t *testing.T) {
	t.Parallel()
	w, on := withContexts(t, llmtest.Options{Reply: contextsOf(ofPort)})
	b := newBench(t)
	before := b.again(12, task.Hints{})
	b.rebuild(on)
	if r := b.ingest(handbook, task.Hints{}); !r.Unchanged || w.Requests() != 0 || r.Contexts != 0 ||
		!said(r, "hints.force") {
		t.Errorf("unchanged: %+v after %d requests", r, w.Requests())
	}
	inputs := b.model.Inputs()
	changed := b.again(12, task.Hints{}, 3)
	if changed.Contexts == 0 || changed.Contexts > 3 || changed.Contexts != changed.Embedded || w.Requests() != 1 ||
		b.model.Inputs() != inputs+changed.Embedded {
		t.Errorf("changed: %+v after %d requests", changed, w.Requests())
	}
	forced := b.ingest(handbook, task.Hints{Force: true})
	if forced.Contexts != before.Chunks || forced.Embedded != before.Chunks-changed.Contexts {
		t.Errorf("forced: %+v", forced)
	}

	b.rebuild(withoutContexts)
	requests, inputs := w.Requests(), b.model.Inputs()
	off := b.again(12, task.Hints{}, 3, 7)
	if off.Contexts == 0 || off.Contexts < off.Chunks-3 || off.Contexts+off.Embedded != off.Chunks ||
		b.model.Inputs() != inputs+off.Embedded {
		t.Errorf("changed without the mode: %+v", off)
	}
	if r := b.ingest(handbook, task.Hints{Force: true}); r.Contexts != 0 || b.rotterdam() != 0 || w.Requests() != requests {
		t.Errorf("forced without the mode: %+v", r)
	}
}

// said reports whether a warning has these words.
func said(r result, words string) bool {
	return slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, words) })
}

// TestContextBudget: if the contexts of a document may cost more than they may, none is asked for.
func TestContextBudget(t *testing.T) {
	t.Parallel()
	w, on := withContexts(t, llmtest.Options{Reply: contextsOf(ofPort)})
	b := newBench(t, on, func(d *ingest.Deps) { d.Contexts.MaxTokens = 12_000 })
	if r := b.again(40, task.Hints{}); r.Contexts != 0 || w.Requests() != 0 || !said(r, "CONTEXT_MAX_TOKENS") ||
		r.Embedded != r.Chunks {
		t.Errorf("%+v after %d requests", r, w.Requests())
	}
	if r := b.again(5, task.Hints{Force: true}); r.Contexts != r.Chunks || w.Tokens() > 12_000 {
		t.Errorf("a shorter one: %+v, %d tokens", r, w.Tokens())
	}
}

// TestContextPlan: what contexts may cost is written down before the first request.
func TestContextPlan(t *testing.T) {
	t.Parallel()
	w, on := withContexts(t, llmtest.Options{Reply: contextsOf(ofPort)})
	b := newBench(t, on)
	b.Put("handbook.md", text(40))
	c := b.Begin(handbook, task.Hints{})
	p := &handlertest.Progress{KillAfter: []int{1}}
	c.Progress = p
	if _, err := b.handler.Handle(t.Context(), c); !errors.Is(err, handlertest.ErrKilled) || w.Requests() != 0 {
		t.Fatalf("killed before the first request: %v after %d requests", err, w.Requests())
	}
	said := p.Messages[len(p.Messages)-1]
	var chunks, requests, tokens int
	if _, err := fmt.Sscanf(said, "contexts of %d chunks: %d requests to the model, at most %d tokens", &chunks, &requests,
		&tokens); err != nil {
		t.Fatalf("%q: %v", said, err)
	}
	c.Progress = &handlertest.Progress{}
	out, err := b.handler.Handle(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r := b.complete(c, out); r.Contexts != chunks || w.Requests() != requests || w.Tokens() > tokens ||
		w.Tokens() < tokens/3 {
		t.Errorf("%q, then %d requests, %d tokens: %+v", said, w.Requests(), w.Tokens(), r)
	}
}

// TestContextsRedacted: the model that writes contexts gets no redacted text.
func TestContextsRedacted(t *testing.T) {
	t.Parallel()
	w, on := withContexts(t, llmtest.Options{Reply: contextsOf(ofPort)})
	b := newBench(t, on, watch(privacy.Redact, privacy.Patterns{}))
	b.Put("handbook.md", "# Pilots\n\nWrite to ada@example.org, or pay to DE89 3704 0044 0532 0130 00.\n")
	if r := b.ingest(handbook, task.Hints{}); r.Contexts != 1 {
		t.Errorf("%+v", r)
	}
	for _, r := range w.Received() {
		b.wantNoSecret("the question", string(r.Chat.Raw))
	}
}
