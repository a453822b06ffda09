package storetest

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// counted has the counts of chunks in a result.
type counted struct {
	Embedded       int `json:"chunks_embedded"`
	Reused         int `json:"chunks_reused"`
	TokensEmbedded int `json:"tokens_embedded"`
	TokensReused   int `json:"tokens_reused"`
}

func (b *bench) counted(s store.Settlement) (c counted) {
	b.t.Helper()
	if err := json.Unmarshal(s.Result, &c); err != nil {
		b.t.Fatal(err)
	}
	return c
}

// bare is a chunk without a vector.
func bare(position int, content string) store.Chunk {
	c := chunk(position, content)
	c.Embedding = nil
	return c
}

func testVersionKeys(t *testing.T, b *bench) {
	s := b.ingest("keys.pdf", "zero", "one", "two")
	if keys, err := b.VersionKeys(b.ctx(), s.DocumentID, 1); err != nil ||
		!slices.Equal(keys, []string{"key of zero", "key of one", "key of two"}) {
		t.Errorf("keys: %v, %v", keys, err)
	}
	if keys, err := b.VersionKeys(b.ctx(), s.DocumentID, 2); err != nil || len(keys) != 0 {
		t.Errorf("of an unknown version: %v, %v", keys, err)
	}
	other := newBench(t, b.open)
	if keys, err := other.VersionKeys(b.ctx(), s.DocumentID, 1); err != nil || len(keys) != 0 {
		t.Errorf("I10: of another client's document: %v, %v", keys, err)
	}
}

// testReuseCounted: each chunk of a version counts once, however many attempts the job took: as embedded if a vector
// was made for it.
func testReuseCounted(t *testing.T, b *bench) {
	b.ingest("source.pdf", "shared")
	m, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "counted.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	twice := chunk(3, "own")
	twice.Reused = true // its vector was made for position 1
	if missing, err := b.StageChunks(b.ctx(), batch(h, s, bare(0, "shared"), chunk(1, "own"), twice)); err != nil ||
		len(missing) != 0 {
		t.Fatal(missing, err)
	}
	b.loseWorker(h)
	h = holder(m, b.begin(m, store.Run))
	if s, err = b.StageDocument(b.ctx(), staging(h, "counted.pdf")); err != nil {
		t.Fatal(err)
	}
	// The second attempt finds all chunks, one of them on another page, and moves the one staged at position 3.
	moved := bare(1, "own")
	moved.Pages = []int{9}
	if missing, err := b.StageChunks(b.ctx(), batch(h, s, bare(0, "shared"), moved, chunk(2, "more"), bare(3, "shared"),
		bare(4, "own"))); err != nil || len(missing) != 0 {
		t.Fatal(missing, err)
	}
	if got := b.counted(b.complete(h, activate(s, 5))); got != (counted{2, 3, 14, 21}) {
		t.Errorf("counted %+v, want 2 embedded and 3 reused, each of 7 tokens", got)
	}
	_, h = b.run()
	if s, err = b.StageDocument(b.ctx(), staging(h, "counted.pdf")); err != nil {
		t.Fatal(err)
	}
	keep := store.Retention{DocumentID: s.DocumentID, Version: s.Version, Blob: "in/counted.pdf", SourceETag: "e2"}
	if got := b.counted(b.complete(h, store.Effect{Kind: store.EffectKeepDocument, Args: keep})); got != (counted{0, 5, 0, 35}) {
		t.Errorf("kept: %+v, want 5 reused, each of 7 tokens", got)
	}
}

// testKeepOtherBytes: other bytes with the same text keep the version and its chunks, and the version has their hash.
func testKeepOtherBytes(t *testing.T, b *bench) {
	b.ingest("saved.pdf", "as ever")
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "saved.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	b.complete(h, store.Effect{Kind: store.EffectKeepDocument, Args: store.Retention{
		DocumentID: s.DocumentID, Version: s.Version, Blob: "in/moved.pdf", SourceETag: "e9",
		Reading: &store.Reading{
			ContentSHA256: "sha-9", TextSHA256: "text-1", Format: "docx", Pipeline: "p9", Pages: 3, Characters: 98,
			Extractor: "x",
		},
	}})
	_, h = b.run()
	s, err = b.StageDocument(b.ctx(), staging(h, "saved.pdf"))
	want := store.ActiveVersion{
		Version: 1, ContentSHA256: "sha-9", Pipeline: "p9", Pages: 3, Chunks: 1, Characters: 98, Extractor: "x",
		TextSHA256: "text-1", Format: "docx", Blob: "in/moved.pdf", SourceETag: "e9",
	}
	if err != nil || s.Active == nil || !reflect.DeepEqual(*s.Active, want) {
		t.Errorf("active: %+v, %v", s.Active, err)
	}
	b.wantFound("ever", 1)
}

func testDelete(t *testing.T, b *bench) {
	kept := b.ingest("kept.pdf", "shared", "kept")
	gone := b.ingest("gone.pdf", "shared", "old")
	b.ingest("gone.pdf", "shared", "gone", "too")
	for _, source := range []string{"sha-1", "sha-2"} { // of both documents; of gone.pdf alone
		b.keepReading(source)
	}
	remove := func() (r struct {
		DocumentID  *string `json:"document_id"`
		DocumentSet string  `json:"document_set"`
		Filename    string
		Deleted     *bool
		Chunks      *int `json:"chunks_deleted"`
	},
	) {
		t.Helper()
		_, h := b.run()
		s, err := b.StageDocument(b.ctx(), staging(h, "gone.pdf"))
		if err != nil {
			t.Fatal(err)
		}
		b.wantFound("gone", map[bool]int{true: 1}[s.Active != nil]) // until the commit
		settled := b.complete(h, store.Effect{
			Kind: store.EffectDeleteDocument, Args: store.Deletion{DocumentID: s.DocumentID, Version: s.Version},
		})
		if err := json.Unmarshal(settled.Result, &r); err != nil || r.Deleted == nil || r.Chunks == nil ||
			r.DocumentSet != "contracts" || r.Filename != "gone.pdf" {
			t.Fatalf("result: %s, %v", settled.Result, err)
		}
		return r
	}
	if r := remove(); !*r.Deleted || *r.Chunks != 3 || r.DocumentID == nil || *r.DocumentID != gone.DocumentID {
		t.Errorf("removed: %+v", r)
	}
	b.wantFound("gone", 0)
	b.wantFound("shared", 1)
	b.wantReadings("sha-1", 1)
	b.wantReadings("sha-2", 0)
	if known, err := b.KnownChunks(b.ctx(),
		[]string{
			"key of shared", "key of kept", "key of gone", "key of too", "key of old",
		}); err != nil || len(known) != 2 {
		t.Errorf("chunks left: %v, %v", known, err)
	}
	if r := remove(); *r.Deleted || *r.Chunks != 0 || r.DocumentID != nil { // there is no document
		t.Errorf("removed again: %+v", r)
	}
	b.collect(now, store.CollectAnswer{}) // nothing remains
	if again := b.ingest("gone.pdf", "gone"); again.Version != 1 || again.DocumentID == gone.DocumentID ||
		again.Active != nil {
		t.Errorf("the same name again: %+v", again)
	}

	_, other := b.run() // without a claim on the document
	if _, err := b.Complete(b.ctx(), store.Completion{
		Holder: other, Result: json.RawMessage(`{}`),
		Effects: []store.Effect{
			{Kind: store.EffectDeleteDocument, Args: store.Deletion{
				DocumentID: kept.DocumentID,
				Version:    kept.Version,
			}},
		},
	}); err == nil {
		t.Error("a job removed a document that it had not claimed")
	}
	b.wantFound("kept", 1)
}

// keepReading stores the OCR result of a page; source is the hash of the document's bytes.
func (b *bench) keepReading(source string) {
	b.t.Helper()
	if err := b.KeepPageResults(b.ctx(), store.PageSource{Source: source, Reader: "r"},
		[]store.PageResult{{Page: 1, Reading: []byte("read")}}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) wantReadings(source string, want int) {
	b.t.Helper()
	if kept, err := b.PageResults(b.ctx(), store.PageSource{Source: source, Reader: "r"}, 1, 64); err != nil ||
		len(kept) != want {
		b.t.Errorf("kept of %s: %d, want %d, %v", source, len(kept), want, err)
	}
}
