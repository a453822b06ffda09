package storetest

import (
	"math"
	"slices"
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
		"a phrase, and both": {Text: `"invoice payments" payable`, Embedding: embed("Termination requires written notice")},
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
		before, excess := 1.0, 3.0
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
			case "excess":
				if l.Words == nil && l.Known != nil || meaning.Base == nil || l.Words != nil && (l.Known == nil || words.Base == nil || l.Pairs == nil) {
					t.Errorf("%s, hit %d: %+v", name, i, l)
					continue
				}
				sum := max(meaning.Score-*meaning.Base, 0) / (1 - *meaning.Base) * l.Weights["meaning"]
				if l.Words != nil {
					sum += *l.Known * (l.Weights["words"]*max(words.Score-*words.Base, 0) + *l.Pairs*l.Weights["pairs"])
				}
				if l.Structured && l.Complete {
					sum++
				}
				if sum > excess+1e-6 {
					t.Errorf("%s, hit %d: the legs make %v, those of the one before it %v", name, i, sum, excess)
				}
				excess = sum
				continue
			case "fusion":
				fused := 0.0
				for leg, place := range map[string]int{"words": words.Place, "meaning": meaning.Place} {
					if place > 0 {
						fused += l.Weights[leg] * 51 / float64(50+place)
					}
				}
				if fused > before+1e-9 {
					t.Errorf("%s, hit %d: the places make %v, those of the one before it %v", name, i, fused, before)
				}
				before = fused
				continue
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

// testSearchWorth: also with a model's vectors a score means the same from question to question.
func testSearchWorth(t *testing.T, b *bench) {
	b.ingestIn("pilot.txt", "en", "The pilot boards a tanker at noon.")
	for _, of := range []string{"north", "south", "east", "west", "old", "new"} {
		b.ingestIn(of+".txt", "en", "The "+of+" harbour opens its gates in the morning.")
	}
	near := embed("The pilot boards a tanker at noon.")
	far := slices.Clone(near)
	for i := range far {
		far[i] = -far[i]
	}
	top := func(q store.Query) float64 {
		t.Helper()
		q.Limit = 20
		hits := b.search(q)
		if len(hits) == 0 {
			t.Fatalf("%q finds nothing", q.Text)
		}
		for i, h := range hits {
			if h.Score < 0 || h.Score > 1 || i > 0 && h.Score > hits[i-1].Score {
				t.Errorf("%q: hit %d has %v", q.Text, i, h.Score)
			}
		}
		return hits[0].Score
	}
	// Words alone, meaning alone, both, and neither: a question about nothing that is there still has nearest chunks.
	words, meaning := top(store.Query{Text: "pilot tanker", Embedding: far}), top(store.Query{Text: "zebra", Embedding: near})
	both := top(store.Query{Text: "pilot tanker", Embedding: near})
	if words < 0.5 || meaning < 0.9 || both < max(words, meaning) {
		t.Errorf("words %v, meaning %v, both %v", words, meaning, both)
	}
	little := top(store.Query{Text: "harbour pilot dredger quagga", Embedding: far})
	if little >= both {
		t.Errorf("with one of two words %v, with all %v", little, both)
	}
	for i := range far {
		far[i] = 0
	}
	far[0] = 1
	for _, h := range b.search(store.Query{Text: "zebra quagga", Embedding: far, Limit: 20}) {
		if near := max(h.Similarity, 0); math.Abs(h.Score-near*near) > 1e-6 || h.Matched {
			t.Errorf("nonsense is worth what its vector is: %+v", h)
		}
	}
}
