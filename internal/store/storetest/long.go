package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// longChunks are more chunks than a commit removes.
const longChunks = 1001

// long are the contents of a long document: each chunk has the word, and is about nothing else.
func long(word string) []string {
	all := make([]string, longChunks)
	for i := range all {
		all[i] = fmt.Sprintf("%s anchor %d", word, i)
	}
	return all
}

// stageLong stages a next version of a long document.
func (b *bench) stageLong(h store.Holder, filename, word string) store.StagedVersion {
	b.t.Helper()
	s, err := b.StageDocument(b.ctx(), staging(h, filename))
	if err != nil {
		b.t.Fatal(err)
	}
	b.stage(h, s, long(word)...)
	return s
}

// ingestLong ingests a next version of a long document; staged: its terms are made before the commit.
func (b *bench) ingestLong(filename, word string, staged bool) store.StagedVersion {
	b.t.Helper()
	_, h := b.run()
	s := b.stageLong(h, filename, word)
	if !staged {
		b.complete(h, activate(s, longChunks))
		return s
	}
	if err := b.StageTerms(b.ctx(), store.TermsPart{
		Holder: h, DocumentID: s.DocumentID, Version: s.Version, Language: "en", Limit: longChunks,
	}); err != nil {
		b.t.Fatal(err)
	}
	b.complete(h, activateStaged(s, longChunks))
	return s
}

// removeChunks does steps until nothing is left, and returns how many chunks they removed.
func (b *bench) removeChunks() (n int) {
	b.t.Helper()
	for more := true; more; {
		r, err := b.RemoveChunks(b.ctx(), 400)
		if err != nil || r.Removed > 400 {
			b.t.Fatalf("a step of at most 400 chunks: %+v, %v", r, err)
		}
		n, more = n+r.Removed, r.More
	}
	return n
}

// wantOnly checks that every reader finds the text in some chunks of a version, and nothing of other versions.
func (b *bench) wantOnly(s store.StagedVersion, text string, want int) {
	b.t.Helper()
	for how, q := range map[string]store.Query{
		"words": {Text: text}, "a phrase": {Text: `"` + text + `"`}, "vectors": {Embedding: embed(text)},
		"both": {Text: text, Embedding: embed(text)}, "one set": {Text: text, DocumentSet: "contracts"},
		"what the old version had": {Text: "anchor " + text},
	} {
		q.Limit = 50
		hits := b.search(q)
		found := 0
		for _, h := range hits {
			if h.DocumentID == s.DocumentID && h.Version != s.Version {
				b.t.Errorf("%s: version %d is found, %d is active", how, h.Version, s.Version)
			}
			if h.DocumentID == s.DocumentID && h.Content == text {
				found++
			}
		}
		if found != want {
			b.t.Errorf("%s: %q is in %d of %d hits, want %d", how, text, found, len(hits), want)
		}
	}
}

// wantChunksKnown checks whether the tenant still has the chunks of a long document.
func (b *bench) wantChunksKnown(what, word string, want bool) {
	b.t.Helper()
	key := fmt.Sprintf("key of %s anchor %d", word, longChunks-1)
	if known, err := b.KnownChunks(b.ctx(), []string{key}); err != nil || known[key] != want {
		b.t.Errorf("%s: a chunk of %s is there: %v, %v, want %v", what, word, known[key], err, want)
	}
}

// testLongReplaced: the commit of a next version leaves the chunks of a long one to later steps. Until these are done, and
// after them, every reader finds the new version alone, whether the old one's terms were made before its commit or by it.
func testLongReplaced(t *testing.T, b *bench) {
	// Chunks of the old version are better hits for it, and take no place from it.
	const worse = "one anchor among many other things that are on the deck of the ship"
	for i, name := range []string{"staged.pdf", "at-once.pdf"} {
		word := "old" + uuid.NewString()[:4]
		old := b.ingestLong(name, word, name == "staged.pdf")
		oldPassages := b.documentPassages("contracts", old.DocumentID, 0, 1)
		s := b.ingest(name, "pilot dues", worse)
		b.wantChunksKnown("after the commit", word, true)
		check := func() {
			t.Helper()
			b.wantOnly(s, "pilot dues", 1)
			b.wantOnly(s, worse, 1)
			b.wantFound("anchor", 1+i)
			b.wantFound(word, 0)
			ids := []string{oldPassages[0].ChunkID}
			if got, err := b.Passages(b.ctx(), store.PassageQuery{IDs: ids, Around: 5, Limit: 10}); err != nil || len(got) != 0 {
				t.Errorf("%s: passages of the old version: %+v, %v", name, got, err)
			}
			if got := b.documentPassages("contracts", s.DocumentID, 0, 10); len(got) != 2 || got[0].Content != "pilot dues" {
				t.Errorf("%s: passages %+v", name, got)
			}
			all := b.documents(store.DocumentQuery{DocumentSet: "contracts", Filter: name, Limit: 10})
			if len(all) != 1 || all[0].Chunks != 2 || all[0].Version != s.Version {
				t.Errorf("%s: documents %+v", name, all)
			}
			versions, err := b.DocumentVersions(b.ctx(), s.DocumentID)
			if err != nil || len(versions) != 2 || versions[1].Status != "superseded" || versions[1].Chunks != longChunks {
				t.Errorf("%s: versions %+v, %v", name, versions, err)
			}
		}
		check()
		if r, err := b.RemoveChunks(b.ctx(), 400); err != nil || r != (store.RemovedChunks{Removed: 400, More: true}) {
			t.Errorf("a step: %+v, %v", r, err)
		}
		check() // a worker died after it
		if n := b.removeChunks(); n != longChunks-400 {
			t.Errorf("%s: %d chunks were removed after the first 400 of %d", name, n, longChunks)
		}
		check()
		b.wantChunksKnown("after the steps", word, false)
	}
	fresh := newBench(t, b.open)
	fresh.ingest("staged.pdf", "pilot dues", worse)
	fresh.ingest("at-once.pdf", "pilot dues", worse)
	if got, want := b.scoresOf("pilot anchor"), fresh.scoresOf("pilot anchor"); !slices.Equal(got, want) {
		t.Errorf("scores %v after the steps, %v of an index that never had more", got, want)
	}
}

// testLongReplacedAgain: a third version may come before the chunks of the first one are gone, and be short, long, or the
// same again. The upkeep removes what no worker has, and keeps the history until then.
func testLongReplacedAgain(t *testing.T, b *bench) {
	b.ingestLong("a.pdf", "first", false)
	b.ingestLong("a.pdf", "second", true)
	if r, err := b.RemoveChunks(b.ctx(), 10); err != nil || r.Removed != 10 {
		t.Errorf("a step: %+v, %v", r, err)
	}
	s := b.ingest("a.pdf", "pilot dues")
	b.wantOnly(s, "pilot dues", 1)
	b.wantFound("first", 0)
	b.wantFound("second", 0)
	_, h := b.run() // the vectors of chunks that are left are the tenant's, as others are
	staged, err := b.StageDocument(b.ctx(), staging(h, "b.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	again := chunk(0, "second anchor 7")
	again.Embedding = nil
	if missing, err := b.StageChunks(b.ctx(), batch(h, staged, again)); err != nil || len(missing) != 0 {
		t.Errorf("reused: %v, %v", missing, err)
	}
	b.complete(h, activate(staged, 1))
	b.wantOnly(staged, "second anchor 7", 1)

	removed := 0
	for more := true; more; {
		c, err := b.Collect(b.ctx(), store.Collection{SupersededFor: 1000 * hour, AbandonedFor: 1000 * hour, Limit: 600})
		if err != nil || c.Chunks > 600 {
			t.Fatalf("collected %+v, %v", c, err)
		}
		removed, more = removed+c.Chunks, c.More
	}
	if removed != 2*longChunks-10 {
		t.Errorf("the upkeep removed %d chunks, want %d", removed, 2*longChunks-10)
	}
	b.collect(now, store.CollectAnswer{Superseded: 2}) // without chunks they are history alone, kept for no time here
	b.collect(now, store.CollectAnswer{})
	b.wantOnly(s, "pilot dues", 1)
	b.wantChunksKnown("after the upkeep", "first", false)
	b.wantChunksKnown("after the upkeep", "second", false)
}

// testLongDeleted: a long document is gone when its deletion is committed, and its name is free; its chunks go in steps.
func testLongDeleted(t *testing.T, b *bench) {
	old := b.ingestLong("a.pdf", "gone", true)
	b.ingest("deleted "+old.DocumentID, "of somebody who does not want a.pdf deleted")
	r := b.delete("contracts", "a.pdf", "in/a.pdf", nil)
	if !r.Deleted {
		t.Errorf("%+v", r)
	}
	b.wantFound("gone", 0)
	if all := b.documents(store.DocumentQuery{Limit: 10}); len(all) != 1 || all[0].DocumentID == old.DocumentID {
		t.Errorf("documents %+v", all)
	}
	b.delete("contracts", "deleted "+old.DocumentID, "in/a.pdf", nil)
	if all, err := b.DocumentVersions(b.ctx(), old.DocumentID); err != nil || len(all) != 0 {
		t.Errorf("versions %+v, %v", all, err)
	}
	if got := b.documentPassages("contracts", old.DocumentID, 0, 10); len(got) != 0 {
		t.Errorf("passages %+v", got)
	}
	if r = b.delete("contracts", "a.pdf", "in/a.pdf", nil); r.Deleted {
		t.Errorf("deleted again: %+v", r)
	}
	s := b.ingest("a.pdf", "pilot dues")
	if s.Version != 1 || s.DocumentID == old.DocumentID {
		t.Errorf("the name is used again for %+v", s)
	}
	b.wantOnly(s, "pilot dues", 1)
	b.collect(later, store.CollectAnswer{Chunks: 10, More: true}) // the document without a version is no empty one
	if n := b.removeChunks(); n != longChunks-10 {
		t.Errorf("%d chunks were removed of %d", n, longChunks-10)
	}
	b.wantChunksKnown("after the steps", "gone", false)
	b.collect(now, store.CollectAnswer{})
	b.wantOnly(s, "pilot dues", 1)
}

// testLongGivenUp: what a job staged of a long document, and gave up, goes in steps as well: after a failure, and when
// another job takes the document over. It is no version of the document's history.
func testLongGivenUp(t *testing.T, b *bench) {
	m, h := b.run(func(m *store.Begin) { m.Payload = json.RawMessage(`{"filename":"a.pdf"}`) })
	failed := b.stageLong(h, "a.pdf", "failed")
	b.fail(h, m)
	_, h = b.run()
	lost := b.stageLong(h, "a.pdf", "lost")
	if lost.DocumentID != failed.DocumentID || len(lost.StagedKeys) != 0 {
		t.Errorf("staged %+v after %+v", lost, failed)
	}
	b.loseWorker(h)
	s := b.ingest("a.pdf", "pilot dues")
	b.wantOnly(s, "pilot dues", 1)
	b.wantFound("anchor", 0)
	if all, err := b.DocumentVersions(b.ctx(), s.DocumentID); err != nil || len(all) != 1 || all[0].Status != "active" {
		t.Errorf("versions %+v, %v", all, err)
	}
	if n := b.removeChunks(); n != 2*longChunks {
		t.Errorf("%d chunks were removed, want %d", n, 2*longChunks)
	}
	b.collect(now, store.CollectAnswer{})
	b.wantOnly(s, "pilot dues", 1)

	m, h = b.run() // a document that never had a version
	b.stageLong(h, "b.pdf", "never")
	b.fail(h, m)
	if n := b.removeChunks(); n != longChunks {
		t.Errorf("%d chunks were removed, want %d", n, longChunks)
	}
	b.collect(now, store.CollectAnswer{})
	_, h = b.run()
	if s, err := b.StageDocument(b.ctx(), staging(h, "b.pdf")); err != nil || s.Version != 1 {
		t.Errorf("staged again: %+v, %v", s, err)
	}
}
