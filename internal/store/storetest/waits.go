package storetest

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// testWaits: the row has the number of releases because a service was down, and the time of the first, which bounds the
// wait (I11). Other releases don't count, and another series starts from zero.
func testWaits(t *testing.T, b *bench) {
	m, h := b.run()
	want := func(begun store.BeginAnswer, releases int, waits bool) {
		t.Helper()
		if begun.Releases != releases || begun.Waited > 0 != waits || begun.Waited > hour {
			t.Errorf("I11: %d releases, waited for %v; want %d, %t", begun.Releases, begun.Waited, releases, waits)
		}
	}
	again := func(r store.Release) store.BeginAnswer {
		t.Helper()
		r.Holder = h
		if _, err := b.Release(b.ctx(), r); err != nil {
			t.Fatal(err)
		}
		begun := b.begin(m, store.Run)
		h = holder(m, begun)
		return begun
	}
	want(again(store.Release{}), 0, false)
	want(again(store.Release{Waits: true}), 0, true)
	want(again(store.Release{Waits: true, Tried: true}), 1, true)
	want(again(store.Release{}), 1, true)
	want(again(store.Release{Waits: true, Tried: true}), 2, true)
	b.complete(h)

	forced := m
	forced.Force, forced.Source = true, store.Source{
		Queue: "q", MessageID: uuid.NewString(), InsertedAt: time.Now().Add(hour),
	}
	want(b.begin(forced, store.Run), 0, false)
}
