package structure

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// kinds are the kinds of documents, and how each is made.
var kinds = []struct {
	name string
	make func(w *writer)
}{
	{"report", report},
	{"numbered", numbered},
	{"statute", statute},
	{"form", form},
	{"columns", columns},
	{"ruled", ruled},
	{"open", open},
	{"rows", lined(Rows, true)},
	{"book", lined(Book, false)},
	{"stripes", lined(Stripes, false)},
	{"merged", merged},
	{"long", long},
	{"rotated", rotated},
	{"beside", beside},
	{"lists", lists},
	{"code", code},
	{"references", references},
	{"links", links},
	{"leads", leads},
	{"taxes", taxes},
	{"contents", contents},
	{"keywords", keywords},
	{"running", running},
	{"wrapped", wrapped},
	{"alphabet", alphabet},
	{"captions", captions},
	{"paper", paper},
	{"spaced", spaced},
	{"symbols", symbols},
	{"nested", nested},
	{"definitions", definitions},
	{"footnotes", footnotes},
	{"dates", dates},
}

// has reports whether documents of a kind are made in a language: letters of Arabic are not set apart, and Persian
// and Japanese are there for what is in the lines of text only.
func has(kind, language string) bool {
	switch language {
	case "ar":
		return kind != "spaced"
	case "fa", "ja":
		return kind == "dates"
	}
	return true
}

// Kinds are the names of the kinds of documents.
func Kinds() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// Languages are the languages of documents.
func Languages() []string { return []string{"ar", "de", "en", "es", "fa", "ja", "zh"} }

// Documents makes a document of each kind in each language. The same seed makes the same documents.
func Documents(seed uint64) []*Document {
	var all []*Document
	for _, k := range kinds {
		for _, l := range Languages() {
			if !has(k.name, l) {
				continue
			}
			hash := fnv.New64a()
			_, _ = hash.Write([]byte(k.name + l)) // a hash never fails
			w := &writer{
				Document: &Document{Kind: k.name, Language: l}, words: languages[l],
				rand: rand.New(rand.NewPCG(seed, hash.Sum64())),
			}
			w.heading(1, w.pick(w.words.titles))
			k.make(w)
			all = append(all, w.Document)
		}
	}
	return all
}

// writer writes a document.
type writer struct {
	*Document
	words language
	rand  *rand.Rand
	used  []string // headings that the document has
}

func (w *writer) pick(from []string) string { return from[w.rand.IntN(len(from))] }

func (w *writer) add(p Part) { w.Parts = append(w.Parts, p) }

func (w *writer) heading(level int, text string) {
	w.add(Part{Block: extract.Block{Kind: extract.Heading, Level: level, Text: text}})
}

// title returns a text for a heading that the document does not have yet.
func (w *writer) title() string {
	for {
		text := w.pick(w.words.headings)
		if len(w.used) >= len(w.words.headings) {
			text = fmt.Sprintf("%s %d", text, 2+w.rand.IntN(90))
		}
		if !slices.Contains(w.used, text) {
			w.used = append(w.used, text)
			return text
		}
	}
}

func (w *writer) sentence() string {
	s := w.pick(w.words.sentences)
	if strings.Contains(s, "%d") {
		s = fmt.Sprintf(s, 12+w.rand.IntN(1900))
	}
	return s
}

func (w *writer) text(sentences int) string {
	all := make([]string, sentences)
	for i := range all {
		all[i] = w.sentence()
	}
	return strings.Join(all, w.words.space)
}

func (w *writer) paragraph(sentences int) {
	w.add(Part{Block: extract.Block{Kind: extract.Paragraph, Text: w.text(sentences)}})
}

func (w *writer) paragraphs(n int) {
	for range n {
		w.paragraph(2 + w.rand.IntN(4))
	}
}

// lead adds a paragraph with a bold beginning that is not a heading.
func (w *writer) lead() {
	lead := w.pick(w.words.leads)
	w.add(Part{
		Lead: lead, Block: extract.Block{Kind: extract.Paragraph, Text: lead + w.words.space + w.text(2+w.rand.IntN(3))},
	})
}

// list adds n items; marker returns the marker of an item from 0.
func (w *writer) list(n, depth int, marker func(int) string) {
	for i := range n {
		text := w.pick(w.words.items)
		if w.rand.IntN(4) == 0 {
			text = w.sentence()
		}
		w.add(Part{Block: extract.Block{Kind: extract.ListItem, Level: depth, Marker: marker(i), Text: text}})
	}
}

func bullet(int) string       { return "-" }
func decimal(i int) string    { return fmt.Sprintf("%d.", i+1) }
func lettered(i int) string   { return fmt.Sprintf("(%c)", 'a'+i) }
func roman(i int) string      { return []string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII"}[i] }
func number(v float64) string { return fmt.Sprintf("%.2f", v) }

// report: headings by size alone.
func report(w *writer) {
	w.paragraphs(1)
	for range 4 {
		w.heading(2, w.title())
		w.paragraphs(2)
		for range 1 + w.rand.IntN(2) {
			w.heading(3, w.title())
			w.paragraphs(1)
		}
	}
}

// numbered: headings with decimal numbers.
func numbered(w *writer) {
	w.Running = w.pick(w.words.titles)
	for i := 1; i <= 4; i++ {
		w.heading(2, fmt.Sprintf("%d %s", i, w.title()))
		w.paragraphs(1)
		for j := 1; j <= 2; j++ {
			w.heading(3, fmt.Sprintf("%d.%d %s", i, j, w.title()))
			w.paragraphs(2)
		}
	}
}

// statute: roman and lettered headings, paragraphs that begin with a number.
func statute(w *writer) {
	for i := range 4 {
		w.heading(2, roman(i)+". "+w.title())
		for j := range 2 {
			w.heading(3, fmt.Sprintf("%c) %s", 'a'+j, w.title()))
			w.paragraphs(1)
			w.list(3, 0, lettered)
		}
	}
}

// form: paragraphs with bold beginnings, and few headings.
func form(w *writer) {
	for range 3 {
		w.heading(2, w.title())
		for range 6 {
			w.lead()
		}
		w.table(4, 3, false)
	}
}

// columns: two columns of text.
func columns(w *writer) {
	w.Columns = 2
	for range 5 {
		w.heading(2, w.title())
		w.paragraphs(3)
	}
}

// lists: nested lists with bullets and numbers between paragraphs.
func lists(w *writer) {
	for range 3 {
		w.heading(2, w.title())
		w.paragraphs(1)
		w.list(4, 0, bullet)
		w.list(2, 1, bullet)
		w.list(1, 0, bullet)
		w.paragraphs(1)
		w.list(5, 0, decimal)
	}
}

var programs = []string{
	"SELECT id, name\n  FROM stations\n WHERE depth > 12\n ORDER BY name;",
	"for i := range 10 {\n\tfmt.Println(i * i)\n}",
	"CREATE TABLE samples (\n  id bigint PRIMARY KEY,\n  taken timestamptz NOT NULL\n);",
	"def mean(values):\n    total = sum(values)\n    return total / len(values)",
}

// code: programs between paragraphs.
func code(w *writer) {
	for i := range 4 {
		w.heading(2, w.title())
		w.paragraphs(1)
		w.add(Part{Block: extract.Block{Kind: extract.Code, Text: programs[i]}})
		w.paragraphs(1)
	}
}

// references: a running head on each page, and a list of references, which are not headings.
func references(w *writer) {
	w.Running = w.pick(w.words.titles)
	for range 3 {
		w.heading(2, w.title())
		w.paragraphs(5)
	}
	w.heading(2, w.title())
	for i := range 14 {
		w.add(Part{Block: extract.Block{
			Kind: extract.Paragraph,
			Text: fmt.Sprintf("[%d] %s. %s, %d, %d–%d.", i+1, w.pick(w.words.rows), w.pick(w.words.titles),
				1970+w.rand.IntN(55), 10+i, 31+2*i),
		}})
	}
}
