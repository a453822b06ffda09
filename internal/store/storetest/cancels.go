package storetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

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

	// Requested while it runs, whose begin was not answered: it does not run again.
	m = b.canceledUnanswered()
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

// canceledUnanswered is a job that waits for its message to be canceled: as a worker reports, it was begun in vain.
func (b *bench) canceledUnanswered() store.Begin {
	b.t.Helper()
	m, _ := b.run()
	if _, err := b.RequestCancel(b.ctx(), m.JobID, "anna"); err != nil {
		b.t.Fatal(err)
	}
	n, err := b.ReleaseUnanswered(b.ctx(), []store.UnansweredBegins{{JobID: m.JobID, IDs: []string{m.ID}}})
	if err != nil || n != 1 {
		b.t.Fatalf("%d released, %v", n, err)
	}
	return m
}

// testCancelAtTheEnd: a job whose cancel was requested just as its attempt ended is canceled then: its message may come
// only after an outage.
func testCancelAtTheEnd(t *testing.T, b *bench) {
	for name, end := range map[string]func(store.Holder) (store.Settlement, error){
		"released": func(h store.Holder) (store.Settlement, error) {
			return b.Release(b.ctx(), store.Release{Holder: h, Waits: true, Tried: true, Events: []store.Event{event("parsing", 30)}})
		},
		"retried": func(h store.Holder) (store.Settlement, error) {
			return b.Retry(b.ctx(), store.Retry{
				Holder: h, Error: badInput, After: hour, Events: []store.Event{event("parsing", 30)},
			})
		},
	} {
		m, h := b.run()
		if _, err := b.RequestCancel(b.ctx(), m.JobID, "anna"); err != nil {
			t.Fatal(err)
		}
		if s, err := end(h); err != nil || s.State != "canceled" || s.Deliveries != 1 {
			t.Fatalf("%s: %+v, %v", name, s, err)
		}
		if j := b.job(m.JobID); j.Status != "canceled" || j.Attempts != 1 || j.Progress != 30 || j.CompletedAt == nil {
			t.Errorf("%s: row: %+v", name, j)
		}
		if _, err := end(h); !errors.Is(err, store.ErrFenced) {
			t.Errorf("%s twice: %v", name, err)
		}
		b.begin(m, store.Dropped)
		b.wantDeliveries(m.JobID, "task.canceled")
		if got := stages(b.history(m.JobID)); !slices.Equal(got, []string{"started", "", "parsing", "canceled"}) {
			t.Errorf("%s: events %v", name, got)
		}
	}
}
