package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// long is a store with one document of so many chunks, without a word in them.
type long struct {
	store.Store
	chunks int
}

func (l long) Outlines(context.Context, string, string) ([]store.DocumentOutline, error) {
	return []store.DocumentOutline{{DocumentEntry: store.DocumentEntry{DocumentID: "d", Filename: "a.pdf", Chunks: l.chunks}}}, nil
}

func (l long) DocumentPassages(_ context.Context, q store.DocumentPassageQuery) ([]store.Passage, error) {
	return make([]store.Passage, min(q.Limit, l.chunks-q.From)), nil
}

// TestGrepOfALongDocument: what grep did not look at is not said to have no match.
func TestGrepOfALongDocument(t *testing.T) {
	t.Parallel()
	for chunks, want := range map[int]string{
		400: "no line of it matches", 20_000: "no line of it matches", 20_001: "only the first 20000 of its 20001 passages",
	} {
		text, refused, err := agent.NewReader(agent.Deps{Store: long{chunks: chunks}}).Call(t.Context(), "grep",
			`{"document": "a.pdf", "pattern": "anchor"}`)
		if err != nil || refused || !strings.Contains(text, want) || strings.Contains(text, "no line") != (chunks <= 20_000) {
			t.Errorf("%d chunks: %q, %v, %v", chunks, text, refused, err)
		}
	}
}
