package search_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// library is a store of chunks, whose order is that of its hits. It leaves out documents and chunks, as the database
// does.
type library []store.Passage

func (l library) Search(_ context.Context, q store.Query) (hits []store.Hit, _ error) {
	for i, p := range l {
		if len(hits) == q.Limit || q.Within != nil &&
			(slices.Contains(q.Within.Except, p.DocumentID) || slices.Contains(q.Within.ExceptChunks, p.ChunkID)) {
			continue
		}
		hits = append(hits, store.Hit{
			ChunkID: p.ChunkID, DocumentID: p.DocumentID, Filename: p.Filename, Version: 1, Content: p.Content,
			HeadingPath: p.HeadingPath, Score: 1 - float64(i)/1000,
		})
	}
	return hits, nil
}

func (library) Rarity(context.Context, string) (store.Rarity, error) { return store.Rarity{}, nil }

func (l library) Passages(_ context.Context, q store.PassageQuery) (found []store.Passage, _ error) {
	for _, p := range l {
		if slices.ContainsFunc(l, func(o store.Passage) bool {
			return slices.Contains(q.IDs, o.ChunkID) && o.DocumentID == p.DocumentID &&
				p.Position >= o.Position-q.Around && p.Position <= o.Position+q.Around
		}) {
			found = append(found, p)
		}
	}
	return found, nil
}

// add adds a chunk to a document.
func (l *library) add(document, content string, headings ...string) {
	n := 0
	for _, p := range *l {
		if p.DocumentID == document {
			n++
		}
	}
	*l = append(*l, store.Passage{
		ChunkID: fmt.Sprintf("%s%d", document, n), DocumentID: document, Filename: document, Version: 1, Position: n,
		Content: content, HeadingPath: headings,
	})
}

func finder(t *testing.T) search.Finder {
	t.Helper()
	embedder, err := offline.New(8)
	if err != nil {
		t.Fatal(err)
	}
	return search.Finder{Embedder: embedder}
}

func find(t *testing.T, l library, q search.Query) []search.Hit {
	t.Helper()
	found, err := finder(t).Find(t.Context(), l, q)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(found.Hits); i++ {
		if found.Hits[i].Score > found.Hits[i-1].Score {
			t.Errorf("hit %d has %v, the one before it %v", i, found.Hits[i].Score, found.Hits[i-1].Score)
		}
	}
	return found.Hits
}

// No document has more hits than it may, and others follow, however far behind they are.
func TestPerDocument(t *testing.T) {
	t.Parallel()
	var l library
	for i := range 150 {
		l.add("a", fmt.Sprintf("chunk number %d of a", i))
	}
	for _, name := range []string{"b", "c", "d"} {
		l.add(name, "another chunk of "+name)
	}
	if got := files(find(t, l, search.Query{Text: "chunk", Limit: 4, PerDocument: 2})); got != "a a b c" {
		t.Errorf("two of each: %s", got)
	}
	if got := files(find(t, l, search.Query{Text: "chunk", Limit: 10, PerDocument: 1})); got != "a b c d" {
		t.Errorf("one of each: %s", got)
	}
	if got := files(find(t, l, search.Query{Text: "chunk", Limit: 3})); got != "a a a" {
		t.Errorf("without a limit: %s", got)
	}
	within := &store.Within{Except: []string{"b"}}
	if got := files(find(t, l, search.Query{Text: "chunk", Limit: 4, PerDocument: 1, Within: within})); got != "a c d" {
		t.Errorf("without b: %s", got)
	}
	if len(within.Except) != 1 {
		t.Errorf("the caller's query is changed: %v", within.Except)
	}
}

// Copies in several documents are one hit, which names the others; what says something else is a hit of its own.
func TestFolding(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("the harbour master keeps the keys of every gate and lock along the quay ", 1) +
		"from the old mole up to the new basin where the ferries and the pilots have their berths, and nobody may open " +
		"them in a storm without his word, be it by day or by night, in summer or in winter, at ebb or at flood, as the " +
		"council of the town has ruled in the year of the great fire"
	var l library
	l.add("a", long)
	l.add("b", strings.ReplaceAll(strings.Replace(long, "harbour", "HARBOUR", 1), " the ", "\nthe ")+"!")
	l.add("c", strings.Replace(long, "ebb", "low water", 1))
	l.add("d", strings.Replace(long, "the great fire", "fire 1842", 1))
	l.add("e", "None.", "Debts")
	l.add("f", "None.", "Prior convictions")
	l.add("e", "none", "Debts")
	l.add("g", "None!", "Debts")
	l.add("h", "港口的主人保管着钥匙")
	l.add("i", "港口的主人保管着钥匙。")
	l.add("j", "港口的客人保管着钥匙")
	hits := find(t, l, search.Query{Text: "harbour", Limit: 20})
	var got []string
	for _, h := range hits {
		var line strings.Builder
		line.WriteString(h.ChunkID)
		for _, c := range h.AlsoIn {
			line.WriteString("+" + c.ChunkID)
		}
		got = append(got, line.String())
	}
	if want := "a0+b0 c0 d0 e0+g0 f0 e1 h0+i0 j0"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	// What a number is of, and which side of zero it is on, is not the same.
	l = nil
	for i, text := range []string{
		"At night it is -5 °C", "At night it is 5 °C", "At night it is −5 °C!", "The fee is 5 €", "The fee is 5 %", "The fee is €5", "The fee is 5€",
	} {
		l.add(string(rune('a'+i)), text)
	}
	got = nil
	for _, h := range find(t, l, search.Query{Text: "night", Limit: 20}) {
		got = append(got, fmt.Sprintf("%s %d", h.ChunkID, len(h.AlsoIn)))
	}
	if want := "a0 1 b0 0 d0 1 e0 0 f0 0"; strings.Join(got, " ") != want {
		t.Errorf("signs of numbers: %v, want %s", got, want)
	}
	// The copies of the only hit that is wanted are named, too.
	if hits := find(t, l, search.Query{Text: "night", Limit: 1}); len(hits) != 1 || len(hits[0].AlsoIn) != 1 {
		t.Errorf("one hit: %+v", hits)
	}
	// One word that turns a long text round makes it another one.
	l = nil
	for i, text := range []string{
		long, strings.Replace(long, "may open", "may not open", 1), strings.Replace(long, "may open", "may  Open,", 1),
		strings.Replace(long, "may open", "can't open", 1), strings.Replace(long, "may open", "may nicht open", 1) + " kein",
	} {
		l.add(string(rune('a'+i)), text)
	}
	got = nil
	for _, h := range find(t, l, search.Query{Text: "harbour", Limit: 20}) {
		got = append(got, fmt.Sprintf("%s %d", h.ChunkID, len(h.AlsoIn)))
	}
	if want := "a0 1 b0 0 d0 0 e0 0"; strings.Join(got, " ") != want {
		t.Errorf("words that turn a text round: %v, want %s", got, want)
	}
	// What is folded is replaced by the next hits, however many copies there are.
	l = nil
	for i := range 250 {
		l.add(fmt.Sprintf("copy%03d", i), "This message is confidential.")
	}
	l.add("x", "The first other text")
	l.add("y", "The second other text")
	if got := files(find(t, l, search.Query{Text: "message", Limit: 3})); got != "copy000 x y" {
		t.Errorf("behind many copies: %s", got)
	}
}

// What comes with a hit is under its heading, in order, and no chunk comes twice.
func TestExpand(t *testing.T) {
	t.Parallel()
	var l library
	for _, at := range []struct{ text, heading string }{
		{"zero", "A"}, {"one", "A"}, {"two", "A"}, {"three", "A"}, {"four", "B"}, {"five", "B"},
	} {
		l.add("a", at.text, at.heading)
	}
	l.add("b", "of another document", "B")
	texts := func(all []store.Passage) string {
		var out []string
		for _, p := range all {
			out = append(out, p.Content)
		}
		return strings.Join(out, " ")
	}
	order := func(first ...int) (o library) {
		for _, i := range first {
			o = append(o, l[i])
		}
		for i, p := range l {
			if !slices.Contains(first, i) {
				o = append(o, p)
			}
		}
		return o
	}
	for _, c := range []struct {
		first []int
		n     int
		want  string
	}{
		{[]int{2}, 1, "one|three"},
		{[]int{2}, 4, "zero one|three"},
		{[]int{3}, 2, "one two|"},
		{[]int{4}, 2, "|five"},
		{[]int{1, 3}, 2, "zero|two;|"},
		{[]int{0, 1}, 4, "|two three;|"},
		{[]int{2}, 0, "|"},
		{[]int{6}, 3, "|"},
	} {
		var got []string
		for _, h := range find(t, order(c.first...), search.Query{Text: "x", Limit: len(c.first), Expand: c.n}) {
			got = append(got, texts(h.Before)+"|"+texts(h.After))
		}
		if strings.Join(got, ";") != c.want {
			t.Errorf("%d around %v: %q, want %q", c.n, c.first, got, c.want)
		}
	}
}

// An explanation tells the order before the re-ranker, and the rates.
func TestWhy(t *testing.T) {
	t.Parallel()
	var l library
	l.add("a", "nothing")
	l.add("b", "crane")
	f := finder(t)
	f.Rater = half{}
	found, err := f.Find(t.Context(), l, search.Query{Text: "crane", Limit: 2, Explain: true})
	if err != nil || len(found.Hits) != 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	first := found.Hits[0].Why
	if first == nil || first.Place != 2 || first.StoreScore != 0.999 || first.Rate == nil || *first.Rate != 0.5 {
		t.Errorf("the first: %+v", first)
	}
	if hits := find(t, l, search.Query{Text: "crane", Limit: 2}); hits[0].Why != nil {
		t.Errorf("explained without being asked: %+v", hits[0].Why)
	}
}

// TestFooters: a text that all documents have hides none of what each of them has alone.
func TestFooters(t *testing.T) {
	t.Parallel()
	var l library
	for i := range 600 {
		l.add(fmt.Sprintf("d%03d-", i), "Harbour authority, printed on recycled paper. All rights are reserved by it.")
	}
	for i := range 600 {
		l.add(fmt.Sprintf("d%03d-", i), fmt.Sprintf("The harbour has %d berths for ships that carry grain to %d.", i, 7*i))
	}
	hits := find(t, l, search.Query{Text: "harbour", Limit: 10})
	if len(hits) != 10 || hits[0].ChunkID != "d000-0" || hits[1].ChunkID != "d000-1" || hits[9].ChunkID != "d008-1" {
		t.Errorf("%d hits: %+v", len(hits), hits)
	}
}

// TestFewOfManyDocuments: hits are found in as many documents as are wanted, however many chunks come first in each.
func TestFewOfManyDocuments(t *testing.T) {
	t.Parallel()
	var l library
	for d := range 20 {
		for i := range 120 {
			l.add(fmt.Sprintf("d%02d-", d), fmt.Sprintf("The harbour of town %d has berth %d.", d, i))
		}
	}
	if hits := find(t, l, search.Query{Text: "harbour", Limit: 10, PerDocument: 1}); len(hits) != 10 {
		t.Errorf("%d hits", len(hits))
	}
}

// counting is a Rater that counts its calls.
type counting struct{ calls int }

func (c *counting) Rate(_ context.Context, _ string, texts []string) ([]float64, error) {
	c.calls++
	return make([]float64, len(texts)), nil
}

// TestRaterIsPaidOnce: however far a search looks behind copies, a Rater is asked for the best hits only, and once.
func TestRaterIsPaidOnce(t *testing.T) {
	t.Parallel()
	var l library
	for i := range 600 {
		l.add(fmt.Sprintf("copy%03d-", i), "All rights are reserved by the harbour authority.")
	}
	l.add("x", "The harbour has nine berths.")
	f, r := finder(t), &counting{}
	f.Rater = r
	found, err := f.Find(t.Context(), l, search.Query{Text: "harbour", Limit: 2})
	if err != nil || len(found.Hits) != 2 || r.calls != 1 {
		t.Errorf("%d hits by %d calls of the Rater, want 2 by 1: %v", len(found.Hits), r.calls, err)
	}
}
