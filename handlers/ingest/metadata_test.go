package ingest_test

import (
	"encoding/json"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// A number that no double can hold is kept, and found, as it was sent: at the first ingest, and when only the metadata
// changes.
func TestMetadataNumbers(t *testing.T) {
	t.Parallel()
	const even, odd, long = "9007199254740992", "9007199254740993", "0.12345678901234567890123"
	b := newBench(t)
	b.Put("a.md", "# Invoice\n\nThe harbour bills the crane.")
	for _, n := range []string{odd, even, long, odd} {
		b.ingest(`{"filename":"a.md","document_set":"docs","metadata":{"n":`+n+`}}`, task.Hints{})
		if got := handlertest.Query[string](b.Bench, `select metadata ->> 'n' from documents`); got != n {
			t.Errorf("sent %s, kept %s", n, got)
		}
	}
	for n, want := range map[string]int{odd: 1, even: 0} {
		var asked store.Metadata
		if err := json.Unmarshal([]byte(`{"n":`+n+`}`), &asked); err != nil {
			t.Fatal(err)
		}
		hits, err := b.Store.Search(t.Context(), store.Query{Text: "harbour", Limit: 5, Within: &store.Within{Metadata: asked}})
		if err != nil || len(hits) != want {
			t.Errorf("%d hits for %s, want %d; %v", len(hits), n, want, err)
		}
	}
}
