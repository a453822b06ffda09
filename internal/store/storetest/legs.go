package storetest

import (
	"math"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// testSearchExplains: the score of a hit is what its legs, their weights and their method make of it.
func testSearchExplains(t *testing.T, b *bench) {
	b.ingest("a.pdf", "The invoice is payable within thirty days", "Late invoice payments bear interest")
	b.ingest("b.pdf", "Termination requires written notice")
	value := func(v *float64) float64 {
		if v == nil {
			return 0
		}
		return *v
	}
	for name, q := range map[string]store.Query{
		"words": {Text: "invoice payable"}, "vector": {Embedding: embed("Late invoice payments bear interest")},
		"both": {Text: "invoice payable", Embedding: embed("Termination requires written notice")}, "a phrase": {Text: `"invoice payments" payable`},
	} {
		for _, h := range b.search(q) {
			if h.Legs != nil {
				t.Errorf("%s: explained without being asked", name)
			}
		}
		q.Explain = true
		hits := b.search(q)
		if len(hits) == 0 {
			t.Errorf("%s: nothing is found", name)
		}
		for i, h := range hits {
			l := h.Legs
			if l == nil {
				t.Errorf("%s, hit %d: not explained", name, i)
				continue
			}
			words, meaning := store.Leg{}, store.Leg{}
			if l.Words != nil {
				words = *l.Words
			}
			if l.Meaning != nil {
				meaning = *l.Meaning
			}
			if words.Place+meaning.Place == 0 {
				t.Errorf("%s, hit %d is in no leg: %+v", name, i, l)
			}
			var want float64
			switch l.Method {
			case "sum":
				want = 1 - math.Exp(-(words.Score*l.Weights["words"]+max(meaning.Score, 0)*l.Weights["meaning"])*
					(1+value(l.Pieces)*l.Weights["pieces"])-value(l.Pairs)*l.Weights["pairs"])
				if l.Structured {
					want /= 2
					if l.Complete {
						want += 0.5
					}
				}
			case "fusion":
				for leg, place := range map[string]int{"words": words.Place, "meaning": meaning.Place} {
					if place > 0 {
						want += l.Weights[leg] * 51 / float64(50+place)
					}
				}
			}
			if math.Abs(h.Score-want) > 1e-6 {
				t.Errorf("%s, hit %d has %v, its legs make %v: %+v", name, i, h.Score, want, l)
			}
		}
	}
	other := newBench(t, b.open)
	if hits := other.search(store.Query{Text: "invoice", Embedding: embed("invoice"), Explain: true}); len(hits) != 0 {
		t.Errorf("I10: another client finds %+v", hits)
	}
}
