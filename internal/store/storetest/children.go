package storetest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (b *bench) compare(h store.Holder, blobs ...store.NamedBlob) []store.ComparedBlob {
	b.t.Helper()
	all, err := b.CompareBlobs(b.ctx(), store.BlobComparison{Holder: h, DocumentSet: "docs", Blobs: blobs})
	if err != nil || len(all) != len(blobs) {
		b.t.Fatalf("%d of %d blobs, %v", len(all), len(blobs), err)
	}
	return all
}

func childOf(c store.Child) store.Submission {
	return store.Submission{Task: store.Task{
		JobID: c.ID, Type: "ingest", Priority: "low", MaxAttempts: 3, Fingerprint: "f",
	}, Queue: "q", Message: "the message of " + c.ID}
}

// testChildren: a job submits each child once, in whichever attempt, and none when it has lost its right (I2, I4).
func testChildren(t *testing.T, b *bench) {
	m, h := b.run()
	one, two := store.NamedBlob{Name: "in/1.pdf", ETag: `"a"`}, store.NamedBlob{Name: "in/2.pdf", ETag: `"a"`}
	found := b.compare(h, one, two)
	if found[0].ID == found[1].ID || found[0].Submitted || found[0].Filename != "" ||
		!strings.HasPrefix(found[0].ID, m.JobID+".") || len(found[0].ID) > 128 {
		t.Errorf("new blobs: %+v", found)
	}
	if changed := b.compare(h, store.NamedBlob{Name: one.Name, ETag: `"b"`}); changed[0].ID == found[0].ID {
		t.Error("another version has the same child")
	}
	for range 2 {
		since, err := b.SubmitChildren(b.ctx(), h, []store.Submission{childOf(found[0].Child)})
		if listed := b.compare(h, one)[0].Since; err != nil || len(since) != 1 || listed.IsZero() || !since[found[0].ID].Equal(listed) {
			t.Fatalf("to be sent since %v, listed with %v, %v", since, listed, err)
		}
		if unsent := b.unsent(0); len(unsent) != 1 || !unsent[0].Since.Equal(since[found[0].ID]) {
			t.Errorf("a sweep finds %+v, want %v", unsent, since)
		}
	}
	if j := b.job(found[0].ID); j.ParentJobID != m.JobID || j.Status != "pending" {
		t.Errorf("the child: %+v", j)
	}
	if list, err := b.Jobs(b.ctx(), store.JobFilter{Parent: m.JobID, Limit: 10}); err != nil || len(list) != 1 ||
		list[0].ID != found[0].ID {
		t.Errorf("the jobs of the job are %+v, %v", list, err)
	}
	if list, err := b.FindJobs(b.ctx(), store.JobQuery{Parent: m.JobID, Limit: 10, Most: 100}); err != nil ||
		len(list.Jobs) != 1 || list.Jobs[0].ID != found[0].ID || list.Looked != 1 {
		t.Errorf("found of the job are %+v, %v", list, err)
	}
	again := b.compare(h, one, two)
	if !again[0].Submitted || again[0].Message != "the message of "+found[0].ID || again[0].Queue != "q" || again[1].Submitted {
		t.Errorf("recorded and not sent: %+v", again)
	}
	if err := b.MarkSent(b.ctx(), found[0].ID, again[0].Message); err != nil {
		t.Fatal(err)
	}
	if since, err := b.SubmitChildren(b.ctx(), h, []store.Submission{childOf(found[0].Child)}); err != nil || len(since) != 0 {
		t.Errorf("it is sent, and to be sent since %v, %v", since, err)
	}
	// The next attempt finds the same children.
	b.loseWorker(h)
	next := holder(m, b.begin(m, store.Run))
	if again := b.compare(next, one); again[0].ID != found[0].ID || !again[0].Submitted || again[0].Message != "" {
		t.Errorf("of the next attempt: %+v", again)
	}
	if _, err := b.SubmitChildren(b.ctx(), h, []store.Submission{childOf(found[1].Child)}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("I4: submitted by an attempt that lost the job: %v", err)
	}
	if _, err := b.CompareBlobs(b.ctx(), store.BlobComparison{Holder: h}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("compared by it: %v", err)
	}
	// Its next series submits others.
	b.complete(next)
	m.Force, m.Source.MessageID, m.Source.InsertedAt = true, event("", 0).ID, time.Now().Add(hour)
	if forced := b.compare(holder(m, b.begin(m, store.Run)), one); forced[0].ID == found[0].ID {
		t.Error("a forced job has the same children")
	}
	other := newBench(t, b.open)
	_, foreign := other.run()
	if _, err := other.SubmitChildren(b.ctx(), foreign, []store.Submission{childOf(found[0].Child)}); err != nil {
		t.Errorf("I10: the same id in another tenant: %v", err)
	}
}

// testBlobsOfDocuments: blobs are compared with the active documents of one set.
func testBlobsOfDocuments(t *testing.T, b *bench) {
	b.ingestFrom("docs", "in/1.pdf", "in/1.pdf", "1")
	b.ingestFrom("docs", "Named.pdf", "in/2.pdf", "2")
	b.ingestFrom("others", "in/3.pdf", "in/3.pdf", "3")
	_, h := b.run()
	found := b.compare(h, store.NamedBlob{Name: "in/1.pdf"}, store.NamedBlob{Name: "in/2.pdf"}, store.NamedBlob{Name: "in/3.pdf"})
	for i, want := range []string{"in/1.pdf", "Named.pdf", ""} {
		if found[i].Filename != want {
			t.Errorf("blob %d is %q, want %q", i, found[i].Filename, want)
		}
	}
	if found[0].Readings != 0 || found[0].ReadAgoMS < 0 || found[0].ReadAgoMS > time.Hour.Milliseconds() {
		t.Errorf("of a complete document: %+v", found[0])
	}
	_, keeper := b.run()
	s, err := b.StageDocument(b.ctx(), store.Staging{Holder: keeper, DocumentSet: "docs", Filename: "in/1.pdf", Blob: "in/1.pdf"})
	if err != nil {
		t.Fatal(err)
	}
	b.complete(keeper, store.Effect{Kind: store.EffectKeepDocument, Args: store.Retention{
		DocumentID: s.DocumentID, Version: s.Version, Blob: "in/1.pdf", SourceETag: "e1",
		Reading: &store.Reading{ContentSHA256: "1", TextSHA256: "text-1", Format: "pdf", Pipeline: "provisional=2 p1", Pages: 2},
	}})
	if again := b.compare(h, store.NamedBlob{Name: "in/1.pdf"}); again[0].Readings != 2 {
		t.Errorf("read in part: %+v", again[0])
	}
	for blob, want := range map[string]string{"in/2.pdf": "Named.pdf", "in/3.pdf": "", "in/4.pdf": ""} {
		if name, err := b.DocumentAt(b.ctx(), "docs", blob); err != nil || name != want {
			t.Errorf("the document of %s is %q, %v", blob, name, err)
		}
	}
	seen := map[string]bool{}
	for after := ""; ; {
		page, err := b.DocumentsUnder(b.ctx(), store.UnderQuery{
			Holder: h, DocumentSet: "docs", Prefix: "in/", After: after, Limit: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range page.Documents {
			seen[d.Blob+" "+d.Filename] = true
			if d.ID == "" || d.Submitted {
				t.Errorf("%+v", d)
			}
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if len(seen) != 2 || !seen["in/1.pdf in/1.pdf"] || !seen["in/2.pdf Named.pdf"] {
		t.Errorf("under the prefix: %v", seen)
	}
}

// testFailedBlobs: a blob whose ingest failed for good, for whatever reason, counts as failed until it is changed, or its dead letter is
// replayed, in that set alone.
func testFailedBlobs(t *testing.T, b *bench) {
	_, h := b.run()
	old := time.Now().Add(-hour)
	blobs := []store.NamedBlob{
		{Name: "in/bad.pdf", ETag: `"a"`, Modified: old},
		{Name: "in/named.pdf", ETag: `"a"`, Modified: old},
		{Name: "in/bad.pdf", ETag: `"b"`, Modified: time.Now().Add(hour)}, // changed since
		{Name: "in/other.pdf", ETag: `"a"`, Modified: old},
		{Name: "in/bad.pdf", ETag: `"a"`},
	}
	want := func(when string, want ...bool) {
		t.Helper()
		for i, c := range b.compare(h, blobs...) {
			if c.Failed != want[i] {
				t.Errorf("%s: %s, changed at %v: failed %v", when, blobs[i].Name, blobs[i].Modified, c.Failed)
			}
		}
	}
	want("before", false, false, false, false, false)
	of := func(payload string) func(*store.Begin) {
		return func(m *store.Begin) { m.Payload = json.RawMessage(payload) }
	}
	_, letter := b.letter(of(`{"filename":"bad","blob":"in/bad.pdf","document_set":"docs"}`))
	b.letter(of(`{"filename":"in/named.pdf","document_set":"docs"}`))
	b.letter(of(`{"filename":"in/other.pdf","document_set":"others"}`))
	want("after they failed", true, true, false, false, false)
	b.replay(replaying(letter, b.plan(letter, "")))
	want("after a replay", false, true, false, false, false)
	child := b.child(h, store.NamedBlob{Name: "in/child.pdf", ETag: `"a"`, Modified: old})
	m := message(func(m *store.Begin) { m.Task = child.Task })
	b.fail(holder(m, b.begin(m, store.Run)), m)
	for etag, failed := range map[string]bool{`"a"`: true, `"b"`: false} {
		if c := b.compare(h, store.NamedBlob{Name: "in/child.pdf", ETag: etag, Modified: old}); c[0].Failed != failed {
			t.Errorf("a child's blob with the ETag %s: failed %v", etag, c[0].Failed)
		}
	}
	for _, reason := range []string{"timeout", "worker_lost", "exhausted"} {
		name := "in/" + reason + ".pdf"
		m, failed := b.run(of(`{"filename":"` + name + `","document_set":"docs"}`))
		f := failure(failed, m)
		f.Reason = reason
		if _, err := b.Fail(b.ctx(), f); err != nil {
			t.Fatal(err)
		}
		if c := b.compare(h, store.NamedBlob{Name: name, ETag: `"a"`, Modified: old}); !c[0].Failed {
			t.Errorf("%s: it doesn't count as failed", reason)
		}
	}
}

// child submits the holder's child for a blob.
func (b *bench) child(h store.Holder, blob store.NamedBlob) store.Submission {
	b.t.Helper()
	child := childOf(b.compare(h, blob)[0].Child)
	child.Payload = json.RawMessage(`{"filename":"` + blob.Name + `","blob":"` + blob.Name + `","document_set":"docs"}`)
	if _, err := b.SubmitChildren(b.ctx(), h, []store.Submission{child}); err != nil {
		b.t.Fatal(err)
	}
	return child
}

// testPendingChildren: what another job has submitted for a thing as it is, and has not ended, is told; else each firing
// of a schedule would submit all that is not done yet once more.
func testPendingChildren(t *testing.T, b *bench) {
	_, first := b.run()
	_, second := b.run()
	one, two := store.NamedBlob{Name: "in/1.pdf", ETag: `"a"`}, store.NamedBlob{Name: "in/2.pdf", ETag: `"a"`}
	pending := func(when string, h store.Holder, blob store.NamedBlob, want bool) {
		t.Helper()
		if c := b.compare(h, blob)[0]; c.Pending != want {
			t.Errorf("%s: pending %v", when, c.Pending)
		}
	}
	child := b.child(first, one)
	pending("recorded", second, one, true)
	pending("another blob", second, two, false)
	pending("changed since", second, store.NamedBlob{Name: one.Name, ETag: `"b"`}, false)
	other, err := b.CompareBlobs(b.ctx(), store.BlobComparison{Holder: second, DocumentSet: "others", Blobs: []store.NamedBlob{one}})
	if err != nil || other[0].Pending {
		t.Errorf("of another set: %+v, %v", other, err)
	}
	m := message(func(m *store.Begin) { m.Task = child.Task })
	h := holder(m, b.begin(m, store.Run))
	pending("running", second, one, true)
	if _, err := b.Fail(b.ctx(), failure(h, m)); err != nil {
		t.Fatal(err)
	}
	pending("failed", second, one, false)
	// A deletion.
	b.ingestFrom("docs", "in/3.pdf", "in/3.pdf", "3")
	under := func(h store.Holder) store.DocumentUnder {
		t.Helper()
		page, err := b.DocumentsUnder(b.ctx(), store.UnderQuery{Holder: h, DocumentSet: "docs", Prefix: "in/", Limit: 10})
		if err != nil || len(page.Documents) != 1 {
			t.Fatalf("%+v, %v", page, err)
		}
		return page.Documents[0]
	}
	if d := under(second); d.Pending {
		t.Errorf("before: %+v", d)
	}
	child = childOf(under(first).Child)
	child.Payload = json.RawMessage(`{"filename":"in/3.pdf","blob":"in/3.pdf","document_set":"docs","delete":true,"only_missing":true}`)
	if _, err := b.SubmitChildren(b.ctx(), first, []store.Submission{child}); err != nil {
		t.Fatal(err)
	}
	if d := under(second); !d.Pending || d.Submitted {
		t.Errorf("submitted by another: %+v", d)
	}
	if _, err := b.RequestCancel(b.ctx(), child.JobID, "test"); err != nil {
		t.Fatal(err)
	}
	if d := under(second); d.Pending {
		t.Errorf("canceled: %+v", d)
	}
}
