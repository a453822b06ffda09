package storetest

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// deletion is the part of a result that a delete adds.
type deletion struct {
	Deleted bool
	Removed struct {
		Readings  int `json:"page_readings"`
		Summaries int `json:"summaries"`
		Notes     int `json:"summary_notes"`
		Derived   int `json:"derived_contents"`
		Decks     int
		Blobs     int `json:"derived_blobs"`
		Asked     int `json:"gateway_answers"`
	}
	Kept struct {
		Blobs   int `json:"derived_blobs"`
		Answers int `json:"agent_runs"`
		Results int `json:"task_results"`
	}
	KeptBlobs []string `json:"kept_blobs"`
}

// made records what tasks make of a file: a summary with a note, a derived document, an OCR result.
func (b *bench) made(filename, blob, sha string) {
	b.t.Helper()
	payload := func(kind string) func(*store.Begin) {
		return func(m *store.Begin) {
			m.Type = kind
			m.Payload = json.RawMessage(`{"filename":"` + filename + `","blob":"` + blob + `"}`)
		}
	}
	m, h := b.run(payload("summarize"))
	if err := b.KeepPartials(b.ctx(), m.JobID,
		[]store.Partial{{Key: "note of " + filename + blob, Answer: json.RawMessage(`{}`)}}); err != nil {
		b.t.Fatal(err)
	}
	b.complete(h, store.Effect{Kind: store.EffectSaveSummary, Args: store.Summary{
		Filename: filename, Blob: blob, SourceSHA256: sha, Summary: "in short", Model: "m", Style: "brief",
	}})
	m, h = b.run(payload("ocr"))
	if err := b.KeepPageResults(b.ctx(), store.PageSource{Source: sha, Reader: "r", JobID: m.JobID},
		[]store.PageResult{{Page: 1, Reading: []byte("read")}}); err != nil {
		b.t.Fatal(err)
	}
	b.derive(h, store.DerivedRecord{
		SourceFilename: filename, SourceBlob: blob, SourceSHA256: sha, Recipe: "x",
		Blob: "derived/" + blob + "/" + m.JobID, Format: "markdown", Engine: "e",
	})
}

// deck records a deck that a task makes of a file, and returns its id.
func (b *bench) deck(filename, blob, sha string) string {
	b.t.Helper()
	_, h := b.run(func(m *store.Begin) {
		m.Type = "convert"
		m.Payload = json.RawMessage(`{"filename":"` + filename + `","blob":"` + blob + `"}`)
	})
	id := uuid.NewString()
	b.complete(h, store.Effect{Kind: store.EffectRecordDeck, Args: store.DeckRecord{
		ID: id, SourceFilename: filename, SourceSHA256: sha, Title: "what " + filename + " is about", Blob: "decks/" + id + ".json",
	}})
	return id
}

// testDeleteDecks: a deletion removes the decks that were made of the document alone, and says which blobs stay; a purge
// removes the rows of the removed blobs alone.
func testDeleteDecks(t *testing.T, b *bench) {
	b.ingestFrom("one", "a.pdf", "in/a.pdf", "bytes-a")
	b.ingestFrom("two", "a.pdf", "elsewhere/a.pdf", "bytes-2") // the same name, other bytes
	neighbour := newBench(t, b.open)
	neighbour.ingestFrom("one", "a.pdf", "in/a.pdf", "bytes-a")
	gone, earlier := b.deck("a.pdf", "in/a.pdf", "bytes-a"), b.deck("a.pdf", "in/a.pdf", "bytes-0")
	stays, copied := b.deck("a.pdf", "elsewhere/a.pdf", "bytes-2"), b.deck("copy.pdf", "in/copy.pdf", "bytes-a")
	foreign := neighbour.deck("a.pdf", "in/a.pdf", "bytes-a")
	late := ""
	r := b.delete("one", "a.pdf", "in/a.pdf", func(made store.DocumentBlobs, d *store.Deletion) {
		if len(made.Decks) != 2 {
			t.Fatalf("made: %+v", made)
		}
		d.Purged, late = made.Decks[:1], made.Decks[1]
	})
	if r.Removed.Decks != 1 || r.Kept.Blobs != 1 || !slices.Equal(r.KeptBlobs, []string{late}) || r.Kept.Results != 1 {
		t.Errorf("purged: %+v", r)
	}
	if r = b.delete("one", "a.pdf", "in/a.pdf", nil); r.Removed.Decks != 1 || !slices.Equal(r.KeptBlobs, []string{late}) {
		t.Errorf("again: %+v", r)
	}
	for id, want := range map[string]bool{gone: false, earlier: false, stays: true, copied: true} {
		if _, err := b.DeckRow(b.ctx(), id); (err == nil) != want || !want && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("deck %s: %v, want %v", id, err, want)
		}
	}
	if _, err := neighbour.DeckRow(b.ctx(), foreign); err != nil {
		t.Errorf("I10: %v", err)
	}
}

// wantMade checks whether the rows of made exist.
func (b *bench) wantMade(filename, blob, sha string, want bool) {
	b.t.Helper()
	b.wantReadings(sha, map[bool]int{true: 1}[want])
	notes, err := b.Partials(b.ctx(), store.PartialQuery{JobID: "x", Keys: []string{"note of " + filename + blob}})
	if err != nil || (len(notes) == 1) != want {
		b.t.Errorf("notes of %s: %v, %v, want %v", filename, notes, err, want)
	}
	if same := b.derived(store.DerivedQuery{JobID: "x", SourceFilename: filename, SourceSHA256: sha, Recipe: "x"}).
		Same; (same != nil) != want {
		b.t.Errorf("derived of %s: %+v, want %v", filename, same, want)
	}
}

// ingestFrom ingests a blob as a document of a set; sha is the hash of its bytes.
func (b *bench) ingestFrom(set, filename, blob, sha string) store.StagedVersion {
	b.t.Helper()
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), store.Staging{Holder: h, DocumentSet: set, Filename: filename, Blob: blob})
	if err != nil {
		b.t.Fatal(err)
	}
	b.stage(h, s, "text of "+filename)
	e := activate(s, 1)
	args, ok := e.Args.(store.Activation)
	if !ok {
		b.t.Fatalf("%T", e.Args)
	}
	args.ContentSHA256, args.Blob = sha, blob
	e.Args = args
	b.complete(h, e)
	return s
}

// delete deletes a document of a set; edit changes the arguments.
func (b *bench) delete(set, filename, blob string, edit func(made store.DocumentBlobs, d *store.Deletion)) (r deletion) {
	b.t.Helper()
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), store.Staging{Holder: h, DocumentSet: set, Filename: filename, Blob: blob})
	if err != nil {
		b.t.Fatal(err)
	}
	d := store.Deletion{DocumentID: s.DocumentID, Version: s.Version}
	if edit != nil {
		made, err := b.MadeOf(b.ctx(), s.DocumentID)
		if err != nil {
			b.t.Fatal(err)
		}
		edit(made, &d)
	}
	settled := b.complete(h, store.Effect{Kind: store.EffectDeleteDocument, Args: d})
	if err := json.Unmarshal(settled.Result, &r); err != nil {
		b.t.Fatal(err)
	}
	return r
}

// testDeleteMadeOfFormer: a deletion also removes what was made of an earlier version's blob, however long ago the version was
// superseded. When nothing is made of it any more, upkeep forgets the version.
func testDeleteMadeOfFormer(t *testing.T, b *bench) {
	b.ingestFrom("one", "a.pdf", "in/1.pdf", "bytes-1")
	b.made("a.pdf", "in/1.pdf", "bytes-1")
	b.deck("a.pdf", "in/1.pdf", "bytes-1")
	b.ingestFrom("one", "a.pdf", "in/2.pdf", "bytes-2")
	b.ingestFrom("one", "a.pdf", "in/3.pdf", "bytes-3")
	b.collect(now, store.CollectAnswer{Superseded: 1}) // the second one
	r := b.delete("one", "a.pdf", "in/3.pdf", nil)
	if !r.Deleted || r.Removed.Summaries != 1 || r.Removed.Notes != 1 || r.Removed.Derived != 1 || r.Removed.Readings != 1 ||
		r.Removed.Decks != 1 || len(r.KeptBlobs) != 2 {
		t.Errorf("%+v", r)
	}
	b.wantMade("a.pdf", "in/1.pdf", "bytes-1", false)
}

// testDeleteMade: a deletion removes what was made of the document's text, and nothing that another document shares.
func testDeleteMade(t *testing.T, b *bench) {
	gone := b.ingestFrom("one", "a.pdf", "in/a.pdf", "bytes-a")
	b.ingestFrom("two", "a.pdf", "elsewhere/a.pdf", "bytes-2") // the same name, other bytes
	b.ingestFrom("one", "copy.pdf", "in/copy.pdf", "bytes-a")  // the same bytes, another name
	b.made("a.pdf", "in/a.pdf", "bytes-a")
	b.made("a.pdf", "elsewhere/a.pdf", "bytes-2")
	b.made("copy.pdf", "in/copy.pdf", "bytes-a")
	neighbour := newBench(t, b.open)
	neighbour.ingestFrom("one", "a.pdf", "in/a.pdf", "bytes-a")
	neighbour.made("a.pdf", "in/a.pdf", "bytes-a")
	_, h := b.run()
	// An ingest that failed had read a page of other bytes under that name.
	reader, failed := b.run(func(m *store.Begin) {
		m.Payload = json.RawMessage(
			`{"filename":"a.pdf","blob":"in/a.pdf"}`)
	})
	if err := b.KeepPageResults(b.ctx(), store.PageSource{Source: "bytes-f", Reader: "r", JobID: reader.JobID},
		[]store.PageResult{{Page: 1, Reading: []byte("x")}}); err != nil {
		t.Fatal(err)
	}
	b.fail(failed, reader)
	b.complete(h, store.Effect{Kind: store.EffectSaveAgentRun, Args: store.AgentRun{
		TaskType: "agent", Prompt: "p", Answer: "a", Citations: []map[string]string{{"document_id": gone.DocumentID}},
		Steps: []string{}, Model: "m",
	}})

	r := b.delete("one", "a.pdf", "in/a.pdf", nil)
	if !r.Deleted || r.Removed.Summaries != 1 || r.Removed.Notes != 1 || r.Removed.Derived != 1 ||
		r.Removed.Readings != 1 || r.Removed.Blobs != 0 ||
		r.Kept.Blobs != 1 || len(r.KeptBlobs) != 1 || r.Kept.Answers != 1 || r.Kept.Results != 2 {
		t.Errorf("%+v", r)
	}
	b.wantReadings("bytes-f", 0)
	b.wantReadings("bytes-a", 1) // copy.pdf has the same bytes
	b.wantMade("a.pdf", "elsewhere/a.pdf", "bytes-2", true)
	b.wantMade("copy.pdf", "in/copy.pdf", "bytes-a", true)
	neighbour.wantMade("a.pdf", "in/a.pdf", "bytes-a", true) // I10
	if same := b.derived(store.DerivedQuery{JobID: "x", SourceFilename: "a.pdf", SourceSHA256: "bytes-a", Recipe: "x"}).
		Same; same != nil {
		t.Errorf("still there: %+v", same)
	}
	if r = b.delete("one", "copy.pdf", "in/copy.pdf", nil); r.Removed.Readings != 1 || r.Removed.Summaries != 1 {
		t.Errorf("the copy: %+v", r)
	}
	b.wantMade("copy.pdf", "in/copy.pdf", "bytes-a", false)
	if r = b.delete("one", "copy.pdf", "in/copy.pdf", nil); r.Deleted ||
		r.Removed.Summaries+r.Removed.Notes+r.Removed.Derived+r.Removed.Readings+r.Kept.Results != 0 {
		t.Errorf("again: %+v", r)
	}
	b.made("b.pdf", "in/b.pdf", "bytes-b") // never ingested, or deleted before
	b.delete("one", "b.pdf", "in/b.pdf", nil)
	b.wantMade("b.pdf", "in/b.pdf", "bytes-b", false)
}

// testPurgeDerived: a deletion removes the rows of the removed blobs alone. A row that was recorded meanwhile stays.
func testPurgeDerived(t *testing.T, b *bench) {
	b.ingestFrom("one", "a.pdf", "in/a.pdf", "bytes-a")
	b.ingestFrom("one", "copy.pdf", "in/copy.pdf", "bytes-a")
	b.made("a.pdf", "in/a.pdf", "bytes-a")
	b.made("a.pdf", "in/a.pdf", "bytes-0") // of an earlier version
	late := ""
	r := b.delete("one", "a.pdf", "in/a.pdf", func(made store.DocumentBlobs, d *store.Deletion) {
		if len(made.Blobs) != 2 || !slices.Equal(made.Sources, []string{"bytes-0"}) { // copy.pdf has bytes-a, too
			t.Errorf("made: %+v", made)
		}
		d.Purged, d.BlobsRemoved, late = made.Blobs[:1], 1, made.Blobs[1]
	})
	if r.Removed.Derived != 1 || r.Removed.Blobs != 1 || r.Removed.Summaries != 2 || r.Kept.Blobs != 1 ||
		!slices.Equal(r.KeptBlobs, []string{late}) {
		t.Errorf("%+v", r)
	}
	if r = b.delete("one", "a.pdf", "in/a.pdf", func(made store.DocumentBlobs, d *store.Deletion) {
		if !slices.Equal(made.Blobs, []string{late}) {
			t.Errorf("made: %+v", made)
		}
		d.Purged = made.Blobs
	}); r.Deleted || r.Removed.Derived != 1 || r.Kept.Blobs != 0 {
		t.Errorf("again: %+v", r)
	}
	other := newBench(t, b.open)
	if made, err := other.MadeOf(b.ctx(), b.ingestFrom("one", "c.pdf", "in/c.pdf", "bytes-c").DocumentID); err != nil ||
		len(made.Blobs)+len(made.Sources) != 0 {
		t.Errorf("I10: %+v, %v", made, err)
	}
}
