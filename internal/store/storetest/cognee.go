package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// openCognee begins to note the tenant's documents.
func (b *bench) openCognee() {
	b.t.Helper()
	if err := b.OpenCognee(b.ctx()); err != nil {
		b.t.Fatalf("open Cognee: %v", err)
	}
}

// work claims what is due; changes of a dataset wait for nothing.
func (b *bench) work(edit ...func(*store.CogneeClaim)) store.CogneeWork {
	b.t.Helper()
	c := store.CogneeClaim{Worker: "w1", Max: 100, Lease: hour, Gather: hour}
	for _, e := range edit {
		e(&c)
	}
	got, err := b.ClaimCognee(b.ctx(), c)
	if err != nil {
		b.t.Fatalf("claim for Cognee: %v", err)
	}
	return got
}

// toSend claims the one document that is due.
func (b *bench) toSend() store.CogneeDocument {
	b.t.Helper()
	got := b.work()
	if len(got.Documents) != 1 {
		b.t.Fatalf("claimed %+v, want one document", got)
	}
	return got.Documents[0]
}

func (b *bench) settle(d store.CogneeDocument, outcome, health string) store.CogneeSettled {
	b.t.Helper()
	s, err := b.SettleCognee(b.ctx(), cogneeOutcome(d, outcome, health))
	if err != nil {
		b.t.Fatalf("settle: %v", err)
	}
	return s
}

func cogneeOutcome(d store.CogneeDocument, outcome, health string) store.CogneeOutcome {
	return store.CogneeOutcome{
		CogneeLease: store.CogneeLease{DocumentID: d.DocumentID, Fence: d.Fence}, Version: d.Version,
		CogneeHealth: store.CogneeHealth{Health: health, FirstProbe: hour}, Outcome: outcome,
		DataID: "data-" + d.DocumentID, DatasetID: "dataset-" + d.DocumentSet, Changed: true, NextAfter: hour,
	}
}

func (b *bench) cognee() store.CogneeState {
	b.t.Helper()
	s, err := b.CogneeState(b.ctx())
	if err != nil {
		b.t.Fatalf("state of Cognee: %v", err)
	}
	return s
}

// testCogneeOff: for a tenant that does not use Cognee nothing is written.
func testCogneeOff(_ *testing.T, b *bench) {
	b.ingest("a.pdf", "one")
	b.delete("contracts", "a.pdf", "in/a.pdf", nil)
	b.openCognee()
	if got := b.work(); len(got.Documents) > 0 || got.Next != 0 || b.cognee().Pending > 0 {
		b.t.Errorf("claimed %+v", got)
	}
	b.ingest("b.pdf", "two")
	if n, err := b.CloseCognee(b.ctx()); err != nil || n != 1 {
		b.t.Errorf("close: %d, %v", n, err)
	}
	b.ingest("c.pdf", "three")
	if s := b.cognee(); s.Enabled || s.Pending != 0 {
		b.t.Errorf("after the close: %+v", s)
	}
}

// testCogneeVersions: what is sent is the version that is active then, and each one once.
func testCogneeVersions(t *testing.T, b *bench) {
	b.openCognee()
	first := b.ingest("a.pdf", "one", "and more")
	d := b.toSend()
	if d.DocumentID != first.DocumentID || d.Version != 1 || d.DataID != "" || d.Tried || d.InGraph ||
		d.DocumentSet != "contracts" || d.Filename != "a.pdf" || d.Pages != 2 || d.ContentSHA256 == "" {
		t.Fatalf("claimed %+v", d)
	}
	text, err := b.CogneeText(b.ctx(), store.CogneeTextQuery{DocumentID: d.DocumentID, Version: 1, From: 1, Limit: 5})
	if err != nil || !text.Active || !slices.Equal(text.Chunks, []string{"and more"}) {
		t.Errorf("text %+v, %v", text, err)
	}
	b.ingest("a.pdf", "two") // while the first one is being sent
	text, err = b.CogneeText(b.ctx(), store.CogneeTextQuery{DocumentID: d.DocumentID, Version: 1, Limit: 5})
	if err != nil || text.Active || len(text.Chunks) != 0 {
		t.Errorf("text of a replaced version: %+v, %v", text, err)
	}
	if again := b.work(); len(again.Documents) > 0 {
		t.Fatalf("two send a document at once: %+v", again)
	}
	if s := b.settle(d, store.CogneeSent, store.CogneeUp); s.Status != "pending" {
		t.Errorf("settled %+v", s)
	}
	b.ingest("a.pdf", "three") // the second one is left out
	d = b.toSend()
	if d.Version != 3 || d.Sent != 1 || d.DataID != "data-"+d.DocumentID || !d.Tried || d.DatasetID == "" {
		t.Errorf("claimed %+v", d)
	}
	if s := b.settle(d, store.CogneeSent, store.CogneeUp); s.Status != "sent" {
		t.Errorf("settled %+v", s)
	}
	if again := b.work(func(c *store.CogneeClaim) { c.Quiet = hour }); len(again.Documents)+len(again.Datasets) > 0 ||
		b.cognee().Pending != 0 {
		t.Errorf("claimed %+v", again)
	}
}

// testCogneeFence: a worker that lost its claim records nothing.
func testCogneeFence(t *testing.T, b *bench) {
	b.openCognee()
	b.ingest("a.pdf", "one")
	short := func(c *store.CogneeClaim) { c.Lease = time.Millisecond }
	old := b.work(short).Documents[0]
	var d store.CogneeDocument
	for d.DocumentID == "" { // until the lease has ended
		for _, got := range b.work().Documents {
			d = got
		}
	}
	if d.Fence <= old.Fence || !d.Tried {
		t.Errorf("claimed %+v after %+v", d, old)
	}
	if _, err := b.SettleCognee(b.ctx(), cogneeOutcome(old, store.CogneeSent, "")); !errors.Is(err, store.ErrCogneeLost) {
		t.Errorf("a stale fence settles: %v", err)
	}
	held := func(all ...store.CogneeDocument) (h store.CogneeHeld) {
		for _, one := range all {
			h.Documents = append(h.Documents, store.CogneeLease{DocumentID: one.DocumentID, Fence: one.Fence})
		}
		return h
	}
	if kept, err := b.ExtendCognee(b.ctx(), held(old), hour); err != nil || len(kept.Documents) != 0 {
		t.Errorf("a stale fence extends: %+v, %v", kept, err)
	}
	if kept, err := b.ExtendCognee(b.ctx(), held(d), hour); err != nil || len(kept.Documents) != 1 {
		t.Errorf("extended: %+v, %v", kept, err)
	}
	if _, err := b.ExtendCognee(b.ctx(), held(d), 0); err != nil {
		t.Fatal(err)
	}
	if again := b.toSend(); again.Attempts != 0 {
		t.Errorf("given back: %+v", again)
	}
}

// testCogneeRefusals: a document that Cognee refuses waits for a person or its next version; the others go on.
func testCogneeRefusals(t *testing.T, b *bench) {
	b.openCognee()
	b.ingest("bad.pdf", "one")
	d := b.toSend()
	o := cogneeOutcome(d, store.CogneeRefused, store.CogneeUp)
	o.ResponseStatus, o.Error = 413, "Cognee refuses it (HTTP 413)"
	if s, err := b.SettleCognee(b.ctx(), o); err != nil || s.Status != store.CogneeRefused || s.Down {
		t.Fatalf("settled %+v, %v", s, err)
	}
	s := b.cognee()
	if s.Refused != 1 || s.Pending != 0 || len(s.Troubled) != 1 || s.Troubled[0].ResponseStatus != 413 ||
		s.Troubled[0].LastError != o.Error || s.Troubled[0].Version != 1 {
		t.Errorf("state %+v", s)
	}
	if n, err := b.RetryCognee(b.ctx()); err != nil || n.Documents != 1 {
		t.Errorf("retried %+v, %v", n, err)
	}
	b.settle(b.toSend(), store.CogneeRefused, store.CogneeUp)
	b.ingest("bad.pdf", "two")
	b.settle(b.toSend(), store.CogneeSent, store.CogneeUp)
	if s := b.cognee(); s.Refused != 0 {
		t.Errorf("state %+v", s)
	}
}

// testCognify: Cognee is asked once for the documents of a set, and nothing of the set is sent while it works on them.
func testCognify(t *testing.T, b *bench) {
	b.openCognee()
	b.ingest("a.pdf", "one")
	b.ingest("b.pdf", "two")
	b.ingestInto("another", "c.pdf", "three")
	work := b.work()
	for i, d := range work.Documents {
		if i == 0 {
			if now := b.work(); len(now.Datasets) > 0 {
				t.Fatalf("claimed %+v while documents are being sent", now)
			}
		}
		b.settle(d, store.CogneeSent, store.CogneeUp)
	}
	if early := b.work(func(c *store.CogneeClaim) { c.Quiet = hour }); len(early.Datasets) > 0 || early.Next <= 0 {
		t.Fatalf("claimed %+v too early", early)
	}
	sets := b.work().Datasets
	slices.SortFunc(sets, func(x, y store.CogneeDataset) int { return len(x.DocumentSet) - len(y.DocumentSet) })
	if len(sets) != 2 || sets[1].DocumentSet != "contracts" || sets[1].Changes != 2 || sets[1].Running ||
		sets[1].DatasetID != "dataset-contracts" || sets[0].Changes != 1 {
		t.Fatalf("datasets %+v", sets)
	}
	settle := func(s store.CogneeDataset, outcome string) store.CogneeSettled {
		t.Helper()
		got, err := b.SettleCognify(b.ctx(), store.CognifyOutcome{
			CogneeHealth:  store.CogneeHealth{Health: store.CogneeUp},
			CognifyHolder: store.CognifyHolder{DocumentSet: s.DocumentSet, Fence: s.Fence}, Outcome: outcome,
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if s := settle(sets[1], store.CognifyAsked); s.Status != "running" {
		t.Errorf("asked: %+v", s)
	}
	settle(sets[0], store.CognifyDone)
	b.ingest("a.pdf", "one, changed")
	b.ingestInto("another", "c.pdf", "three, changed")
	work = b.work()
	if len(work.Documents) != 1 || work.Documents[0].DocumentSet != "another" || !work.Documents[0].InGraph ||
		len(work.Datasets) != 1 || !work.Datasets[0].Running {
		t.Fatalf("claimed %+v", work)
	}
	if s := settle(work.Datasets[0], store.CognifyDone); s.Status != "idle" {
		t.Errorf("done: %+v", s)
	}
	if d := b.toSend(); d.DocumentSet != "contracts" || !d.InGraph {
		t.Errorf("claimed %+v", d)
	}
	if _, err := b.SettleCognify(b.ctx(), store.CognifyOutcome{
		CognifyHolder: store.CognifyHolder{DocumentSet: "contracts", Fence: work.Datasets[0].Fence},
		Outcome:       store.CognifyDone,
	}); !errors.Is(err, store.ErrCogneeLost) {
		t.Errorf("settled twice: %v", err)
	}
}

// testCogneeReconcile: what is queued by hand is in the index, does not wait anyhow, and was not sent just now.
func testCogneeReconcile(t *testing.T, b *bench) {
	before := b.ingest("before.pdf", "one")
	b.openCognee()
	waits, sent := b.ingest("waits.pdf", "two"), b.ingest("sent.pdf", "three")
	for _, d := range b.work().Documents {
		outcome := store.CogneeReplaced
		if d.DocumentID == sent.DocumentID {
			outcome = store.CogneeSent
		}
		b.settle(d, outcome, store.CogneeUp)
	}
	page, err := b.CogneeIndex(b.ctx(), "", 2)
	if err != nil || len(page.Documents) != 2 || page.Now.IsZero() {
		t.Fatalf("index %+v, %v", page, err)
	}
	rest, err := b.CogneeIndex(b.ctx(), page.Documents[1].DocumentID, 2)
	if err != nil || len(rest.Documents) != 1 {
		t.Fatalf("index %+v, %v", rest, err)
	}
	known := map[string]store.CogneeEntry{}
	var items []store.CogneeItem
	for _, e := range slices.Concat(page.Documents, rest.Documents) {
		known[e.DocumentID] = e
		items = append(items, store.CogneeItem{DocumentID: e.DocumentID})
	}
	if e := known[before.DocumentID]; e.Status != "" || e.Version != 1 || e.DocumentSet != "contracts" {
		t.Errorf("from before: %+v", e)
	}
	if e := known[sent.DocumentID]; e.Status != "sent" || e.Sent != 1 || e.DataID == "" {
		t.Errorf("sent: %+v", e)
	}
	nowhere := uuid.NewString()
	items = append(items, store.CogneeItem{DocumentID: nowhere})
	if n, err := b.RequeueCognee(b.ctx(), items, page.Now.Add(-hour)); err != nil || n != 1 {
		t.Errorf("queued %d, %v; want the one that is not noted", n, err)
	}
	if n, err := b.RequeueCognee(b.ctx(), items, page.Now.Add(hour)); err != nil || n != 1 {
		t.Errorf("queued %d, %v; want the one that was sent", n, err)
	}
	if got := b.work(); len(got.Documents) != 3 {
		t.Errorf("claimed %+v", got)
	}
	gone, err := b.CogneeGone(b.ctx(), []string{waits.DocumentID, nowhere})
	if err != nil || !slices.Equal(gone, []string{nowhere}) {
		t.Errorf("gone %v, %v", gone, err)
	}
}
