package ingest_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// TestContextsOfRepeatedText: parts of a document that are the same question are asked about once, also at the same time.
func TestContextsOfRepeatedText(t *testing.T) {
	t.Parallel()
	w, on := withContexts(t, llmtest.Options{Reply: contextsOf(ofPort)})
	b := newBench(t, on)
	b.Put("handbook.md", "# Log\n\n"+strings.Repeat("The gate is closed, and the crane stands still all night. ", 2_500))
	r := b.ingest(handbook, task.Hints{})
	asked := map[string]int{}
	for _, q := range w.Received() {
		asked[q.Chat.Last().Text]++
	}
	if w.Requests() != len(asked) || w.Requests() < 2 {
		t.Errorf("%d requests with %d questions: %+v", w.Requests(), len(asked), r)
	}
	if r.Contexts != r.Chunks || r.ContextRequests != len(asked) || r.ContextTokens != w.Tokens() || len(r.Warnings) > 0 {
		t.Errorf("%+v", r)
	}
}

// TestContextsOfAnotherLimit: that the tokens of one document were spent is no answer to another one's question.
func TestContextsOfAnotherLimit(t *testing.T) {
	t.Parallel()
	w, on := withContexts(t, llmtest.Options{Reply: func(r llmtest.ChatRequest) llmtest.Reply {
		if r.MaxTokens < 2000 {
			return llmtest.Reply{Text: "{", Finish: "length"}
		}
		return contextsOf(ofPort)(r)
	}})
	b := newBench(t, on, func(d *ingest.Deps) { d.Contexts.MaxTokens = 4000 })
	if r := b.again(5, task.Hints{}); r.Contexts != 0 || w.Requests() != 1 || !said(r, "was reached") {
		t.Fatalf("the first: %+v after %d requests", r, w.Requests())
	}
	b.rebuild(on)
	b.Put("copy.md", text(5))
	if r := b.ingest(`{"filename":"copy.md","document_set":"docs"}`, task.Hints{}); r.Contexts != r.Chunks {
		t.Errorf("a copy, with more tokens: %+v", r)
	}
}
