package storetest

import (
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// together runs f n times concurrently.
func together(n int, f func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(f)
	}
	wg.Wait()
}

// testTogether: a call that several workers make at once takes effect once.
func testTogether(t *testing.T, b *bench) {
	const workers = 6
	m := message()
	var runs, ends atomic.Int64
	var fence atomic.Int64
	begin := func() {
		begun, err := b.Begin(b.ctx(), m)
		switch {
		case err != nil:
			t.Errorf("begin: %v", err)
		case begun.Decision == store.Run:
			runs.Add(1)
			fence.Store(begun.Fence)
		case begun.Decision != store.Leased:
			t.Errorf("begin: %+v", begun)
		}
	}
	together(workers, begin)
	if runs.Load() != 1 {
		t.Fatalf("I2: %d of %d workers run the same new job", runs.Load(), workers)
	}
	h := store.Holder{JobID: m.JobID, Fence: fence.Load()}
	b.loseWorker(h)
	runs.Store(0)
	together(workers, begin)
	if runs.Load() != 1 {
		t.Fatalf("I2: %d of %d workers take over the same lost job", runs.Load(), workers)
	}
	h.Fence = fence.Load()
	together(workers, func() {
		if _, err := b.Heartbeat(b.ctx(), store.Heartbeat{
			Holder: h, Lease: hour,
			Events: []store.Event{event("parsing", 10), event("parsing", 20)},
		}); err != nil {
			t.Errorf("heartbeat: %v", err)
		}
	})
	together(workers, func() {
		_, err := b.Complete(b.ctx(), store.Completion{Holder: h, Result: json.RawMessage(`{}`)})
		if err == nil {
			ends.Add(1)
		} else if !errors.Is(err, store.ErrFenced) {
			t.Errorf("complete: %v", err)
		}
	})
	if ends.Load() != 1 {
		t.Errorf("I2: completed %d times", ends.Load())
	}
	if got, want := len(b.history(m.JobID)), 3+2*workers+1; got != want {
		t.Errorf("I8: %d events, want %d", got, want)
	}

	r := rejection()
	var sent atomic.Int64
	together(workers, func() {
		s, err := b.Reject(b.ctx(), r)
		if err != nil {
			t.Errorf("reject: %v", err)
		}
		sent.Add(int64(s.Deliveries))
	})
	if sent.Load() != 1 {
		t.Errorf("I6: the same rejection sends %d webhooks", sent.Load())
	}
	b.wantLetters(r.JobID, 1)

	var mu sync.Mutex
	claims := map[string]int{}
	together(workers, func() {
		claimed, err := b.ClaimDeliveries(b.ctx(), store.Claim{Worker: "w", Max: 100, Lease: hour})
		if err != nil {
			t.Errorf("claim: %v", err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, d := range claimed.Deliveries {
			claims[d.ID]++
		}
	})
	if len(claims) != 2 {
		t.Errorf("%d deliveries claimed, want 2", len(claims))
	}
	for id, n := range claims {
		if n != 1 {
			t.Errorf("delivery %s was claimed %d times, want once", id, n)
		}
	}

	var opened, busy atomic.Int64
	together(workers, func() {
		m := message()
		begun, err := b.Begin(b.ctx(), m)
		if err != nil {
			t.Errorf("begin: %v", err)
			return
		}
		_, err = b.StageDocument(b.ctx(), staging(holder(m, begun), "together.pdf"))
		if _, ok := errors.AsType[*store.BusyError](err); ok {
			busy.Add(1)
		} else if err == nil {
			opened.Add(1)
		} else {
			t.Errorf("stage: %v", err)
		}
	})
	if opened.Load() != 1 || busy.Load() != workers-1 {
		t.Errorf("one document was opened by %d jobs, %d found it busy", opened.Load(), busy.Load())
	}
}
