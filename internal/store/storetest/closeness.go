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
}

// testSearchScore: the scores by words alone are what docs/documents.md says of them.
func testSearchScore(t *testing.T, b *bench) {
	b.ingestIn("pilot.txt", "en", "The pilot boards a tanker at noon in the harbour.")
	b.ingestIn("crane.txt", "en", "A crane lifts cargo from the quay in the harbour.")
	b.ingestIn("storm.txt", "en", "The storm of last winter closed the harbour.")
	for _, of := range []string{"north", "south", "east", "west", "old", "new", "upper", "lower"} {
		b.ingestIn(of+".txt", "en", "The "+of+" harbour opens its gates in the morning.")
	}
	for question, want := range map[string]struct {
		file     string
		from, to float64
	}{
		"pilot boards tanker":    {"pilot.txt", 0.85, 1},
		"pilot crane storm":      {"pilot.txt", 0.3, 0.5},
		"pilot dredges channels": {"pilot.txt", 0.6, 0.82},
		"harbour pilot":          {"north.txt", 0, 0.2},
		`"pilot boards" crane`:   {"crane.txt", 0, 0.5},
	} {
		found := false
		for _, h := range b.search(store.Query{Text: question, Limit: 20}) {
			if h.Filename == want.file {
				found = true
				if h.Score < want.from || h.Score > want.to {
					t.Errorf("%s: %s has %.2f, want %v to %v", question, h.Filename, h.Score, want.from, want.to)
				}
			}
		}
		if !found {
			t.Errorf("%s: %s is not found", question, want.file)
		}
	}
}
