package storetest

import (
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// ingestInto ingests a document into a set.
func (b *bench) ingestInto(set, filename string, contents ...string) {
	b.t.Helper()
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), store.Staging{Holder: h, DocumentSet: set, Filename: filename, Blob: filename})
	if err != nil {
		b.t.Fatal(err)
	}
	b.stage(h, s, contents...)
	b.complete(h, activate(s, len(contents)))
}

// testSearchFilters: a search sees the active versions of its set, and nothing else.
func testSearchFilters(t *testing.T, b *bench) {
	b.ingestInto("one", "a.pdf", "harbour in spring", "harbour in summer")
	b.ingestInto("two", "a.pdf", "harbour in autumn")
	b.ingestInto("two", "b.pdf", "the old harbour", "the older harbour")
	b.ingestInto("two", "b.pdf", "harbour in winter") // its next version
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), store.Staging{Holder: h, DocumentSet: "two", Filename: "c.pdf", Blob: "c.pdf"})
	if err != nil {
		t.Fatal(err)
	}
	b.stage(h, s, "harbour not yet")
	for set, want := range map[string][]string{
		"":     {"autumn", "spring", "summer", "winter"},
		"one":  {"spring", "summer"},
		"two":  {"autumn", "winter"},
		"none": nil,
	} {
		for name, q := range map[string]store.Query{
			"words": {Text: "harbour"}, "vector": {Embedding: embed("harbour")},
			"both": {Text: "harbour", Embedding: embed("harbour")},
		} {
			q.DocumentSet = set
			var got []string
			for _, hit := range b.search(q) {
				got = append(got, strings.TrimPrefix(hit.Content, "harbour in "))
				if set != "" && hit.DocumentSet != set {
					t.Errorf("%s in %q: a hit of %q", name, set, hit.DocumentSet)
				}
			}
			if missing := unlike(want, got); missing != "" {
				t.Errorf("%s in %q: %s", name, set, missing)
			}
		}
	}
}

// unlike returns the difference of two lists, ignoring order; empty: there is none.
func unlike(want, got []string) string {
	counts := map[string]int{}
	for _, w := range want {
		counts[w]++
	}
	for _, g := range got {
		counts[g]--
	}
	for _, n := range counts {
		if n != 0 {
			return fmt.Sprintf("got %v, want %v", got, want)
		}
	}
	return ""
}

// testSearchOrder: the order of hits by words, which is stable.
func testSearchOrder(t *testing.T, b *bench) {
	var common []string
	for i := range 12 {
		common = append(common, fmt.Sprintf("harbour dues of berth%d", i))
	}
	b.ingest("common.pdf", common...)
	b.ingest("rare.pdf", "a pilot comes aboard")
	b.ingest("both.pdf", "the pilot knows the harbour")
	first := func(text string) string {
		t.Helper()
		hits := b.search(store.Query{Text: text, Limit: 20})
		if len(hits) == 0 {
			t.Fatalf("%q finds nothing", text)
		}
		return hits[0].Filename
	}
	if got := first("harbour pilot"); got != "both.pdf" {
		t.Errorf("all words: %s is first", got)
	}
	if got := first("harbour pilot lighthouse"); got != "both.pdf" {
		t.Errorf("most words: %s is first", got)
	}
	if got := first("harbour aboard lighthouse"); got != "rare.pdf" {
		t.Errorf("a rare word and a common one, apart: %s is first", got)
	}
	b.wantFound("pilot -harbour", 1)
	b.wantFound("lighthouse pilot -harbour", 1) // the exclusion applies to partial matches, too
	b.wantFound(`lighthouse pilot -"knows the"`, 1)
	b.wantFound("-harbour", 0)
	// Equal hits are ordered by file and position, in every search.
	hits := b.search(store.Query{Text: "dues", Limit: 5})
	for i, h := range hits {
		if want := fmt.Sprintf("harbour dues of berth%d", i); h.Content != want || h.Score != hits[0].Score {
			t.Errorf("hit %d is %q with %v, want %q", i, h.Content, h.Score, want)
		}
	}
	// A hit by words alone has its similarity if the query has a vector.
	if hits := b.search(store.Query{Text: "aboard", Embedding: embed("a pilot comes aboard"), Limit: 1}); len(
		hits) != 1 || hits[0].Similarity < 0.99 {
		t.Errorf("similarity: %+v", hits)
	}
}

// testSearchOddities: every text is a valid question.
func testSearchOddities(t *testing.T, b *bench) {
	b.ingest("a.pdf", "O'Brien owes 5 % at C:\\temp & <b>more</b> | less")
	for _, text := range []string{
		`'`, `"`, `\`, `\'`, `''' or 1=1 --`, `"unclosed`, `- - -`, `--`, `-"`, `-""`, `!`, `a & | b`, `:*`, `foo:*`,
		`foo:ABCD`, `<->`, `<2>`,
		`(`, `))((`, `%s %d`, `$1 $$ $q$`, "tab\tand\nnewline", "NUL \x00 byte", "\xff\xfe", "emoji 🚢", "日本語", "é́́",
		"or", "OR or OR", `-or`,
		strings.Repeat("x", 5000), strings.Repeat("é", 3000), strings.Repeat("many words ", 2000),
		strings.Repeat("-no ", 500),
		strings.Repeat(`"`, 999), strings.Repeat("'", 999), strings.Repeat(`\`, 999), "http://a.example/b?c=d&e=f#g",
		"a@b.example", "1e309 -1.5 0x1F",
		"-40", "−40 –40 --40 -.5 -$5 -,", `-"40`, `-40" -"a`, "OR", "OR a OR", "a OR OR b", "a OR -b OR", "-OR -or",
		"“a” „b“ -“c d”", "\u200b-a\u00a0-b",
		"-" + strings.Repeat("x", 5000), strings.Repeat("a OR ", 1500), strings.Repeat(`-"a b" `, 900),
		strings.Repeat("-1 ", 2000),
	} {
		if _, err := b.Search(b.ctx(), store.Query{Text: text, Embedding: embed("any"), Limit: 3}); err != nil {
			t.Errorf("%.60q: %v", text, err)
		}
	}
	parts := []string{
		"a", "O'Brien", "'", `"`, `\`, "-", " ", "|", "&", "!", "(", ")", ":", "*", "<", ">", "or", "%", ";", "--",
		"/*", "$$", "\n", "é", "<->", "🚢", "OR", " OR ", "-40", "−", "“", "”", "\u00a0", "1990-2000", ".",
	}
	seed := fnv.New64a() // other texts for each store and mode, and the same ones in each run
	_, _ = io.WriteString(seed, t.Name())
	random := rand.New(rand.NewPCG(seed.Sum64(), 2))
	for range 100 {
		var text strings.Builder
		for range random.IntN(12) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		if _, err := b.Search(b.ctx(), store.Query{
			Text: text.String(), Embedding: embed("any"),
			Limit: 3,
		}); err != nil {
			t.Errorf("%q: %v", text.String(), err)
		}
	}
	b.wantFound(`o'brien`, 1)
	b.wantFound(`C:\temp`, 1)
}

// Documents are two clients with the same documents: harbour.pdf of the set contracts, in its second version, and one
// of another set.
type Documents struct{ Clients []string }

// NewDocuments ingests them.
func NewDocuments(t *testing.T, open Open) Documents {
	t.Helper()
	var d Documents
	for range 2 {
		b := newBench(t, open)
		b.ingest("harbour.pdf", "the first harbour of "+b.client)
		b.ingest("harbour.pdf", "the harbour of "+b.client)
		b.ingestInto("others", "harbour.pdf", "another harbour of "+b.client)
		d.Clients = append(d.Clients, b.client)
	}
	return d
}
