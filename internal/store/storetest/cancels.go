package storetest

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func testCancel(t *testing.T, b *bench) {
	m, h := b.run()
	staged, err := b.StageDocument(b.ctx(), staging(h, "canceled.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	b.stage(h, staged, "never seen")
	if _, err := b.RequestCancel(b.ctx(), m.JobID, "anna"); err != nil {
		t.Fatal(err)
	}
	beat, err := b.Heartbeat(b.ctx(), store.Heartbeat{Holder: h, Lease: hour})
	if err != nil || !beat.Cancel {
		t.Fatalf("the heartbeat does not return the cancel request: %+v, %v", beat, err)
	}
	s, err := b.Canceled(b.ctx(), h, []store.Event{event("parsing", 30)})
	if err != nil || s.State != "canceled" || s.Deliveries != 1 {
		t.Fatalf("canceled: %+v, %v", s, err)
	}
	if _, err := b.Complete(b.ctx(), store.Completion{
		Holder: h, Result: json.RawMessage(`{}`),
		Effects: []store.Effect{activate(staged, 1)},
	}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("I7: complete after cancel: %v", err)
	}
	if j := b.job(m.JobID); j.Status != "canceled" || j.Progress != 30 || !j.CancelAsked {
		t.Errorf("row: %+v", j)
	}
	b.wantDeliveries(m.JobID, "task.canceled")
	b.wantFound("never", 0)
	b.history(m.JobID)
	// The document had no version: it is gone, and version 1 is free.
	_, other := b.run()
	if again, err := b.StageDocument(b.ctx(), staging(other, "canceled.pdf")); err != nil ||
		again.DocumentID == staged.DocumentID || again.Version != 1 {
		t.Errorf("staging after cancel: %+v, %v", again, err)
	}
}

func testCancelRequests(t *testing.T, b *bench) {
	// Before any message.
	m := message()
	j, err := b.RequestCancel(b.ctx(), m.JobID, "anna")
	if err != nil || j.Status != "canceled" {
		t.Fatalf("unknown id: %+v, %v", j, err)
	}
	m.Force = true
	b.begin(m, store.Dropped)
	b.history(m.JobID)
	if _, err := b.RequestCancel(b.ctx(), m.JobID, "anna"); !errors.Is(err, store.ErrTerminal) {
		t.Errorf("twice: %v", err)
	}

	// Pending.
	m, h := b.run()
	if _, err := b.Release(b.ctx(), store.Release{Holder: h}); err != nil {
		t.Fatal(err)
	}
	if j, err = b.RequestCancel(b.ctx(), m.JobID, "anna"); err != nil || j.Status != "canceled" {
		t.Fatalf("pending: %+v, %v", j, err)
	}
	b.begin(m, store.Dropped)
	b.wantDeliveries(m.JobID, "task.canceled")
	b.history(m.JobID)

	// Waiting for its next attempt: no worker holds it.
	m, h = b.run()
	if _, err := b.Retry(b.ctx(), store.Retry{Holder: h, Error: badInput, After: hour}); err != nil {
		t.Fatal(err)
	}
	if j, err = b.RequestCancel(b.ctx(), m.JobID, "anna"); err != nil || j.Status != "canceled" {
		t.Fatalf("waiting: %+v, %v", j, err)
	}
	b.begin(m, store.Dropped)

	// Requested while it runs, and then the worker is lost: it does not run again.
	m, h = b.run()
	if j, err = b.RequestCancel(b.ctx(), m.JobID, "anna"); err != nil || j.Status != "running" || !j.CancelAsked {
		t.Fatalf("running: %+v, %v", j, err)
	}
	b.loseWorker(h)
	b.begin(m, store.Dropped)
	if j := b.job(m.JobID); j.Status != "canceled" {
		t.Errorf("row: %+v", j)
	}
	b.wantDeliveries(m.JobID, "task.canceled")
	b.history(m.JobID)

	// Requested while it runs, and then released: it does not run again.
	m, h = b.run()
	if _, err = b.RequestCancel(b.ctx(), m.JobID, "anna"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Release(b.ctx(), store.Release{Holder: h}); err != nil {
		t.Fatal(err)
	}
	b.begin(m, store.Dropped)
	b.wantDeliveries(m.JobID, "task.canceled")
	b.history(m.JobID)

	// Ended.
	m, h = b.run()
	b.complete(h)
	if _, err := b.RequestCancel(b.ctx(), m.JobID, "anna"); !errors.Is(err, store.ErrTerminal) {
		t.Errorf("I3: succeeded: %v", err)
	}
}

// testCanceling: one call for many attempts returns those that have to stop, each under its own fence.
func testCanceling(t *testing.T, b *bench) {
	canceling := func(attempts ...store.Holder) []store.Holder {
		t.Helper()
		got, err := b.Canceling(b.ctx(), attempts)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := canceling(); len(got) != 0 {
		t.Errorf("of no attempts: %v", got)
	}
	_, first := b.run()
	m, second := b.run()
	_, third := b.run()
	unknown := store.Holder{JobID: "no-such-job", Fence: 1}
	if got := canceling(first, second, third, unknown); len(got) != 0 {
		t.Errorf("before any request: %v", got)
	}
	for _, h := range []store.Holder{second, third} {
		if _, err := b.RequestCancel(b.ctx(), h.JobID, "anna"); err != nil {
			t.Fatal(err)
		}
	}
	stale := store.Holder{JobID: third.JobID, Fence: third.Fence - 1}
	if got := canceling(first, second, stale, unknown); !slices.Equal(got, []store.Holder{second}) {
		t.Errorf("got %v, want %v alone", got, second)
	}
	if got := canceling(second, third); len(got) != 2 {
		t.Errorf("two that have to stop: %v", got)
	}
	if _, err := b.Canceled(b.ctx(), second, nil); err != nil {
		t.Fatal(err)
	}
	// It runs again in another series: the request was for the one before.
	m.Force, m.Source.MessageID, m.Source.InsertedAt = true, "again", time.Now().Add(hour)
	if got := canceling(holder(m, b.begin(m, store.Run))); len(got) != 0 {
		t.Errorf("of another series: %v", got)
	}
}
