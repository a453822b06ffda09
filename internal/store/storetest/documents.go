package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"reflect"
	"strings"
	"testing"

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
			Pages: 2, Characters: 99, Extractor: "native", Warnings: []string{"page 2 is missing"},
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

func testActivate(t *testing.T, b *bench) {
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "a.pdf"))
	if err != nil || s.Version != 1 || s.Active != nil || len(s.StagedKeys) != 0 || s.DocumentID == "" {
		t.Fatalf("first: %+v, %v", s, err)
	}
	b.stage(h, s, "alpha", "beta")
	b.stage(h, s, "alpha", "gamma") // a position written again is replaced
	b.wantFound("alpha", 0)         // readers don't see staged chunks
	settled := b.complete(h, activate(s, 2))
	var result struct {
		DocumentID  string `json:"document_id"`
		DocumentSet string `json:"document_set"`
		Filename    string
		Title       string
		Language    string
		Version     int
		Pages       int
		Chunks      int
		Characters  int
		Extractor   string
		SHA         string `json:"content_sha256"`
		Unchanged   *bool
		N           int
	}
	if err := json.Unmarshal(settled.Result, &result); err != nil {
		t.Fatal(err)
	}
	if result.DocumentID != s.DocumentID || result.DocumentSet != "contracts" || result.Filename != "a.pdf" ||
		result.Title != "Terms" || result.Language != "en" || result.Version != 1 || result.Pages != 2 ||
		result.Chunks != 2 || result.Characters != 99 || result.Extractor != "native" || result.SHA != "sha-1" ||
		result.Unchanged == nil || *result.Unchanged || result.N != 1 {
		t.Errorf("result: %s", settled.Result)
	}
	b.wantFound("alpha", 1)
	b.wantFound("beta", 0)

	_, h = b.run()
	second, err := b.StageDocument(b.ctx(), staging(h, "a.pdf"))
	if err != nil || second.DocumentID != s.DocumentID || second.Version != 2 || second.Active == nil {
		t.Fatalf("second: %+v, %v", second, err)
	}
	if a := *second.Active; !reflect.DeepEqual(a, store.ActiveVersion{
		Version: 1, ContentSHA256: "sha-1", Pipeline: "p1", Pages: 2, Chunks: 2, Characters: 99, Extractor: "native",
		TextSHA256: "text-1", Format: "pdf", Blob: "in/a.pdf", SourceETag: "e1", Warnings: []string{"page 2 is missing"},
	}) {
		t.Errorf("active: %+v", a)
	}
	b.stage(h, second, "delta", "epsilon", "left over")
	b.wantFound("alpha", 1) // readers see the old version until the commit
	b.wantFound("delta", 0)
	b.complete(h, activate(second, 2)) // positions beyond the end are removed
	b.wantFound("alpha", 0)
	b.wantFound("delta", 1)
	b.wantFound("left", 0)
	// The chunks of the replaced version and the removed ones are gone.
	if known, err := b.KnownChunks(b.ctx(),
		[]string{"key of alpha", "key of gamma", "key of left over", "key of delta"}); err != nil || len(known) != 1 {
		t.Errorf("chunks left: %v, %v", known, err)
	}
}

func testActivateRefuses(t *testing.T, b *bench) {
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "gap.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.StageChunks(b.ctx(), batch(h, s, chunk(0, "zero"), chunk(2, "two"))); err != nil {
		t.Fatal(err)
	}
	try := func(e store.Effect) error {
		_, err := b.Complete(b.ctx(), store.Completion{
			Holder: h, Result: json.RawMessage(`{}`), Effects: []store.Effect{e},
		})
		return err
	}
	if try(activate(s, 3)) == nil || try(activate(s, 2)) == nil {
		t.Error("activated with a gap")
	}
	_, other := b.run()
	if _, err := b.Complete(b.ctx(), store.Completion{
		Holder: other, Result: json.RawMessage(`{}`),
		Effects: []store.Effect{activate(s, 1)},
	}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("another job's staged version: %v", err)
	}
	if _, err := b.StageChunks(b.ctx(), batch(other, s, chunk(1, "one"))); !errors.Is(err, store.ErrFenced) {
		t.Errorf("chunks into another job's version: %v", err)
	}
	if err := try(activate(s, 1)); err != nil {
		t.Error(err)
	}
	b.wantFound("zero", 1)
}

func testStagedLeftovers(t *testing.T, b *bench) {
	m, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "left.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	b.stage(h, s, "one", "two")
	b.loseWorker(h)
	// The same job continues.
	h = holder(m, b.begin(m, store.Run))
	again, err := b.StageDocument(b.ctx(), staging(h, "left.pdf"))
	if err != nil || again.DocumentID != s.DocumentID || again.Version != s.Version || len(again.StagedKeys) != 2 ||
		again.StagedKeys[1] != "key of two" {
		t.Fatalf("staged again: %+v, %v", again, err)
	}
	// Another job takes over a document that no job holds.
	b.loseWorker(h)
	_, thief := b.run()
	taken, err := b.StageDocument(b.ctx(), staging(thief, "left.pdf"))
	if err != nil || len(taken.StagedKeys) != 0 {
		t.Fatalf("taken over: %+v, %v", taken, err)
	}
	if _, err := b.StageChunks(b.ctx(), batch(h, again, chunk(0, "late"))); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a job that lost the document writes: %v", err)
	}
	b.stage(thief, taken, "three")
	b.complete(thief, activate(taken, 1))
	b.wantFound("three", 1)
	b.wantFound("late", 0)
}

func testBusy(t *testing.T, b *bench) {
	_, h := b.run()
	if _, err := b.StageDocument(b.ctx(), staging(h, "busy.pdf")); err != nil {
		t.Fatal(err)
	}
	_, other := b.run()
	_, err := b.StageDocument(b.ctx(), staging(other, "busy.pdf"))
	busy, ok := errors.AsType[*store.BusyError](err)
	if !ok || busy.JobID != h.JobID || busy.RetryAfter <= 0 || busy.RetryAfter > hour/2 {
		t.Fatalf("busy: %v (%+v)", err, busy)
	}
	set := staging(other, "busy.pdf")
	set.DocumentSet = "another"
	if _, err := b.StageDocument(b.ctx(), set); err != nil {
		t.Errorf("the same name in another set: %v", err)
	}
	b.complete(h) // the version that it staged and did not activate blocks no other job
	if _, err := b.StageDocument(b.ctx(), staging(other, "busy.pdf")); err != nil {
		t.Errorf("after the other job ended: %v", err)
	}
}

func testKeep(t *testing.T, b *bench) {
	first := b.ingest("kept.pdf", "unchanging")
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "kept.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	settled := b.complete(h, store.Effect{Kind: store.EffectKeepDocument, Args: store.Retention{
		DocumentID: s.DocumentID, Version: s.Version, Blob: "in/kept.pdf", SourceETag: "e2",
		Metadata: map[string]any{"k": "v"},
	}})
	if r := string(settled.Result); !strings.Contains(r, `"unchanged":true`) &&
		!strings.Contains(r, `"unchanged": true`) || !strings.Contains(r, first.DocumentID) {
		t.Errorf("result: %s", r)
	}
	b.wantFound("unchanging", 1)
	_, h = b.run()
	if s, err = b.StageDocument(b.ctx(), staging(h, "kept.pdf")); err != nil || s.Active == nil ||
		s.Active.Version != 1 {
		t.Errorf("active after keep: %+v, %v", s, err)
	}

	_, h = b.run()
	if s, err = b.StageDocument(b.ctx(), staging(h, "nothing-to-keep.pdf")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Complete(b.ctx(), store.Completion{Holder: h, Result: json.RawMessage(`{}`), Effects: []store.Effect{
		{Kind: store.EffectKeepDocument, Args: store.Retention{DocumentID: s.DocumentID, Version: s.Version}},
	}}); err == nil {
		t.Error("kept a document that has no version")
	}
}

func testFailureKeepsOld(t *testing.T, b *bench) {
	first := b.ingest("steady.pdf", "steadfast")
	m, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "steady.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	b.stage(h, s, "broken")
	b.fail(h, m)
	b.wantFound("steadfast", 1)
	b.wantFound("broken", 0)
	if known, err := b.KnownChunks(b.ctx(), []string{"key of broken"}); err != nil || len(known) != 0 {
		t.Errorf("staged chunks after the failure: %v, %v", known, err)
	}
	_, h = b.run()
	if s, err = b.StageDocument(b.ctx(), staging(h, "steady.pdf")); err != nil || s.DocumentID != first.DocumentID ||
		s.Active == nil || s.Active.Version != 1 {
		t.Errorf("after the failure: %+v, %v", s, err)
	}
}
