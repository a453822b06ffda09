package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// archive is a store that lists a number of documents.
type archive struct {
	agent.Store
	documents int
}

func (a archive) Documents(_ context.Context, q store.DocumentQuery) (all []store.DocumentEntry, err error) {
	for i := range min(a.documents, q.Limit) {
		all = append(all, store.DocumentEntry{DocumentID: fmt.Sprint("d", i), Filename: fmt.Sprint(i, ".pdf"), Chunks: 1})
	}
	return all, nil
}

// Each page of the list of documents says whether that is all, also the last one that a model may ask for.
func TestListedPages(t *testing.T) {
	t.Parallel()
	bed := newBench(t, nil)
	const next, narrow = "there are more: ask for page", "the list ends at 1000 documents, and there may be more: narrow it"
	for _, c := range []struct {
		documents, page int
		note            string // empty: none
	}{
		{50, 1, ""},
		{51, 1, next + " 2"},
		{999, 20, ""},
		{1000, 19, next + " 20"},
		{1000, 20, narrow},
		{3000, 20, narrow},
		{3000, 1, next + " 2"},
	} {
		b := bed.with(t, func(n int, _ llm.Question) llm.Answer {
			if n == 1 {
				return call("list_documents", object{"page": c.page})
			}
			return finish("Listed.")
		})
		b.deps.Store = archive{b.deps.Store, c.documents}
		b.ask(`{"prompt":"What is there?"}`)
		got := results(b.model.questions[1])[0]
		if c.note == "" && strings.Contains(got, "(") || !strings.Contains(got, c.note) {
			t.Errorf("page %d of %d documents: want %q at the end of %s", c.page, c.documents, c.note, got)
		}
	}
}
