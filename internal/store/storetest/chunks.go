package storetest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func testReuse(t *testing.T, b *bench) {
	b.ingest("source.pdf", "shared", "own")
	known, err := b.KnownChunks(b.ctx(), []string{"key of shared", "key of own", "key of nothing"})
	if err != nil || len(known) != 2 || !known["key of shared"] || known["key of nothing"] {
		t.Fatalf("known: %v, %v", known, err)
	}
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "copy.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	reused, unknown := chunk(0, "shared"), chunk(1, "nothing")
	reused.Embedding, unknown.Embedding = nil, nil
	missing, err := b.StageChunks(b.ctx(), batch(h, s, reused, unknown))
	if err != nil || len(missing) != 1 || missing[0] != unknown.Key {
		t.Fatalf("missing: %v, %v", missing, err)
	}
	otherModel := batch(h, s, reused)
	otherModel.Model = "another-model"
	if missing, err = b.StageChunks(b.ctx(), otherModel); err != nil || len(missing) != 1 {
		t.Errorf("another model's embedding was taken: %v, %v", missing, err)
	}
	if _, err := b.StageChunks(b.ctx(), batch(h, s, chunk(1, "nothing"))); err != nil {
		t.Fatal(err)
	}
	b.complete(h, activate(s, 2))
	hits := b.search(store.Query{Embedding: embed("shared")})
	if len(hits) < 2 || hits[0].Content != "shared" || hits[1].Content != "shared" || hits[1].Similarity < 0.99 {
		t.Errorf("the copied vector: %+v", hits)
	}
	bad := chunk(0, "nan")
	bad.Embedding[3] = float32(math.NaN())
	if _, err := b.StageChunks(b.ctx(), batch(h, s, bad)); err == nil {
		t.Error("a vector that is not a number")
	}
	other := newBench(t, b.open)
	if known, err := other.KnownChunks(other.ctx(), []string{"key of shared"}); err != nil || len(known) != 0 {
		t.Errorf("I10: another client's chunks are known: %v, %v", known, err)
	}
}

// testBulk: a batch as large as those of an ingest is one transaction, however its vectors are sent.
func testBulk(t *testing.T, b *bench) {
	b.ingest("source.pdf", "shared")
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "bulk.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	const n = 40
	chunks := make([]store.Chunk, n)
	for i := range chunks {
		chunks[i] = chunk(i, fmt.Sprintf("bulk%d", i))
	}
	chunks[7] = chunk(7, "shared")
	chunks[7].Embedding, chunks[9].Embedding = nil, nil
	missing, err := b.StageChunks(b.ctx(), batch(h, s, chunks...))
	if err != nil || len(missing) != 1 || missing[0] != chunks[9].Key {
		t.Fatalf("missing: %v, %v", missing, err)
	}
	chunks[9].Embedding = embed("bulk9")
	chunks[3] = chunk(3, "another text in its place")
	if missing, err = b.StageChunks(b.ctx(), batch(h, s, chunks...)); err != nil || len(missing) != 0 {
		t.Fatalf("missing: %v, %v", missing, err)
	}

	stale := batch(h, s, chunks...)
	stale.Fence++
	if _, err := b.StageChunks(b.ctx(), stale); !errors.Is(err, store.ErrFenced) {
		t.Errorf("I4: under another fence: %v", err)
	}
	narrow := slices.Clone(chunks)
	narrow[20].Embedding = []float32{1, 2}
	if _, err := b.StageChunks(b.ctx(), batch(h, s, narrow...)); err == nil ||
		!strings.Contains(err.Error(), "dimensions") {
		t.Errorf("a vector of another width: %v", err)
	}
	huge := slices.Clone(chunks)
	huge[20].Embedding = slices.Clone(huge[20].Embedding)
	huge[20].Embedding[0] = 1e6 // more than a halfvec holds
	if _, err := b.StageChunks(b.ctx(), batch(h, s, huge...)); err == nil {
		t.Error("a component that is too large for a halfvec was accepted")
	}

	b.complete(h, activate(s, n))
	for _, i := range []int{0, 3, 7, 9, n - 1} {
		want := chunks[i].Content
		hits := b.search(store.Query{Embedding: embed(want), Limit: 2})
		if len(hits) == 0 || hits[0].Content != want || hits[0].Similarity < 0.99 {
			t.Errorf("chunk %d: %+v", i, hits)
		}
	}
	other := newBench(t, b.open)
	if _, err := other.StageChunks(b.ctx(), batch(h, s, chunks...)); !errors.Is(err, store.ErrFenced) {
		t.Errorf("I10: another client's job: %v", err)
	}
}

// testManyChunks stages more chunks than fit one request.
func testManyChunks(t *testing.T, b *bench) {
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "long.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	const n = 450
	var contents []string
	for i := range n {
		contents = append(contents, fmt.Sprintf("paragraph number%d", i))
	}
	b.stage(h, s, contents...)
	again, err := b.StageDocument(b.ctx(), staging(h, "long.pdf"))
	if err != nil || len(again.StagedKeys) != n {
		t.Fatalf("%d staged keys, %v", len(again.StagedKeys), err)
	}
	b.complete(h, activate(s, n))
	b.wantFound("number449", 1)
}

func testSearch(t *testing.T, b *bench) {
	b.ingest("a.pdf", "The invoice is payable within thirty days", "Late invoice payments bear interest")
	b.ingest("b.pdf", "Termination requires written notice")
	hits := b.search(store.Query{
		Text: "when is the invoice payable", Embedding: embed("Termination requires written notice"),
	})
	if len(hits) != 3 {
		t.Fatalf("hits: %+v", hits)
	}
	first := hits[0]
	if first.ChunkID == "" || first.DocumentID == "" || first.DocumentSet != "contracts" || first.Version != 1 ||
		len(first.HeadingPath) != 2 ||
		len(first.Pages) != 2 || len(first.Boxes) != 1 || first.Boxes[0].Right != 0.3 || first.Kind != "text" ||
		first.Score <= 0 {
		t.Errorf("hit: %+v", first)
	}
	for i := 1; i < len(hits); i++ {
		if hits[i].Score > hits[i-1].Score {
			t.Error("hits are not ordered by score")
		}
	}
	// All words rank before some words; stop words don't count.
	text := b.search(store.Query{Text: "the invoice payable"})
	if len(text) != 2 || !strings.Contains(text[0].Content, "payable") || text[0].Similarity != 0 {
		t.Errorf("text alone: %+v", text)
	}
	// A zero vector (of a question without a word) has no effect.
	zero := b.search(store.Query{Text: "the invoice payable", Embedding: make([]float32, Dimensions)})
	if len(zero) != 2 || zero[0].ChunkID != text[0].ChunkID {
		t.Errorf("a zero vector: %+v", zero)
	}
	b.wantFound("is the of", 1) // stop words only: they are searched for
	b.wantFound("zebra", 0)
	b.wantFound(`"written notice"`, 1)
	b.wantFound(`'; drop table documents; -- \ & | !`, 0)
	b.wantFound("payment", 3) // a heading
	vector := b.search(store.Query{Embedding: embed("Late invoice payments bear interest"), Limit: 1})
	if len(vector) != 1 || !strings.HasPrefix(vector[0].Content, "Late") || vector[0].Similarity < 0.99 {
		t.Errorf("vector alone: %+v", vector)
	}
	if hits := b.search(store.Query{Text: "invoice", Embedding: embed("invoice"), DocumentSet: "another"}); len(
		hits) != 0 {
		t.Errorf("another set: %+v", hits)
	}
	if hits := b.search(store.Query{}); len(hits) != 0 {
		t.Errorf("nothing asked: %+v", hits)
	}
	if _, err := b.Search(b.ctx(), store.Query{Embedding: []float32{1, 2}, Limit: 1}); err == nil ||
		!strings.Contains(err.Error(), "dimensions") {
		t.Errorf("a vector of another width: %v", err)
	}
	_, h := b.run() // a chunk without a word that the offline provider knows has a zero vector
	s, err := b.StageDocument(b.ctx(), staging(h, "dots.txt"))
	if err != nil {
		t.Fatal(err)
	}
	dots := chunk(0, "...")
	dots.Embedding = make([]float32, Dimensions)
	if _, err := b.StageChunks(b.ctx(), batch(h, s, dots)); err != nil {
		t.Fatal(err)
	}
	b.complete(h, activate(s, 1))
	if hits := b.search(store.Query{Embedding: embed("invoice"), Limit: 100}); len(hits) != 3 {
		t.Errorf("with a zero vector among the chunks: %+v", hits)
	}
	other := newBench(t, b.open)
	if hits := other.search(store.Query{Text: "invoice", Embedding: embed("invoice")}); len(hits) != 0 {
		t.Errorf("I10: another client finds %+v", hits)
	}
}
