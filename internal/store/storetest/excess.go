package storetest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// angled is a vector whose cosine with angled(0) is that of the angle.
func angled(radians float64) []float32 {
	v := make([]float32, Dimensions)
	v[0], v[1] = float32(math.Cos(radians)), float32(math.Sin(radians))
	return v
}

// testSearchExcess: with a model's vectors the leg decides that tells the hits apart, whichever it is. By places both
// questions would be answered by harbour.txt.
func testSearchExcess(t *testing.T, b *bench) {
	b.ingestAt("harbour.txt", "en", "Rotterdam has a harbour, and a tariff.", angled(0.50))
	b.ingestAt("depth.txt", "en", "The basin is dredged each spring.", angled(0.51))
	b.ingestAt("dues.txt", "en", "The tariff of pilot dues is in the annex.", angled(0.52))
	for i := range 45 {
		b.ingestAt(fmt.Sprintf("rest-%02d.txt", i), "en", fmt.Sprintf("Berth %d is let to a yard.", i), angled(0.53+0.001*float64(i)))
	}
	first := func(q store.Query) string {
		t.Helper()
		q.Limit = 20
		hits := b.search(q)
		for i, h := range hits {
			if h.Score < 0 || h.Score > 1 || i > 0 && h.Score > hits[i-1].Score {
				t.Errorf("%q: hit %d has %v", q.Text, i, h.Score)
			}
		}
		if len(hits) == 0 {
			return ""
		}
		return hits[0].Filename
	}
	if got := first(store.Query{Text: "What is the tariff of pilot dues?", Embedding: angled(0)}); got != "dues.txt" {
		t.Errorf("all words, and vectors that are all alike: %s", got)
	}
	// Only the name is a word of the collection.
	if got := first(store.Query{Text: "Wie tief wird in Rotterdam gebaggert?", Embedding: angled(0.515)}); got == "" {
		t.Error("a question in another language finds nothing")
	}
	plain := store.Query{Text: "Wann wird das Becken von Rotterdam ausgebaggert?", Embedding: angled(-1)}
	b.ingestAt("basin.txt", "en", "Each March a ship deepens it.", angled(-1.05))
	if got := first(plain); got != "basin.txt" {
		t.Errorf("a near vector, and a name: %s", got)
	}
	plain.Text = "Rotterdam harbour"
	if got := first(plain); got != "harbour.txt" {
		t.Errorf("all words are as sure as a near vector: %s", got)
	}
}

// testSearchPairs: of chunks with the same words and nearly the same vector the one comes first that has the words in the
// order of the question, also when the other one is a little nearer; in another order it is the nearer one.
func testSearchPairs(t *testing.T, b *bench) {
	b.ingestAt("order.txt", "en", "The pilot boards a tanker at noon.", angled(0.20))
	b.ingestAt("near.txt", "en", "A tanker at noon boards the pilot.", angled(0.15))
	for question, want := range map[string]string{
		"Does the pilot board a tanker?": "order.txt", "tanker boards pilot": "near.txt", "tanker, at noon": "near.txt",
	} {
		hits := b.search(store.Query{Text: question, Embedding: angled(0), Explain: true})
		if len(hits) != 2 || hits[0].Filename != want {
			t.Errorf("%s: %+v, want %s first", question, hits, want)
		}
		for _, h := range hits {
			if h.Legs == nil || h.Legs.Method != "excess" || h.Legs.Pairs == nil || h.Legs.Pieces != nil {
				t.Errorf("%s, %s: %+v", question, h.Filename, h.Legs)
			}
		}
	}
}

// testSearchTail: what is behind the hits that a leg tells apart is in the order of both legs' places, and not all of one
// leg before all of the other.
func testSearchTail(t *testing.T, b *bench) {
	for i := range 55 {
		b.ingestAt(fmt.Sprintf("word-%02d.txt", i), "en", "dock"+strings.Repeat(" buoy", i), make([]float32, Dimensions))
		b.ingestAt(fmt.Sprintf("near-%02d.txt", i), "en", fmt.Sprintf("Berth %d is let.", i), angled(0.001*float64(i)))
	}
	places := map[string]int{}
	for i, h := range b.search(store.Query{Text: "dock", Embedding: angled(0), Limit: 100}) {
		places[h.Filename] = i + 1
	}
	for _, pair := range [][2]string{
		{"word-05.txt", "word-45.txt"}, {"near-05.txt", "word-45.txt"}, {"word-42.txt", "near-45.txt"}, {"near-42.txt", "word-45.txt"},
	} {
		first, second := places[pair[0]], places[pair[1]]
		if first == 0 || second == 0 || first > second {
			t.Errorf("%s is at %d, %s at %d", pair[0], first, pair[1], second)
		}
	}
}

// testSearchKnown: what counts as unknown is a word that no chunk has, in no form, and that is a stop word of no language.
func testSearchKnown(t *testing.T, b *bench) {
	b.ingestIn("en.txt", "en", "The pilot boards the ships.")
	b.ingestIn("de.txt", "de", "Der Lotse geht an Bord.")
	known := func(text string) float64 {
		t.Helper()
		hits := b.search(store.Query{Text: text, Embedding: embed("x"), Explain: true})
		for _, h := range hits {
			if l := h.Legs; l != nil && l.Known != nil {
				return *l.Known
			}
		}
		t.Fatalf("%q: no hit says what is known: %+v", text, hits)
		return 0
	}
	for text, want := range map[string]float64{
		"pilot": 1, "Which ship has the pilots?": 1, "Wo ist der Lotse an Bord?": 1,
	} {
		if got := known(text); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	one, two := known("pilot quagga"), known("pilot quagga zebra quagga")
	if one >= 0.5 || two >= one/2 {
		t.Errorf("one of two words is known: %v; one of three, of which one is twice there: %v", one, two)
	}
}
