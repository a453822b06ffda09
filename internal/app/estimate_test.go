package app_test

import (
	"context"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// paragraphs is a document of equal paragraphs.
type paragraphs int

func (n paragraphs) Extract(
	_ context.Context, _ extract.Source, _ extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	text := strings.Repeat("The crane stands still all night. ", 60) // a chunk of its own
	for range n {
		if err := emit(extract.Block{Kind: extract.Paragraph, Text: text}); err != nil {
			return extract.Info{}, err
		}
	}
	return extract.Info{Pages: int(n), Properties: map[string]string{"unread_pages": "1"}}, nil
}

// TestEstimateOfRepeatedText: equal questions are counted once, as they are asked once.
func TestEstimateOfRepeatedText(t *testing.T) {
	t.Parallel()
	cfg := config.Config{Contexts: config.Contexts{Model: "gpt-4o-mini", MaxTokens: 300_000}}
	for n, most := range map[paragraphs]int{1: 1, 400: 4} {
		got, err := app.EstimateIngest(t.Context(), cfg, n, extract.Source{}, extract.Limits{})
		if err != nil || got.Chunks < int(n) || got.ContextRequests < 1 || got.ContextRequests > most || got.TooLong ||
			len(got.Warnings) != 1 {
			t.Errorf("%d paragraphs: %+v, %v", n, got, err)
		}
	}
}
