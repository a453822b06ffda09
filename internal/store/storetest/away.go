package storetest

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// testAway: a worker whose store was away leaves jobs whose leases ended meanwhile to their holders, which could not
// renew them (I9). Leases that ended before, orphans and jobs that are to be canceled are as ever.
func testAway(t *testing.T, b *bench) {
	lost := func() (store.Begin, store.Holder) {
		m, h := b.run()
		b.loseWorker(h)
		m.ID, m.Worker, m.Away = uuid.NewString(), "another", hour
		return m, h
	}

	m, h := lost()
	begun := b.begin(m, store.Leased)
	if begun.Wait <= 0 || begun.Wait > 3*time.Second || begun.Worker == "" || begun.Worker == m.Worker || !begun.Ran {
		t.Errorf("after an outage: %+v", begun)
	}
	if _, err := b.Release(b.ctx(), store.Release{Holder: h}); err != nil {
		t.Errorf("the holder can't give it back: %v", err)
	}
	if begun = b.begin(m, store.Run); begun.Attempt != 1 {
		t.Errorf("after it was given back: %+v", begun)
	}

	m, h = lost()
	b.begin(m, store.Leased)
	b.complete(h)
	b.begin(m, store.Done)

	m, _ = lost()
	m.Away = time.Millisecond
	for begun.Decision = store.Leased; begun.Decision == store.Leased; { // until that is less than the lease has been over
		var err error
		if begun, err = b.Begin(b.ctx(), m); err != nil {
			t.Fatal(err)
		}
	}
	if begun.Decision != store.Run || begun.Attempt != 2 {
		t.Errorf("a lease that ended before the outage: %+v", begun)
	}

	m, _ = lost()
	if _, err := b.RequestCancel(b.ctx(), m.JobID, "anna"); err != nil {
		t.Fatal(err)
	}
	b.begin(m, store.Dropped)

	m = message()
	b.begin(m, store.Run)
	m.Unanswered, m.ID, m.Away = []string{m.ID}, uuid.NewString(), hour
	if begun = b.begin(m, store.Run); begun.Attempt != 1 {
		t.Errorf("an orphan: %+v", begun)
	}
}
