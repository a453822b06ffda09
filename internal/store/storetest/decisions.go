package storetest

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func testBegin(t *testing.T, b *bench) {
	m := message(func(m *store.Begin) { m.RequestedBy, m.Priority = "user-17", "high" })
	begun := b.begin(m, store.Run)
	if begun.Fence < 1 || begun.Attempt != 1 || begun.MaxAttempts != 3 || begun.State != "running" ||
		begun.Checkpoint != nil {
		t.Errorf("begun: %+v", begun)
	}
	j := b.job(m.JobID)
	if j.Status != "running" || j.Type != "ingest" || j.Attempts != 1 || j.Priority != "high" ||
		j.RequestedBy != "user-17" ||
		j.ClientID != b.client || j.StartedAt == nil || j.CompletedAt != nil {
		t.Errorf("row: %+v", j)
	}
	leased := b.begin(m, store.Leased)
	if leased.Wait <= hour/2 || leased.Wait > hour {
		t.Errorf("a live lease: wait %s", leased.Wait)
	}
	if leased.Worker != m.Worker || leased.Fence != begun.Fence {
		t.Errorf("a live lease: worker %q, fence %d; want %q, %d", leased.Worker, leased.Fence, m.Worker,
			begun.Fence)
	}
	b.history(m.JobID)
}

func testDecisions(t *testing.T, b *bench) {
	m, h := b.run()
	b.complete(h)
	if begun := b.begin(m, store.Done); begun.State != "succeeded" || begun.DeadLetter != nil {
		t.Errorf("succeeded: %+v", begun)
	}

	m, h = b.run()
	settled := b.fail(h, m)
	begun := b.begin(m, store.Done)
	if begun.State != "failed" || begun.DeadLetter == nil || begun.DeadLetter.Sent ||
		*begun.DeadLetter != *settled.DeadLetter {
		t.Errorf("failed: %+v, settled %+v", begun, settled)
	}
	if err := b.DeadLetterSent(b.ctx(), settled.DeadLetter.ID); err != nil {
		t.Fatal(err)
	}
	if begun := b.begin(m, store.Done); !begun.DeadLetter.Sent {
		t.Error("begin does not return that the dead letter's copy was sent")
	}

	m, h = b.run()
	if _, err := b.Canceled(b.ctx(), h, nil); err != nil {
		t.Fatal(err)
	}
	b.begin(m, store.Dropped)
}

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

func testConflict(t *testing.T, b *bench) {
	m, h := b.run()
	other := m
	other.Fingerprint, other.Payload, other.Force = "f2", json.RawMessage(`{"filename":"b.pdf"}`), true
	other.Source.MessageID = uuid.NewString()
	before := b.job(m.JobID)
	b.begin(other, store.Conflict)
	if after := b.job(m.JobID); !after.UpdatedAt.Equal(before.UpdatedAt) ||
		string(after.Payload) != string(before.Payload) {
		t.Error("I5: a conflict changed the job")
	}
	b.complete(h)
	b.begin(other, store.Conflict)
	_, err := b.Submit(b.ctx(), store.Submission{
		Task: store.Task{
			JobID: m.JobID, Type: "ingest", Payload: other.Payload, Fingerprint: "f2", MaxAttempts: 3,
		},
		Queue: "q", Message: "{}",
	})
	if !errors.Is(err, store.ErrConflict) {
		t.Errorf("submit of another payload: %v", err)
	}
}
