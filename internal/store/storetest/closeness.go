package storetest

import (
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// testSearchClosely: of chunks with the same words the one comes first that has parts of more, or has them in the order of
// the question; and a score is from 0 to 1.
func testSearchClosely(t *testing.T, b *bench) {
	b.ingestIn("compound-b.txt", "de", "Die Hafengebühren der Stadt sind hoch.")
	b.ingestIn("compound-a.txt", "de", "Die Schiffskräne der Stadt sind hoch.")
	b.ingestIn("order-b.txt", "en", "The pilot boards a tanker at noon.")
	b.ingestIn("order-a.txt", "en", "A tanker boards the pilot at noon.")
	b.ingestIn("thai-b.txt", "th", "ท่าเรือเปิด")
	b.ingestIn("thai-a.txt", "th", "เปิดท่าเรือ")
	for question, want := range map[string][]string{
		"Gebühren der Stadt":          {"compound-b.txt", "compound-a.txt"},
		"Does a pilot board tankers?": {"order-b.txt", "order-a.txt"},
		"ท่าเรือเปิด":                 {"thai-b.txt", "thai-a.txt"},
	} {
		hits := b.search(store.Query{Text: question})
		var got []string
		for i, h := range hits {
			got = append(got, h.Filename)
			if h.Score <= 0 || h.Score > 1 || i > 0 && h.Score >= hits[i-1].Score {
				t.Errorf("%s: hit %d has the score %v", question, i, h.Score)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", question, got, want)
		}
	}
	all, some := b.search(store.Query{Text: "pilot boards tanker"}), b.search(store.Query{Text: "pilot dredges channels"})
	if len(all) == 0 || len(some) == 0 || all[0].Score < 0.8 || some[0].Score > 0.8 {
		t.Errorf("with all words %+v, with one of three %+v", all, some)
	}
}
