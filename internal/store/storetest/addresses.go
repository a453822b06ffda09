package storetest

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// byAddress begins a job of a type on the document of an address, which the payload gives no name.
func (b *bench) byAddress(kind, address string) (store.Begin, store.Holder) {
	b.t.Helper()
	return b.run(func(m *store.Begin) {
		m.Type, m.Payload = kind, json.RawMessage(`{"source_uri":"`+address+`","document_set":"one"}`)
	})
}

// read keeps a page of bytes that a job has read, and an answer that it has paid for.
func (b *bench) read(m store.Begin, sha string) {
	b.t.Helper()
	if err := b.KeepPageResults(b.ctx(), store.PageSource{Source: sha, Reader: "r", JobID: m.JobID},
		[]store.PageResult{{Page: 1, Reading: []byte("read")}}); err != nil {
		b.t.Fatal(err)
	}
	b.keepPartials(m.JobID, partial("note of "+m.JobID, "context"))
}

func (b *bench) stageFrom(h store.Holder, filename, blob string) store.StagedVersion {
	b.t.Helper()
	s, err := b.StageDocument(b.ctx(), store.Staging{Holder: h, DocumentSet: "one", Filename: filename, Blob: blob})
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// readAndIndexed does an ingest that reads a page; sha is the hash of the document's bytes.
func (b *bench) readAndIndexed(m store.Begin, h store.Holder, filename, blob, sha string) {
	b.t.Helper()
	s := b.stageFrom(h, filename, blob)
	b.read(m, sha)
	b.stage(h, s, "text of "+filename)
	e := activate(s, 1)
	args, ok := e.Args.(store.Activation)
	if !ok {
		b.t.Fatalf("%T", e.Args)
	}
	args.ContentSHA256, args.Blob = sha, blob
	e.Args = args
	b.complete(h, e)
}

func (b *bench) wantNote(m store.Begin, want bool) {
	b.t.Helper()
	if kept := b.partials(store.PartialQuery{JobID: "x", Keys: []string{"note of " + m.JobID}}); (kept != "") != want {
		b.t.Errorf("answers of %s: %q, want %v", m.Payload, kept, want)
	}
}

// testDeleteAddress: a deletion also removes what was read of a document by tasks that gave its address and no name.
func testDeleteAddress(t *testing.T, b *bench) {
	for _, c := range []struct{ address, blob string }{ // blob is as source.Place.Key has the address
		{"https://h/x/report.pdf", "https://h/x/report.pdf"},
		{"https://u:p@h/x/report.pdf?sig=1", "https://h/x/report.pdf?0123456789abcdef01234567"},
		{"https://account.example/container/in/a.pdf", "in/a.pdf"}, // of the tenant's own container
	} {
		name, sha := uuid.NewString()+".pdf", uuid.NewString()
		if c.blob == "in/a.pdf" {
			name = c.blob
		}
		ingested, h := b.byAddress("ingest", c.address)
		b.readAndIndexed(ingested, h, name, c.blob, sha)
		reader, h := b.byAddress("ocr", c.address) // of the same bytes; it fails later
		b.read(reader, sha)
		b.fail(h, reader)
		again, h := b.byAddress("ingest", c.address) // of other bytes
		b.stageFrom(h, name, c.blob)
		b.read(again, sha+" changed")
		b.fail(h, again)

		other, h := b.byAddress("ocr", "https://h/y/report.pdf")
		b.read(other, sha+" of another")
		b.fail(h, other)
		r := b.delete("one", name, c.blob, func(made store.DocumentBlobs, _ *store.Deletion) {
			if len(made.Sources) != 2 {
				t.Errorf("%s: sources %v", c.address, made.Sources)
			}
		})
		if !r.Deleted || r.Removed.Readings != 2 {
			t.Errorf("%s: %+v", c.address, r)
		}
		b.wantReadings(sha, 0)
		b.wantReadings(sha+" changed", 0)
		b.wantReadings(sha+" of another", 1)
		b.wantNote(ingested, false)
		b.wantNote(again, false)
		b.wantNote(other, true)
	}
}

// testDeleteAddressNamed: what a task read by the address of a document with a name of its own goes with it; what
// another document of the address shares, or a task made of it under another name, stays. What a job read that made a
// version of the document goes with it, whatever the store takes for the name in its payload.
func testDeleteAddressNamed(t *testing.T, b *bench) {
	const address = "https://h/x/report.pdf"
	b.ingestFrom("one", "named.pdf", address, "bytes")
	reader, h := b.byAddress("summarize", address)
	b.read(reader, "bytes")
	b.fail(h, reader)
	b.ingestFrom("two", "other.pdf", address, "bytes")
	if r := b.delete("one", "named.pdf", address, nil); r.Removed.Readings != 0 || r.Removed.Notes != 0 {
		t.Errorf("shared: %+v", r)
	}
	if r := b.delete("two", "other.pdf", address, nil); r.Removed.Readings != 1 || r.Removed.Notes != 1 {
		t.Errorf("the last: %+v", r)
	}
	b.ingestFrom("one", "named.pdf", address, "bytes")
	b.made("own.pdf", address, "bytes")
	if r := b.delete("one", "named.pdf", address, nil); r.Removed.Readings != 0 || r.Removed.Derived != 0 {
		t.Errorf("made under another name: %+v", r)
	}

	m, h := b.run(func(m *store.Begin) { m.Payload = json.RawMessage(`{"Filename":"a.pdf"}`) }) // as Go reads it, too
	b.readAndIndexed(m, h, "a.pdf", "a.pdf", "bytes of a")
	if r := b.delete("one", "a.pdf", "a.pdf", nil); r.Removed.Readings != 1 || r.Removed.Notes != 1 {
		t.Errorf("of a job that made a version: %+v", r)
	}
}

// testDeleteAddressOfQueries: of two documents whose addresses differ in the query alone, a deletion of one leaves what was
// read by the address of either: the row doesn't say of which. With the last one it goes.
func testDeleteAddressOfQueries(_ *testing.T, b *bench) {
	const first, second = "https://h/doc?0123456789abcdef01234567", "https://h/doc?76543210fedcba9876543210"
	b.ingestFrom("one", "first.pdf", first, "bytes 1")
	b.ingestFrom("one", "second.pdf", second, "bytes 2")
	reader, h := b.byAddress("summarize", "https://h/doc?id=2")
	b.read(reader, "bytes 3")
	b.fail(h, reader)
	b.delete("one", "first.pdf", first, nil)
	b.wantReadings("bytes 3", 1)
	b.wantNote(reader, true)
	b.delete("one", "second.pdf", second, nil)
	b.wantReadings("bytes 3", 0)
	b.wantNote(reader, false)
}
