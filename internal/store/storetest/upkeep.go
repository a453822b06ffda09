package storetest

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// later removes only rows that are years old.
var later = store.Collection{SupersededFor: 1000 * hour, AbandonedFor: 1000 * hour, Limit: 10}

// now removes all obsolete rows, whatever their age.
var now = store.Collection{Limit: 10}

func (b *bench) collect(c store.Collection, want store.CollectAnswer) {
	b.t.Helper()
	if got, err := b.Collect(b.ctx(), c); err != nil || got != want {
		b.t.Errorf("collected %+v, %v; want %+v", got, err, want)
	}
}

// testCollectSuperseded: a Collect removes the rows of replaced versions, the oldest first and a limited number. Active
// versions stay.
func testCollectSuperseded(t *testing.T, b *bench) {
	for _, content := range []string{"one", "two", "three", "four"} {
		b.ingest("often.pdf", content)
	}
	b.ingest("other.pdf", "five")
	b.collect(later, store.CollectAnswer{})
	few := now
	few.Limit = 2
	b.collect(few, store.CollectAnswer{Superseded: 2, More: true})
	b.collect(few, store.CollectAnswer{Superseded: 1})
	b.collect(now, store.CollectAnswer{})
	b.wantFound("four", 1)
	b.wantFound("five", 1)
	_, h := b.run()
	if s, err := b.StageDocument(b.ctx(), staging(h, "often.pdf")); err != nil || s.Version != 5 || s.Active == nil ||
		s.Active.Version != 4 {
		t.Errorf("the next version: %+v, %v", s, err)
	}
}

// testCollectStaged: a Collect removes a staged version when its job is abandoned, and not before.
func testCollectStaged(t *testing.T, b *bench) {
	open := func(filename string) (store.Begin, store.Holder, store.StagedVersion) {
		m, h := b.run()
		s, err := b.StageDocument(b.ctx(), staging(h, filename))
		if err != nil {
			t.Fatal(err)
		}
		b.stage(h, s, "staged in "+filename)
		return m, h, s
	}
	_, held, staged := open("held.pdf")
	m, lost, _ := open("lost.pdf")
	b.loseWorker(lost)
	_, over, _ := open("over.pdf")
	b.complete(over) // without an effect
	b.collect(later, store.CollectAnswer{})
	b.collect(now, store.CollectAnswer{Staged: 2, Documents: 2})
	if known, err := b.KnownChunks(b.ctx(),
		[]string{
			"key of staged in held.pdf", "key of staged in lost.pdf", "key of staged in over.pdf",
		}); err != nil || len(known) != 1 {
		t.Errorf("chunks left: %v, %v", known, err)
	}
	b.complete(held, activate(staged, 1))
	b.wantFound("staged", 1)
	// A job that runs again stages again.
	lost = holder(m, b.begin(m, store.Run))
	s, err := b.StageDocument(b.ctx(), staging(lost, "lost.pdf"))
	if err != nil || len(s.StagedKeys) != 0 {
		t.Fatalf("staged again: %+v, %v", s, err)
	}
	b.stage(lost, s, "again")
	b.complete(lost, activate(s, 1))
	b.wantFound("again", 1)
	b.collect(now, store.CollectAnswer{})
}
