package ingest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// stagedParts records the parts of terms that are staged.
type stagedParts struct {
	store.Documents
	parts []store.TermsPart
}

func (s *stagedParts) StageTerms(ctx context.Context, p store.TermsPart) error {
	s.parts = append(s.parts, p)
	return s.Documents.StageTerms(ctx, p)
}

// TestLongDocumentsStageTheirTerms: the commit of a long document does not make the terms of all its chunks, which would
// take longer than a commit may. Those of a short one cost no call of their own.
func TestLongDocumentsStageTheirTerms(t *testing.T) {
	t.Parallel()
	terms := &stagedParts{}
	b := newBench(t, func(d *ingest.Deps) { terms.Documents, d.Documents = d.Documents, terms })
	for sections, parts := range map[int]int{3: 0, 1100: 2} {
		terms.parts = nil
		var text strings.Builder
		for i := range sections {
			fmt.Fprintf(&text, "# Berth %d\n\nBerth %d has %d bollards.\n\n", i, i, i%7)
		}
		name := fmt.Sprintf("%d.md", sections)
		b.Put(name, text.String())
		r := b.ingest(`{"filename":"`+name+`","document_set":"docs"}`, task.Hints{})
		next := 0
		for _, p := range terms.parts {
			if p.From != next || p.Language != r.Language {
				t.Errorf("%d chunks: a part from %d on in %q, want %d, %q", r.Chunks, p.From, p.Language, next, r.Language)
			}
			next = p.From + p.Limit
		}
		if len(terms.parts) != parts || parts > 0 && next < r.Chunks {
			t.Errorf("%d chunks: %d parts, up to %d, want %d", r.Chunks, len(terms.parts), next, parts)
		}
	}
}
