package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// publisher makes a worker the publisher and returns its fence.
func (b *bench) publisher(worker string, lease time.Duration) int64 {
	b.t.Helper()
	claim, err := b.ClaimPublisher(b.ctx(), worker, lease)
	if err != nil || !claim.Held {
		b.t.Fatalf("claim the publisher: %+v, %v", claim, err)
	}
	return claim.Fence
}

// testPublishers: one worker of a tenant is the publisher; one that lost its lease can't move the position.
func testPublishers(t *testing.T, b *bench) {
	first := b.publisher("w1", hour)
	claim, err := b.ClaimPublisher(b.ctx(), "w2", hour)
	if err != nil || claim.Held || claim.Worker != "w1" || claim.Wait <= 0 || claim.Wait > hour {
		t.Fatalf("a second publisher: %+v, %v", claim, err)
	}
	_, h := b.run()
	b.complete(h)
	page := b.outgoing(store.OutgoingQuery{Fence: first, Limit: 10, Bytes: 1 << 20})
	if err := b.Published(b.ctx(), store.Published{Fence: first, Lease: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	var second int64
	for second == 0 { // the lease ends by the database's clock
		claim, err := b.ClaimPublisher(b.ctx(), "w2", hour)
		if err != nil {
			t.Fatal(err)
		}
		second = claim.Fence
	}
	if second <= first {
		t.Errorf("fence %d after %d", second, first)
	}
	for what, err := range map[string]error{
		"moves the position": b.Published(b.ctx(), store.Published{Fence: first, Lease: hour, Next: page.Next}),
		"extends the lease":  b.Published(b.ctx(), store.Published{Fence: first, Lease: hour}),
		"reads": func() error {
			_, err := b.Outgoing(b.ctx(), store.OutgoingQuery{Fence: first, Lease: hour, Limit: 1, Bytes: 1})
			return err
		}(),
	} {
		if !errors.Is(err, store.ErrNotPublisher) {
			t.Errorf("a publisher without a lease %s: %v", what, err)
		}
	}
	if all := b.drain(second, 10, 1<<20); len(all) != len(page.Events) {
		t.Errorf("%d events, want those %d that the first one did not publish", len(all), len(page.Events))
	}
	if err := b.Published(b.ctx(), store.Published{Fence: second}); err != nil {
		t.Fatal(err)
	}
	if err := b.Published(b.ctx(), store.Published{Fence: second, Lease: hour}); !errors.Is(err, store.ErrNotPublisher) {
		t.Errorf("a lease that was given back is extended: %v", err)
	}
	b.publisher("w3", hour) // at once
}

// testBehind: the publisher is behind by events and by dead letters.
func testBehind(t *testing.T, b *bench) {
	fence := b.publisher("w1", hour)
	behind := func(want int) {
		t.Helper()
		state, err := b.PublisherState(b.ctx())
		if err != nil || state.Behind != want || want == 0 && state.Oldest != 0 {
			t.Errorf("state %+v, %v; want %d behind", state, err, want)
		}
	}
	behind(0)
	m, h := b.run()
	b.fail(h, m)
	behind(3) // started, failed, and the dead letter
	page := b.outgoing(store.OutgoingQuery{Fence: fence, Limit: 2, Bytes: 1 << 20})
	if err := b.Published(b.ctx(), store.Published{Fence: fence, Lease: hour, Next: page.Next, Count: 2}); err != nil {
		t.Fatal(err)
	}
	behind(1) // the dead letter, which is of the same transaction
	b.drain(fence, 10, 1<<20)
	behind(0)
	if _, err := b.Reject(b.ctx(), store.Rejection{
		Error: badInput, Reason: "malformed", Source: store.Source{MessageID: event("", 0).ID},
	}); err != nil {
		t.Fatal(err)
	}
	behind(1) // a dead letter without a job
	b.drain(fence, 10, 1<<20)
	behind(0)
}
