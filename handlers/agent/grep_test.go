package agent_test

import (
	"context"
	"errors"
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

// TestGrepRefusesLargePatterns: a pattern whose repetitions multiply is refused before any passage is read.
func TestGrepRefusesLargePatterns(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{`(?:` + strings.Repeat(".?", 240) + `){1000}\\x01`, `(?:a{40}){20}(?:b{40}){20}(?:c{40}){20}`} {
		text, refused, err := agent.NewReader(agent.Deps{Store: long{chunks: 400}}).Call(t.Context(), "grep",
			`{"document": "a.pdf", "pattern": "`+pattern+`"}`)
		if err != nil || !refused || !strings.Contains(text, "2000 are allowed") {
			t.Errorf("%.20s…: %q, %v, %v", pattern, text, refused, err)
		}
	}
}

// ending is a long document whose reader goes away with its first batch.
type ending struct {
	long
	gone context.CancelFunc
}

func (e ending) DocumentPassages(ctx context.Context, q store.DocumentPassageQuery) ([]store.Passage, error) {
	e.gone()
	return e.long.DocumentPassages(ctx, q)
}

// TestGrepEndsWithItsCaller: the passages that were read already are not looked at.
func TestGrepEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err := agent.NewReader(agent.Deps{Store: ending{long{chunks: 150}, cancel}}).Call(ctx, "grep",
		`{"document": "a.pdf", "pattern": "anchor"}`)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
