package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// described is a document with what a search can be narrowed by.
type described struct {
	filename, language string
	metadata           map[string]any
	properties         map[string]any
	contents           []string
}

// ingestDescribed ingests a document of the set contracts.
func (b *bench) ingestDescribed(d described) {
	b.t.Helper()
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, d.filename))
	if err != nil {
		b.t.Fatal(err)
	}
	for first := 0; first < len(d.contents); first += 200 {
		var chunks []store.Chunk
		for i, content := range d.contents[first:min(first+200, len(d.contents))] {
			c := chunk(first+i, content)
			c.Language, c.HeadingPath = d.language, nil
			chunks = append(chunks, c)
		}
		if missing, err := b.StageChunks(b.ctx(), batch(h, s, chunks...)); err != nil || len(missing) > 0 {
			b.t.Fatalf("stage: missing %v, %v", missing, err)
		}
	}
	b.complete(h, store.Effect{Kind: store.EffectActivateDocument, Args: store.Activation{
		DocumentID: s.DocumentID, Version: s.Version, Chunks: len(d.contents), Blob: d.filename, Metadata: d.metadata,
		Reading: store.Reading{
			ContentSHA256: "bytes", TextSHA256: "text",
			Enrichment: store.Enrichment{Language: d.language, Properties: d.properties},
		},
	}})
}

// filesOf are the files of hits, each once, by name.
func filesOf(hits []store.Hit) (files []string) {
	for _, h := range hits {
		files = append(files, h.Filename)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// testSearchWithin: a search finds the documents that it is narrowed to, by words and by vectors, and no others.
func testSearchWithin(t *testing.T, b *bench) {
	day := func(month time.Month, d int) time.Time { return time.Date(2024, month, d, 0, 0, 0, 0, time.UTC) }
	for _, d := range []described{
		{
			"a.txt", "en",
			map[string]any{"year": 2024, "of": map[string]any{"team": "north", "floor": 1}, "tags": []string{"x", "y"}},
			map[string]any{"published": "2024-03-01T00:00:00Z", "created": "2024-05-01T00:00:00Z"},
			[]string{"harbour in spring"},
		},
		{"b.txt", "en-GB", map[string]any{"year": 2023}, map[string]any{"modified": "2024-04-01T12:00:00Z"}, []string{"harbour in summer"}},
		{"c.txt", "de", nil, map[string]any{"created": "2024-06-01T00:00:00Z"}, []string{"harbour in autumn"}},
		{"d.txt", "", nil, nil, []string{"harbour in winter"}}, // of today
	} {
		b.ingestDescribed(d)
	}
	for _, c := range []struct {
		name   string
		within store.Within
		want   []string
	}{
		{"a key", store.Within{Metadata: map[string]any{"year": 2024}}, []string{"a.txt"}},
		{"another type", store.Within{Metadata: map[string]any{"year": "2024"}}, nil},
		{"a part of an object", store.Within{Metadata: map[string]any{"of": map[string]any{"team": "north"}}}, []string{"a.txt"}},
		{"an element", store.Within{Metadata: map[string]any{"tags": []string{"y"}}}, []string{"a.txt"}},
		{"from", store.Within{From: day(6, 1)}, []string{"c.txt", "d.txt"}},
		{"to", store.Within{To: day(4, 1)}, []string{"a.txt"}},
		{"in another zone", store.Within{To: day(4, 1).Add(12 * time.Hour).In(time.FixedZone("", 7200))}, []string{"a.txt", "b.txt"}},
		{"from and to", store.Within{From: day(4, 1), To: day(6, 1)}, []string{"b.txt", "c.txt"}},
		{"a language", store.Within{Language: "en"}, []string{"a.txt", "b.txt"}},
		{"a region", store.Within{Language: "EN-gb"}, []string{"b.txt"}},
		{"all", store.Within{Metadata: map[string]any{"year": 2024}, From: day(1, 1), Language: "en"}, []string{"a.txt"}},
		{"none", store.Within{Metadata: map[string]any{"year": 2024}, Language: "de"}, nil},
		{"nothing", store.Within{}, []string{"a.txt", "b.txt", "c.txt", "d.txt"}},
	} {
		for name, q := range map[string]store.Query{
			"words": {Text: "harbour"}, "vector": {Embedding: embed("harbour")},
			"both": {Text: "harbour", Embedding: embed("harbour")}, "an operator": {Text: "harbour OR lighthouse"},
		} {
			q.Within = &c.within
			if got := filesOf(b.search(q)); !slices.Equal(got, c.want) {
				t.Errorf("%s, by %s: %v, want %v", c.name, name, got, c.want)
			}
		}
	}
	hits := b.search(store.Query{Text: "harbour", Embedding: embed("harbour")})
	var ids []string
	for _, h := range hits[:min(2, len(hits))] {
		ids = append(ids, h.DocumentID)
	}
	for _, h := range b.search(store.Query{Text: "harbour", Embedding: embed("harbour"), Within: &store.Within{Except: ids}}) {
		if slices.Contains(ids, h.DocumentID) {
			t.Errorf("%s is found, though it is left out", h.Filename)
		}
	}
	seen := []string{hits[0].ChunkID}
	for name, q := range map[string]store.Query{
		"words": {Text: "harbour"}, "vector": {Embedding: embed("harbour")}, "an operator": {Text: "harbour OR lighthouse"},
	} {
		q.Within = &store.Within{ExceptChunks: seen}
		if got := b.search(q); len(got) != 3 || slices.ContainsFunc(got, func(h store.Hit) bool { return h.ChunkID == seen[0] }) {
			t.Errorf("by %s: %d of 3 hits, or one that is left out", name, len(got))
		}
	}
	other := newBench(t, b.open)
	other.ingestDescribed(described{"own.txt", "en", map[string]any{"year": 2024}, nil, []string{"harbour of another"}})
	if got := filesOf(other.search(store.Query{
		Text: "harbour", Embedding: embed("harbour"), Within: &store.Within{Metadata: map[string]any{"year": 2024}},
	})); !slices.Equal(got, []string{"own.txt"}) {
		t.Errorf("I10: another client finds %v", got)
	}
}

// testSearchNarrowly: a narrow search finds its chunk, however many better ones there are outside, even by a word that
// most chunks have.
func testSearchNarrowly(t *testing.T, b *bench) {
	better := make([]string, 2500) // more than what aw_ranked reads at once, and than an index returns in aw_nearest
	for i := range better {
		better[i] = fmt.Sprintf("harbour pilot %d", i)
	}
	b.ingestDescribed(described{"better.txt", "en", map[string]any{"year": 2024}, nil, better})
	b.ingestDescribed(described{
		"narrow.txt", "en",
		map[string]any{"year": 2023},
		nil,
		[]string{"The lights of the old harbour wall are lit at dusk by a man with a ladder."},
	})
	for name, q := range map[string]store.Query{
		"words": {Text: "harbour pilot"}, "an operator": {Text: "harbour OR pilot"},
		"vector": {Embedding: embed("harbour pilot")}, "both": {Text: "harbour pilot", Embedding: embed("harbour pilot")},
	} {
		q.Within = &store.Within{Metadata: map[string]any{"year": 2023}}
		if got := filesOf(b.search(q)); !slices.Equal(got, []string{"narrow.txt"}) {
			t.Errorf("by %s: %v", name, got)
		}
	}
}
