package storetest

import (
	"errors"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// testUnanswered: the attempt of an unanswered begin is not counted, whether its lease has expired or not. That of an
// answered begin is.
func testUnanswered(t *testing.T, b *bench) {
	m, first := b.run()
	unheard := func(of store.Begin) store.Begin {
		next := message(func(n *store.Begin) { n.JobID, n.Unanswered = of.JobID, []string{"another", of.ID} })
		next.Fingerprint, next.Payload = of.Fingerprint, of.Payload
		return next
	}
	stranger := unheard(m)
	stranger.Unanswered = []string{"another", ""}
	b.begin(stranger, store.Leased)
	m = unheard(m)
	begun := b.begin(m, store.Run)
	if begun.Attempt != 1 || begun.Fence <= first.Fence {
		t.Errorf("before the lease expired: %+v, want attempt 1 under a new fence", begun)
	}
	second := holder(m, begun)
	b.loseWorker(second)
	m = unheard(m)
	if begun = b.begin(m, store.Run); begun.Attempt != 1 || begun.Fence <= second.Fence {
		t.Errorf("after the lease expired: %+v, want attempt 1 under a new fence", begun)
	}
	third := holder(m, begun)
	b.loseWorker(third)
	if begun = b.begin(stranger, store.Run); begun.Attempt != 2 {
		t.Errorf("after an answered begin: %+v, want attempt 2", begun)
	}
	for _, stale := range []store.Holder{first, second, third} {
		if _, err := b.Heartbeat(b.ctx(), store.Heartbeat{Holder: stale, Lease: hour}); !errors.Is(err,
			store.ErrFenced) {
			t.Errorf("I4: under fence %d: %v", stale.Fence, err)
		}
	}
	if _, err := b.RequestCancel(b.ctx(), m.JobID, "anna"); err != nil {
		t.Fatal(err)
	}
	b.begin(unheard(stranger), store.Dropped)
	b.history(m.JobID)
}

// testReleaseUnanswered: the report of an unanswered begin releases the job that it has leased, without counting the
// attempt. A job that another begin has leased stays leased.
func testReleaseUnanswered(t *testing.T, b *bench) {
	release := func(want int, begins ...store.UnansweredBegins) {
		t.Helper()
		if n, err := b.ReleaseUnanswered(b.ctx(), begins); err != nil || n != want {
			t.Errorf("reported %v: %d jobs given back, %v; want %d", begins, n, err, want)
		}
	}
	m, orphan := b.run()
	other, live := b.run()
	release(0)
	release(0, store.UnansweredBegins{JobID: other.JobID, IDs: []string{m.ID, ""}},
		store.UnansweredBegins{JobID: m.JobID}, store.UnansweredBegins{JobID: "no-such-job", IDs: []string{m.ID}})
	reported := store.UnansweredBegins{JobID: m.JobID, IDs: []string{"another", m.ID}}
	release(1, reported, store.UnansweredBegins{JobID: other.JobID, IDs: []string{"another"}})
	if j := b.job(m.JobID); j.Status != "pending" || j.Attempts != 0 {
		t.Errorf("the job is %s with %d attempts, want pending with 0", j.Status, j.Attempts)
	}
	release(0, reported)
	if _, err := b.Heartbeat(b.ctx(), store.Heartbeat{Holder: live, Lease: hour}); err != nil {
		t.Errorf("the job that another begin leased: %v", err)
	}
	second := message(func(n *store.Begin) { n.JobID = m.JobID })
	second.Fingerprint, second.Payload = m.Fingerprint, m.Payload
	begun := b.begin(second, store.Run)
	if begun.Attempt != 1 || begun.Fence <= orphan.Fence || !begun.First {
		t.Errorf("begun by another worker: %+v, want the first attempt under a new fence", begun)
	}
	release(0, reported) // that begin is over
	b.complete(holder(second, begun))
	release(0, store.UnansweredBegins{JobID: m.JobID, IDs: []string{second.ID}})
	b.history(m.JobID)
}
