package storetest

import (
	"fmt"
	"hash/fnv"
	"math"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func staging(h store.Holder, filename string) store.Staging {
	return store.Staging{Holder: h, DocumentSet: "contracts", Filename: filename, Blob: "in/" + filename}
}

// embed makes a vector of a text. Equal texts have equal vectors; other texts hardly ever have near ones.
func embed(text string) []float32 {
	v := make([]float32, Dimensions)
	var norm float64
	for i := range v {
		h := fnv.New32a()
		fmt.Fprintf(h, "%d %s", i, text)
		v[i] = float32(h.Sum32())/math.MaxUint32 - 0.5
		norm += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(norm))
	}
	return v
}

func chunk(position int, content string) store.Chunk {
	return store.Chunk{
		Position: position, Content: content, HeadingPath: []string{"Terms", "Payment"}, Pages: []int{1, 2},
		Kind: "text", Tokens: 7,
		Key: "key of " + content, Boxes: []store.Box{
			{Page: 1, Left: 0.1, Top: 0.2, Right: 0.3, Bottom: 0.4},
		}, Embedding: embed(content),
	}
}

func batch(h store.Holder, s store.StagedVersion, chunks ...store.Chunk) store.ChunkBatch {
	return store.ChunkBatch{
		Holder: h, DocumentID: s.DocumentID, Version: s.Version, Model: "test-model", Chunks: chunks,
	}
}

// stage stages a chunk for each content.
func (b *bench) stage(h store.Holder, s store.StagedVersion, contents ...string) {
	b.t.Helper()
	var chunks []store.Chunk
	for i, content := range contents {
		chunks = append(chunks, chunk(i, content))
	}
	missing, err := b.StageChunks(b.ctx(), batch(h, s, chunks...))
	if err != nil || len(missing) != 0 {
		b.t.Fatalf("stage chunks: missing %v, %v", missing, err)
	}
}

func activate(s store.StagedVersion, chunks int) store.Effect {
	return store.Effect{Kind: store.EffectActivateDocument, Args: store.Activation{
		Reading: store.Reading{
			ContentSHA256: fmt.Sprintf("sha-%d", s.Version), TextSHA256: "text-1", Format: "pdf", Pipeline: "p1",
			Pages: 2, Characters: 99, Extractor: "native",
			Enrichment: store.Enrichment{
				Title: "Terms", Language: "en",
				Outline:    []store.Heading{{Level: 1, Text: "Terms", Page: 1, Chunk: new(0)}},
				Properties: map[string]any{"author": "Ada"}, PersonalData: &store.PersonalData{
					Mode: "tag", Detector: "d@1", Found: map[string]int{"EMAIL": 2},
				},
			},
		},
		DocumentID: s.DocumentID, Version: s.Version, Chunks: chunks, Blob: "in/a.pdf", SourceETag: "e1",
	}}
}

// ingest makes the next version of a document, with the contents as its chunks.
func (b *bench) ingest(filename string, contents ...string) store.StagedVersion {
	b.t.Helper()
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, filename))
	if err != nil {
		b.t.Fatalf("stage %s: %v", filename, err)
	}
	b.stage(h, s, contents...)
	b.complete(h, activate(s, len(contents)))
	return s
}

func (b *bench) search(q store.Query) []store.Hit {
	b.t.Helper()
	if q.Limit == 0 {
		q.Limit = 10
	}
	hits, err := b.Search(b.ctx(), q)
	if err != nil {
		b.t.Fatalf("search: %v", err)
	}
	return hits
}

// wantFound checks how many chunks a full-text search finds.
func (b *bench) wantFound(text string, want int) {
	b.t.Helper()
	if hits := b.search(store.Query{Text: text}); len(hits) != want {
		b.t.Errorf("%q finds %d chunks, want %d: %+v", text, len(hits), want, hits)
	}
}
