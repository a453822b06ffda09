package storetest

import (
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func deckRecord() store.DeckRecord {
	return store.DeckRecord{
		ID: uuid.NewString(), SourceFilename: "talk.pptx", SourceSHA256: "sha", Title: "A talk", Slides: 7,
		Blob: "decks/1.json", PreviewBlob: "decks/1/preview.png",
	}
}

// runOn starts an attempt of a job on a document.
func (b *bench) runOn(kind, payload string) store.Holder {
	b.t.Helper()
	_, h := b.run(func(m *store.Begin) { m.Type, m.Payload = kind, json.RawMessage(payload) })
	return h
}

// testDecks: a deck is recorded with the outcome of its job, once, and read by its tenant.
func testDecks(t *testing.T, b *bench) {
	h := b.runOn("convert", `{"filename":"talk.pptx"}`)
	if n, err := b.HoldDocument(b.ctx(), h, 1); n != 0 || err != nil {
		t.Fatalf("%d decks, %v", n, err)
	}
	d := deckRecord()
	settled := b.complete(h, store.Effect{Kind: store.EffectRecordDeck, Args: d})
	var result struct {
		ID   string `json:"deck_id"`
		Path string `json:"result_path"`
	}
	if err := json.Unmarshal(settled.Result, &result); err != nil || result.ID != d.ID || result.Path != d.Blob {
		t.Errorf("result %s, %v", settled.Result, err)
	}
	row, err := b.DeckRow(b.ctx(), d.ID)
	if err != nil || row.DeckRecord != d || row.JobID != h.JobID || row.CreatedAt.IsZero() {
		t.Errorf("%+v, %v", row, err)
	}
	if _, err := newBench(t, b.open).DeckRow(b.ctx(), d.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another tenant reads it: %v", err)
	}
	other := b.runOn("convert", `{"filename":"other.pptx"}`)
	_, err = b.Complete(b.ctx(), store.Completion{
		Holder: other, Result: json.RawMessage("{}"), Effects: []store.Effect{{Kind: store.EffectRecordDeck, Args: d}},
	})
	if !errors.Is(err, store.ErrConflict) {
		t.Errorf("the same deck twice: %v", err)
	}
}

// testHoldDocument: as many jobs of a type work on a document at once as may; the next one is told whom it waits for.
func testHoldDocument(t *testing.T, b *bench) {
	const payload = `{"filename":"talk.pptx"}`
	first := b.runOn("convert", payload)
	hold := func(h store.Holder, most int) error {
		_, err := b.HoldDocument(b.ctx(), h, most)
		return err
	}
	if err := errors.Join(hold(first, 1), hold(first, 1)); err != nil {
		t.Fatalf("the first, twice: %v", err)
	}
	second := b.runOn("convert", payload)
	var busy *store.BusyError
	if err := hold(second, 1); !errors.As(err, &busy) || busy.JobID != first.JobID || busy.RetryAfter <= 0 {
		t.Errorf("the second: %v", err)
	}
	for what, err := range map[string]error{
		"another document":       hold(b.runOn("convert", `{"filename":"other.pptx"}`), 1),
		"another type":           hold(b.runOn("export", payload), 1),
		"two at once":            hold(second, 2),
		"a type without a limit": hold(b.runOn("agent", payload), 1),
		"another tenant's, the same": func() error {
			o := newBench(t, b.open)
			_, err := o.HoldDocument(o.ctx(), o.runOn("convert", payload), 1)
			return err
		}(),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := hold(b.runOn("convert", payload), 2); !errors.As(err, &busy) {
		t.Errorf("the third of two: %v", err)
	}
	b.complete(first)
	b.complete(second)
	if err := hold(b.runOn("convert", payload), 1); err != nil {
		t.Errorf("after both have ended: %v", err)
	}
	if err := hold(first, 1); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a job that has ended: %v", err)
	}
}

// testHoldDocumentTogether: of jobs that want a document at the same moment one gets it. A lease that has ended holds
// nothing.
func testHoldDocumentTogether(t *testing.T, b *bench) {
	const jobs = 5
	holders := make([]store.Holder, jobs)
	for i := range holders {
		holders[i] = b.runOn("convert", `{"filename":"talk.pptx"}`)
	}
	errs := make([]error, jobs)
	var all sync.WaitGroup
	for i, h := range holders {
		all.Go(func() { _, errs[i] = b.HoldDocument(b.ctx(), h, 1) })
	}
	all.Wait()
	got := -1
	for i, err := range errs {
		var busy *store.BusyError
		switch {
		case err == nil && got >= 0:
			t.Fatal("two have it")
		case err == nil:
			got = i
		case !errors.As(err, &busy):
			t.Errorf("job %d: %v", i, err)
		}
	}
	if got < 0 {
		t.Fatal("none has it")
	}
	b.loseWorker(holders[got])
	if _, err := b.HoldDocument(b.ctx(), holders[(got+1)%jobs], 1); err != nil {
		t.Errorf("after the lease has ended: %v", err)
	}
}
