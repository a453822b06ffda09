package storetest

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func derivedRecord(blob string) store.DerivedRecord {
	confidence := 0.5
	return store.DerivedRecord{
		SourceFilename: "scan.pdf", SourceBlob: "in/scan.pdf", SourceSHA256: "sha", Recipe: "tesseract", Blob: blob,
		Format: "markdown",
		Engine: "tesseract", PageCount: 3, MeanConfidence: &confidence, UnreadPages: []int{3, 2},
	}
}

// derive completes a job with a derived content, and returns the version of that.
func (b *bench) derive(h store.Holder, d store.DerivedRecord) (version int) {
	b.t.Helper()
	settled := b.complete(h, store.Effect{Kind: store.EffectRecordDerived, Args: d})
	var result struct {
		ID      string `json:"derived_content_id"`
		Blob    string `json:"derived_blob"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(settled.Result, &result); err != nil || result.ID == "" || result.Blob != d.Blob {
		b.t.Errorf("result %s, %v", settled.Result, err)
	}
	return result.Version
}

func (b *bench) derived(q store.DerivedQuery) store.DerivedAnswer {
	b.t.Helper()
	found, err := b.Derived(b.ctx(), q)
	if err != nil {
		b.t.Fatal(err)
	}
	return found
}

// testDerived: the derived contents of a document are numbered across jobs, and found by bytes and recipe.
func testDerived(t *testing.T, b *bench) {
	m, h := b.run()
	q := store.DerivedQuery{JobID: m.JobID, SourceFilename: "scan.pdf", SourceSHA256: "sha", Recipe: "tesseract"}
	if found := b.derived(q); found.Same != nil || found.OfJob != 0 {
		t.Errorf("before: %+v", found)
	}
	if v := b.derive(h, derivedRecord("derived/1")); v != 1 {
		t.Errorf("the first is version %d", v)
	}
	found := b.derived(q)
	if s := found.Same; found.OfJob != 1 || !slices.Equal(found.Blobs, []string{"derived/1"}) || s == nil || s.Blob != "derived/1" || s.Version != 1 ||
		s.Format != "markdown" || s.Engine != "tesseract" ||
		s.PageCount != 3 || s.MeanConfidence == nil || *s.MeanConfidence != 0.5 ||
		!slices.Equal(s.UnreadPages, []int{2, 3}) || s.ID == "" {
		t.Errorf("found %+v", found.Same)
	}
	_, h = b.run()
	bare := derivedRecord("derived/2")
	bare.MeanConfidence, bare.UnreadPages = nil, nil
	if v := b.derive(h, bare); v != 2 {
		t.Errorf("the second is version %d", v)
	}
	if s := b.derived(q).Same; s == nil || s.Blob != "derived/2" || s.MeanConfidence != nil || len(s.UnreadPages)+len(s.Warnings) != 0 {
		t.Errorf("the newest: %+v", s)
	}
	_, h = b.run()
	if _, err := b.Complete(b.ctx(), store.Completion{
		Holder: h, Result: json.RawMessage(`{"warnings":["page 2 is empty"]}`),
		Effects: []store.Effect{{Kind: store.EffectRecordDerived, Args: derivedRecord("derived/3")}},
	}); err != nil {
		t.Fatal(err)
	}
	if s := b.derived(q).Same; s == nil || s.Blob != "derived/3" || !slices.Equal(s.Warnings, []string{"page 2 is empty"}) {
		t.Errorf("with warnings: %+v", s)
	}
	for what, other := range map[string]store.DerivedQuery{
		"another name":   {JobID: "x", SourceFilename: "other.pdf", SourceSHA256: "sha", Recipe: "tesseract"},
		"other bytes":    {JobID: "x", SourceFilename: "scan.pdf", SourceSHA256: "ash", Recipe: "tesseract"},
		"another recipe": {JobID: "x", SourceFilename: "scan.pdf", SourceSHA256: "sha", Recipe: "openai"},
	} {
		if found := b.derived(other); found.Same != nil || found.OfJob != 0 {
			t.Errorf("%s: %+v", what, found)
		}
	}
	if found := newBench(t, b.open).derived(q); found.Same != nil || found.OfJob != 0 {
		t.Errorf("another tenant sees %+v", found)
	}
}

// testDerivedTogether: jobs of several workers that end at once each get a version. (Those of one worker end in one
// transaction.)
func testDerivedTogether(t *testing.T, b *bench) {
	const jobs, rounds = 4, 6
	workers := make([]*bench, jobs)
	for i := range workers {
		worker := *b
		worker.Store = b.open(t, b.client)
		t.Cleanup(worker.Store.Close)
		workers[i] = &worker
	}
	var versions []int
	for range rounds {
		got := make([]int, jobs)
		var all sync.WaitGroup
		for i, worker := range workers {
			_, h := b.run()
			all.Go(func() { got[i] = worker.derive(h, derivedRecord("derived/x")) })
		}
		all.Wait()
		versions = append(versions, got...)
	}
	slices.Sort(versions)
	for i, v := range versions {
		if v != i+1 {
			t.Fatalf("versions %v", versions)
		}
	}
}
