package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// testSearchMarks: a hit has the words in its language that the search matched, in their forms.
func testSearchMarks(t *testing.T, b *bench) {
	for _, d := range []struct{ name, language, content string }{
		{"en", "en", "The runners were running to the Quay’s end, and many ships came to die; parking isn't parliament. U.S. rail-cars at example.com cost -12 or 3.5 %. O'Brien saw C:\\dock\\quay and 'ropes'."},
		{"de", "de", "Die Häuser der Städte waren im Hafen; ein Haushalt ist kein Haus. Größen"},
		{"tr", "tr", "Limanlarda gemilerin bekleme süreleri ve ücretleri uzadı."},
		{"fi", "fi", "Satamassa laivojen lastaaminen kestää taloissa."},
		{"ar", "ar", "وصلت السَّفِينَة إلى الميناء مع الكتاب"},
		{"fa", "fa", "کشتی در بندر است"},
		{"pl", "pl", "statkami portowymi do portu"},
		{"vi", "vi", "do tugs tug a tugboat"},
		{"zh", "zh", "港湾里黑豹队的防守 tower 丢了"},
	} {
		b.ingestIn(d.name, d.language, d.content)
	}
	for _, c := range []struct {
		text, file string
		want       []string // in order
		alike      []string
	}{
		{"Who runs to the quay?", "en", []string{"quay", "running"}, nil},
		{"parks", "en", []string{"parking"}, nil},
		{"die Häuser", "en", nil, []string{"häuser"}}, // the German article is no English verb
		{"Wie sind die Häuser der Stadt?", "de", []string{"haus", "häuser", "städte"}, nil},
		{"größe", "de", []string{"größen"}, nil},
		{"ve limanlar", "tr", []string{"limanlarda"}, nil},
		{"ücret ve süre", "tr", []string{"süreleri", "ücretleri"}, nil},
		{"talo", "fi", []string{"taloissa"}, nil},
		{"سفينة", "ar", []string{"السفينة"}, nil},
		{"كشتي", "fa", []string{"كشتي"}, nil}, // as Arabic keyboards write it
		{"port portu", "pl", []string{"portu"}, []string{"port", "portu"}},
		{"What do tugs tug?", "vi", []string{"tug", "tugs"}, []string{"tug", "tugs"}},
		{"tower 防守", "zh", []string{"tower"}, nil},
		{`"running" O'Brien C:\dock 'rope'`, "en", []string{"brien", "c", "dock", "o", "ropes", "running"}, nil},
		{`running ' \ '' \' "`, "en", []string{"running"}, nil},
		{"ship -quay", "en", nil, nil}, // it is left out
		{"ships -crane", "en", []string{"ships"}, nil},
		{"rail-car of the U.S. for 12 or 3.5 at example.com", "en", []string{"12", "3.5", "cars", "example.com", "rail", "u.s"}, nil},
	} {
		m := b.marks(c.text, c.file)
		if m == nil {
			if c.want != nil || c.alike != nil {
				t.Errorf("%s: %s has no marks", c.text, c.file)
			}
			continue
		}
		slices.Sort(m.Words)
		slices.Sort(m.Alike)
		if !slices.Equal(m.Words, c.want) && len(m.Words)+len(c.want) > 0 || c.alike != nil && !slices.Equal(m.Alike, c.alike) {
			t.Errorf("%s: %s has %q, alike %q; want %q, %q", c.text, c.file, m.Words, m.Alike, c.want, c.alike)
		}
		if stemmed := !slices.Contains([]string{"pl", "vi", "zh", "fa"}, c.file); m.Stemmed != stemmed {
			t.Errorf("%s has a stemmer: %v", c.file, m.Stemmed)
		}
	}
	if m := b.marks("to the", "en"); m == nil || !slices.Equal(m.Alike, []string{"the", "to"}) {
		t.Errorf("nothing but stop words: %+v", m)
	}
	for _, h := range b.search(store.Query{Text: "quay", Explain: true}) {
		if h.Marks != nil {
			t.Error("marks without being asked")
		}
	}
	other := newBench(t, b.open)
	other.ingestIn("theirs", "en", "Their secret quays run.")
	for _, h := range other.search(store.Query{Text: "quay running", Mark: "quay running"}) {
		if h.Marks == nil || strings.Join(h.Marks.Words, " ") != "quays run" && strings.Join(h.Marks.Words, " ") != "run quays" {
			t.Errorf("I10: another client's hit has %+v", h.Marks)
		}
	}
}

// marks are those of a file's hit in a search by words and vector; nil: it is no hit.
func (b *bench) marks(text, file string) *store.Marks {
	b.t.Helper()
	for _, h := range b.search(store.Query{Text: text, Limit: 50, Embedding: embed(text), Mark: store.PositiveTerms(text), Explain: true}) {
		if h.Filename == file {
			if h.Legs == nil || h.Marks == nil {
				b.t.Errorf("%s: %s has legs %v, marks %v", text, file, h.Legs, h.Marks)
			}
			return h.Marks
		}
	}
	return nil
}

// testSearchMarksEach: every hit has them, also with the largest limit and a question of many words.
func testSearchMarksEach(t *testing.T, b *bench) {
	var question strings.Builder
	question.WriteString("quays")
	for i := range 100 {
		if i < 30 {
			fmt.Fprintf(&question, " q%d", i)
		}
		b.ingestIn(fmt.Sprintf("%d.txt", i), []string{"en", "de"}[i%2], fmt.Sprintf("The quays, q%d", i))
	}
	hits := b.search(store.Query{Text: question.String(), Limit: 100, Mark: question.String()})
	for _, h := range hits {
		if h.Marks == nil || !h.Marks.Stemmed || !slices.Contains(h.Marks.Words, "quays") {
			t.Fatalf("%s: %+v", h.Filename, h.Marks)
		}
	}
	if len(hits) != 100 {
		t.Errorf("%d hits", len(hits))
	}
	for _, odd := range []string{"-", `"`, `\`, "'", "😀", "<mark>", "\n", "|&!():*", "StartSel=x", strings.Repeat("x", 3000), strings.Repeat("é", 3000)} {
		for _, h := range b.search(store.Query{Text: "quays " + odd, Mark: "quays " + odd}) {
			if h.Marks == nil || !slices.Contains(h.Marks.Words, "quays") {
				t.Errorf("%.20q: %+v", odd, h.Marks)
			}
		}
	}
	if hits := b.search(store.Query{Embedding: embed("x"), Mark: "x", Limit: 3}); len(hits) != 3 {
		t.Errorf("without words: %d hits", len(hits))
	}
	if hits := b.search(store.Query{Text: "nothing", Mark: "nothing", DocumentSet: "none"}); len(hits) != 0 {
		t.Errorf("in a set without documents: %d hits", len(hits))
	}
}
