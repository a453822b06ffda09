package queuetest

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/queue"
)

func visibility(b *bench) {
	b.send("hidden")
	before := time.Now()
	first := b.one(time.Second)
	if d := first.Lease.Deadline(); d.Before(before.Add(time.Second)) || d.After(time.Now().Add(time.Second)) {
		b.Errorf("the deadline is %s after the request, want 1 s", d.Sub(before))
	}
	// With 1 s left a slow machine may already see it again here; then the test has shown its point.
	if again := b.receive(1, time.Minute); len(again) == 1 {
		if time.Since(before) < time.Second {
			b.Fatal("received again within its visibility")
		}
		return
	}
	again := b.await(time.Minute)
	if again.ID != first.ID || again.Text != "hidden" {
		b.Errorf("got %s %q back, want %s %q", again.ID, again.Text, first.ID, "hidden")
	}
}

func extend(b *bench) {
	const text = "{\"käse\": \"<&>\"}\n\tend"
	b.send(text)
	m := b.one(time.Minute)
	old := m.Lease.Deadline()
	b.must(m.Lease.Extend(b.Context(), 2*time.Minute))
	if gained := m.Lease.Deadline().Sub(old); gained < time.Minute {
		b.Errorf("the deadline moved by %s, want at least 1 min", gained)
	}
	b.none()
	b.must(m.Lease.Extend(b.Context(), time.Second)) // twice, since each changes the receipt
	again := b.await(time.Minute)
	if again.Text != text {
		b.Errorf("after two extensions the text is %q, want %q", again.Text, text)
	}
	b.must(again.Lease.Release(b.Context(), 0))
	if again = b.await(time.Minute); again.Text != text {
		b.Errorf("after a release the text is %q, want %q", again.Text, text)
	}
}

func staleLease(b *bench) {
	b.send("contested")
	stale := b.one(time.Second)
	current := b.await(time.Minute)
	b.wantLost(stale.Lease.Extend(b.Context(), time.Minute))
	b.wantLost(stale.Lease.Release(b.Context(), 0))
	b.wantLost(stale.Lease.Delete(b.Context()))
	b.none()
	b.must(current.Lease.Extend(b.Context(), time.Minute))
	b.must(current.Lease.Delete(b.Context()))
	b.wantLost(current.Lease.Extend(b.Context(), time.Minute))
	if err := stale.Lease.Delete(b.Context()); err != nil {
		b.Errorf("deleting what is gone: %v", err)
	}
}

// deleteTogether deletes many messages at once, some with a lease that another receive has ended.
func deleteTogether(b *bench) {
	const messages = 32
	for i := range messages {
		b.send(strconv.Itoa(i))
	}
	var stale, held []*queue.Message
	for range 4 {
		stale = append(stale, b.await(time.Second))
	}
	for len(held) < messages {
		held = append(held, b.poll(messages-len(held), time.Minute)...)
	}
	// Somebody else has what the stale leases were for.
	isStale := func(m *queue.Message) bool {
		return slices.ContainsFunc(stale, func(s *queue.Message) bool { return s.Text == m.Text })
	}
	var others []*queue.Message
	all := slices.Clone(stale)
	for _, m := range held {
		if isStale(m) {
			others = append(others, m)
		} else {
			all = append(all, m)
		}
	}
	failures := make([]error, len(all))
	var wg sync.WaitGroup
	for i, m := range all {
		wg.Go(func() { failures[i] = m.Lease.Delete(b.Context()) })
	}
	wg.Wait()
	for i, err := range failures {
		if i < len(stale) {
			b.wantLost(err)
		} else if err != nil {
			b.Errorf("delete: %v", err)
		}
	}
	for _, m := range others {
		b.must(m.Lease.Extend(b.Context(), time.Minute))
	}
}

func (b *bench) wantLost(err error) {
	b.Helper()
	b.wantErr(err, queue.ErrLeaseLost)
}

func releaseAtOnce(b *bench) {
	b.send("released")
	b.must(b.one(time.Hour).Lease.Release(b.Context(), 0))
	if m := b.await(time.Minute); m.Text != "released" || m.DequeueCount != 2 {
		b.Errorf("got %q, received %d times; want %q, twice", m.Text, m.DequeueCount, "released")
	}
}

func releaseWithDelay(b *bench) {
	b.send("later")
	m := b.one(time.Minute)
	b.must(m.Lease.Release(b.Context(), time.Minute))
	b.none()

	b.send("soon")
	m = b.one(time.Minute)
	before := time.Now()
	b.must(m.Lease.Release(b.Context(), 300*time.Millisecond)) // rounded up to 1 s
	if again := b.await(time.Minute); again.Text != "soon" || time.Since(before) < 300*time.Millisecond {
		b.Errorf("got %q after %s, want %q after its delay", again.Text, time.Since(before), "soon")
	}
}

func releaseEnds(b *bench) {
	b.send("twice")
	m := b.one(time.Minute)
	b.must(m.Lease.Release(b.Context(), time.Hour))
	b.wantLost(m.Lease.Extend(b.Context(), time.Minute))
	b.wantLost(m.Lease.Release(b.Context(), 0))
	b.wantLost(m.Lease.Delete(b.Context()))
	b.none()
}

func deleteTwice(b *bench) {
	b.send("once")
	m := b.one(time.Minute)
	b.must(m.Lease.Delete(b.Context()))
	b.must(m.Lease.Delete(b.Context()))
	b.none()
	if depth, err := b.q.Depth(b.Context()); err != nil || depth != 0 {
		b.Errorf("depth %d, %v; want 0", depth, err)
	}
}

func dequeueCount(b *bench) {
	b.send("counted")
	for want := int64(1); want <= 3; want++ {
		m := b.await(time.Minute)
		if m.DequeueCount != want {
			b.Fatalf("receive %d counts %d", want, m.DequeueCount)
		}
		b.must(m.Lease.Release(b.Context(), 0))
	}
}

// concurrentReceivers runs four receivers; each message must be received once.
func concurrentReceivers(b *bench) {
	const messages, receivers = 40, 4
	for range messages {
		b.send("contested")
	}
	type result struct {
		ids []string
		err error
	}
	results := make(chan result, receivers)
	for range receivers {
		go func() {
			var r result
			for {
				got, err := b.q.Receive(b.Context(), 3, time.Hour)
				if err != nil || len(got) == 0 {
					r.err = err
					results <- r
					return
				}
				for _, m := range got {
					r.ids = append(r.ids, m.ID)
					r.err = errors.Join(r.err, m.Lease.Extend(b.Context(), time.Hour))
				}
			}
		}()
	}
	seen := map[string]bool{}
	note := func(id string) {
		if seen[id] {
			b.Errorf("message %s was received twice", id)
		}
		seen[id] = true
	}
	for range receivers {
		r := <-results
		b.must(r.err)
		for _, id := range r.ids {
			note(id)
		}
	}
	for len(seen) < messages { // on a busy machine a receiver may get nothing although something waits
		for _, m := range b.poll(3, time.Hour) {
			note(m.ID)
		}
	}
}
