package chunk_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// author writes pages of prose of made-up words, deterministically by seed.
type author struct {
	*rand.Rand
}

func newAuthor(seed uint64) author { return author{rand.New(rand.NewPCG(seed, 1))} }

func (a author) word() string {
	syllables := []string{
		"ba", "con", "de", "fer", "gol", "in", "lo", "mar", "nes", "o", "per", "qua", "ri", "sta", "tur", "ve",
	}
	var b strings.Builder
	for range 1 + a.IntN(3) {
		b.WriteString(syllables[a.IntN(len(syllables))])
	}
	return b.String()
}

func (a author) sentence() string {
	words := make([]string, 6+a.IntN(16))
	for i := range words {
		words[i] = a.word()
	}
	return strings.ToUpper(words[0][:1]) + strings.Join(words, " ")[1:] + "."
}

func (a author) paragraph() string {
	sentences := make([]string, 2+a.IntN(7))
	for i := range sentences {
		sentences[i] = a.sentence()
	}
	return strings.Join(sentences, " ")
}

// page is about 400 words.
func (a author) page(number int) (blocks []extract.Block) {
	for words := 0; words < 400; {
		text := a.paragraph()
		words += strings.Count(text, " ")
		blocks = append(blocks, extract.Block{Kind: extract.Paragraph, Text: text, Page: number})
	}
	return blocks
}

// book is 100 pages with a heading every headingEvery pages, or none for zero.
func (a author) book(headingEvery int) (blocks []extract.Block) {
	for number := range 100 {
		if headingEvery > 0 && number%headingEvery == 0 {
			blocks = append(blocks, extract.Block{
				Kind: extract.Heading, Level: 1 + number/headingEvery%2, Text: a.sentence(), Page: number + 1,
			})
		}
		blocks = append(blocks, a.page(number+1)...)
	}
	return blocks
}

// scroll is the same with one paragraph per ten pages, as in texts without blank lines.
func (a author) scroll() (blocks []extract.Block) {
	for range 10 {
		var texts []string
		for n := range 10 {
			for _, b := range a.page(n) {
				texts = append(texts, b.Text)
			}
		}
		blocks = append(blocks, extract.Block{Kind: extract.Paragraph, Text: strings.Join(texts, " ")})
	}
	return blocks
}

// stream is a scroll without full stops or capitals, as from bad OCR.
func (a author) stream() []extract.Block {
	blocks := a.scroll()
	for i, b := range blocks {
		blocks[i].Text = strings.ToLower(strings.ReplaceAll(b.Text, ".", ""))
	}
	return blocks
}

// ledger is one table of 3000 rows.
func (a author) ledger() []extract.Block {
	rows := [][]extract.Cell{{{Text: "Name"}, {Text: "Amount"}, {Text: "Remark"}}}
	for i := range 3000 {
		rows = append(rows, []extract.Cell{
			{Text: a.word()}, {Text: fmt.Sprint(a.IntN(10_000))}, {Text: fmt.Sprint(i) + a.word() + " " + a.word()},
		})
	}
	return []extract.Block{{Kind: extract.TableKind, Table: &extract.Table{Rows: rows, Headers: 1}}}
}

// manual is 1200 sections of some sentences, 12 in each chapter.
func (a author) manual() (blocks []extract.Block) {
	for i := range 1200 {
		if i%12 == 0 {
			blocks = append(blocks, extract.Block{Kind: extract.Heading, Level: 1, Text: a.sentence()})
		}
		blocks = append(blocks, extract.Block{Kind: extract.Heading, Level: 2, Text: a.word() + " " + a.word()},
			extract.Block{Kind: extract.Paragraph, Text: a.paragraph()})
	}
	return blocks
}

// caching is a Counter that counts no text twice, because the versions of a document share most text.
type caching map[string]int

func (r caching) Count(text string) int {
	n, ok := r[text]
	if !ok {
		n = counter.Count(text)
		r[text] = n
	}
	return n
}

func keys(t testing.TB, counter llm.Counter, blocks []extract.Block) map[string]bool {
	found := make(map[string]bool)
	for _, c := range chunks(t, chunk.Config{Title: "A book", Counter: counter}, blocks...) {
		found[c.Key] = true
	}
	return found
}

// fresh returns how many keys of the blocks are new to the document.
func fresh(t testing.TB, counter llm.Counter, before map[string]bool, blocks []extract.Block) (n int) {
	for key := range keys(t, counter, blocks) {
		if !before[key] {
			n++
		}
	}
	return n
}

// An edit changes the chunks around it, not those of the rest of the document. (A changed heading changes its
// whole section, because it is part of the embedded text.)
func TestEditsAreLocal(t *testing.T) {
	t.Parallel()
	for name, blocks := range map[string][]extract.Block{
		"headings":      newAuthor(1).book(3),
		"no headings":   newAuthor(2).book(0),
		"one long text": newAuthor(3).scroll(),
		"no sentences":  newAuthor(3).stream(),
		"one table":     newAuthor(4).ledger(),
		"small parts":   newAuthor(7).manual(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counter := caching{}
			before, edits := keys(t, counter, blocks), newAuthor(5)
			within := func(what string, counts []int, share float64) {
				slices.Sort(counts)
				sum := 0
				for _, n := range counts {
					sum += n
				}
				mean := float64(sum) / float64(len(counts))
				worst := counts[len(counts)-1]
				t.Logf("%s: of %d keys %.1f are new in the mean (%.1f %%), %d at worst (%.1f %%)", what, len(before),
					mean, 100*mean/float64(len(before)), worst, 100*float64(worst)/float64(len(before)))
				if float64(worst) > share*float64(len(before)) {
					t.Errorf("%s: %d of %d keys are new, more than %.0f %%", what, worst, len(before), 100*share)
				}
			}
			var changed, removed []int
			for range 15 {
				at := edits.IntN(len(blocks))
				for blocks[at].Kind == extract.Heading { // it is above every chunk of its section
					at++
				}
				edited := slices.Clone(blocks)
				edited[at] = change(edits, edited[at])
				changed = append(changed, fresh(t, counter, before, edited))
				if len(blocks) > 100 {
					removed = append(removed, fresh(t, counter, before, slices.Delete(slices.Clone(blocks), at, at+1)))
				}
			}
			within("one paragraph changed", changed, 0.03)
			if len(removed) > 0 {
				within("one block removed", removed, 0.03)
			}
			var inserted []int
			for range 8 {
				edited := slices.Concat(edits.page(1), blocks)
				for i := range edited[len(edited)-len(blocks):] {
					edited[len(edited)-len(blocks)+i].Page++
				}
				inserted = append(inserted, fresh(t, counter, before, edited))
			}
			within("one page inserted at the front", inserted, 0.05)
		})
	}
}

// change rewrites one sentence of a block, or one row.
func change(a author, b extract.Block) extract.Block {
	if b.Table != nil {
		rows := slices.Clone(b.Table.Rows)
		rows[1+a.IntN(len(rows)-1)] = []extract.Cell{{Text: a.word()}, {Text: "1"}, {Text: a.word()}}
		b.Table = &extract.Table{Rows: rows, Headers: b.Table.Headers}
		return b
	}
	if !strings.Contains(b.Text, ".") {
		at := a.IntN(len(b.Text) / 2)
		at += strings.Index(b.Text[at:], " ")
		b.Text = b.Text[:at] + " " + a.word() + b.Text[at:]
		return b
	}
	sentences := strings.SplitAfter(b.Text, ". ")
	sentences[a.IntN(len(sentences))] = a.sentence() + " "
	b.Text = strings.Join(sentences, "")
	return b
}

// The sizes that the cuts aim at.
func TestSizes(t *testing.T) {
	t.Parallel()
	for name, blocks := range map[string][]extract.Block{
		"no headings": newAuthor(2).book(0), "one long text": newAuthor(3).scroll(), "one table": newAuthor(4).ledger(),
	} {
		all, sum := chunks(t, chunk.Config{}, blocks...), 0
		for i, c := range all {
			sum += c.Tokens
			if c.Tokens < chunk.DefaultMin {
				t.Errorf("%s: chunk %d of %d has %d tokens", name, i, len(all), c.Tokens)
			}
		}
		mean := sum / len(all)
		t.Logf("%s: %d chunks of %d tokens in the mean", name, len(all), mean)
		if mean < chunk.DefaultTarget*3/4 || mean > chunk.DefaultTarget*5/4 {
			t.Errorf("%s: chunks of %d tokens in the mean, aimed at %d", name, mean, chunk.DefaultTarget)
		}
	}
}

// The last chunk of a section isn't too small: of the two positions within reach, the later one would leave 30
// tokens.
func TestNoCrumbs(t *testing.T) {
	t.Parallel()
	a := newAuthor(6)
	for range 20 {
		blocks := []extract.Block{
			para(a.word() + " " + prose(170)), para(a.word() + " " + prose(170)), para(a.word() + " " + prose(180)),
			para(prose(25)),
		}
		all := chunks(t, chunk.Config{}, blocks...)
		for i, c := range all {
			if c.Tokens < chunk.DefaultMin {
				t.Errorf("chunk %d of %d has %d tokens", i, len(all), c.Tokens)
			}
		}
	}
}

func BenchmarkChunk(b *testing.B) {
	for name, blocks := range map[string][]extract.Block{
		"book": newAuthor(1).book(3), "one long text": newAuthor(3).scroll(), "one table": newAuthor(4).ledger(),
	} {
		size := 0
		for _, block := range blocks {
			for _, part := range parts(block) {
				size += len(part)
			}
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				keys(b, counter, blocks)
			}
		})
	}
}
