package storetest

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// soon makes every waiting job stalled at once, and none twice.
var soon = store.SweepAges{UnsentFor: hour, UnstartedFor: hour, AgainAfter: hour}

func (b *bench) sweep(o store.SweepAges) store.SweepAnswer {
	b.t.Helper()
	found, err := b.Sweep(b.ctx(), o, 10)
	if err != nil {
		b.t.Fatalf("sweep: %v", err)
	}
	return found
}

func (b *bench) unsent(olderThan time.Duration) []store.Unsent {
	b.t.Helper()
	return b.sweep(store.SweepAges{UnsentFor: olderThan, StalledFor: hour, UnstartedFor: hour, AgainAfter: hour}).Unsent
}

// undated checks that messages have a time since when they are unsent, and returns them without it.
func undated(t *testing.T, unsent []store.Unsent) []store.Unsent {
	t.Helper()
	unsent = slices.Clone(unsent)
	for i := range unsent {
		if age := time.Since(unsent[i].Since); age.Abs() > hour/2 {
			t.Errorf("%s is unsent since %v", unsent[i].JobID, unsent[i].Since)
		}
		unsent[i].Since = time.Time{}
	}
	return unsent
}

// stalled returns the ids of the jobs that a sweep finds stalled.
func (b *bench) stalled(o store.SweepAges) []string {
	b.t.Helper()
	var ids []string
	for _, s := range b.sweep(o).Stalled {
		ids = append(ids, s.Job.ID)
	}
	return ids
}

func (b *bench) resend(h store.Holder, o store.SweepAges, message string) bool {
	b.t.Helper()
	recorded, err := b.Resend(b.ctx(), store.Resend{
		JobID: h.JobID, Fence: h.Fence, Queue: "q", Message: message, Ages: o,
	})
	if err != nil {
		b.t.Fatalf("resend: %v", err)
	}
	return recorded
}

// ways are the ways in which a job comes to wait for a message.
var ways = map[string]func(b *bench, h store.Holder) error{
	"worker lost": func(b *bench, h store.Holder) error { b.loseWorker(h); return nil },
	"retry": func(b *bench, h store.Holder) error {
		_, err := b.Retry(b.ctx(), store.Retry{Holder: h, Error: badInput})
		return err
	},
	"released": func(b *bench, h store.Holder) error {
		_, err := b.Release(b.ctx(), store.Release{Holder: h})
		return err
	},
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func testSweep(t *testing.T, b *bench) {
	for name, leave := range ways {
		m, h := b.run(func(m *store.Begin) {
			m.Hints, m.Priority, m.RequestedBy = json.RawMessage(`{"force":true}`), "high", "anna"
			m.TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		})
		if got := b.stalled(soon); got != nil {
			t.Fatalf("%s: a held job is stalled: %v", name, got)
		}
		if b.resend(h, soon, "x") {
			t.Errorf("%s: a held job was sent again", name)
		}
		if err := leave(b, h); err != nil {
			t.Fatal(err)
		}
		if got := b.stalled(store.SweepAges{StalledFor: hour}); got != nil {
			t.Errorf("%s: too early: %v", name, got)
		}
		found := b.sweep(soon).Stalled
		if len(found) != 1 {
			t.Fatalf("%s: found %+v", name, found)
		}
		s := found[0]
		if s.Job.ID != m.JobID || s.Fence != h.Fence || s.Fingerprint != m.Fingerprint ||
			s.WorkerLost != (name == "worker lost") || time.Since(s.Since) > hour/2 {
			t.Errorf("%s: %+v", name, s)
		}
		if s.Job.Type != m.Type || !sameJSON(s.Job.Payload, m.Payload) || !sameJSON(s.Job.Hints, m.Hints) ||
			s.Job.Priority != m.Priority ||
			s.Job.RequestedBy != m.RequestedBy || s.WebhookURL != m.WebhookURL || s.TraceParent != m.TraceParent {
			t.Errorf("%s: recorded %+v", name, s.Recorded)
		}
		if b.resend(store.Holder{JobID: h.JobID, Fence: h.Fence - 1}, soon, "x") {
			t.Errorf("%s: sent again under another fence", name)
		}
		if !b.resend(h, soon, "the message") || b.resend(h, soon, "another") {
			t.Errorf("%s: not recorded, or twice; want once", name)
		}
		if got := b.stalled(soon); got != nil {
			t.Errorf("%s: while it is sent: %v", name, got)
		}
		if got := undated(t, b.unsent(0)); !slices.Equal(got,
			[]store.Unsent{{JobID: m.JobID, Queue: "q", Message: "the message"}}) {
			t.Errorf("I1: %s: unsent: %v", name, got)
		}
		if err := b.MarkSent(b.ctx(), m.JobID, "the message"); err != nil {
			t.Fatal(err)
		}
		if got := b.unsent(0); len(got) != 0 {
			t.Errorf("%s: after it was sent: %v", name, got)
		}
		if got := b.stalled(soon); got != nil {
			t.Errorf("%s: again at once: %v", name, got)
		}
		if got := b.stalled(store.SweepAges{UnstartedFor: hour}); !slices.Equal(got, []string{m.JobID}) {
			t.Errorf("%s: again after a while: %v", name, got)
		}
		b.history(m.JobID)
		h = holder(m, b.begin(m, store.Run))
		if got := b.stalled(store.SweepAges{}); got != nil || len(b.unsent(0)) != 0 {
			t.Errorf("%s: after it began: %v", name, got)
		}
		b.complete(h)
		if b.resend(h, store.SweepAges{}, "x") {
			t.Errorf("%s: sent again after its end", name)
		}
	}
}

// testSweepUnstarted: a job that was sent and never begun is stalled much later. Sweeps skip one that can't be sent.
func testSweepUnstarted(t *testing.T, b *bench) {
	s := submission()
	if _, err := b.Submit(b.ctx(), s); err != nil {
		t.Fatal(err)
	}
	if got := b.stalled(store.SweepAges{}); got != nil {
		t.Errorf("before it was sent: %v", got)
	}
	if err := b.MarkSent(b.ctx(), s.JobID, s.Message); err != nil {
		t.Fatal(err)
	}
	if got := b.stalled(soon); got != nil {
		t.Errorf("it waits its turn: %v", got)
	}
	now := store.SweepAges{AgainAfter: hour}
	if got := b.stalled(now); !slices.Equal(got, []string{s.JobID}) {
		t.Errorf("for too long: %v", got)
	}
	if !b.resend(store.Holder{JobID: s.JobID}, now, s.Message) || len(b.unsent(0)) != 1 {
		t.Error("its message is not recorded")
	}

	_, h := b.run()
	b.loseWorker(h)
	if !b.resend(h, soon, "") || b.unsent(0)[0].JobID == h.JobID || b.stalled(soon) != nil {
		t.Error("sweeps do not skip it")
	}
	if b.resend(store.Holder{JobID: "no-such-job"}, soon, "x") {
		t.Error("an unknown job was sent again")
	}
}

// testSweepTogether: if several sweeps find a job at once, one of them sends it.
func testSweepTogether(t *testing.T, b *bench) {
	_, h := b.run()
	b.loseWorker(h)
	var recorded atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			ok, err := b.Resend(b.ctx(), store.Resend{
				JobID: h.JobID, Fence: h.Fence, Queue: "q", Message: "m", Ages: soon,
			})
			if err != nil {
				t.Error(err)
			}
			if ok {
				recorded.Add(1)
			}
		})
	}
	all.Wait()
	if recorded.Load() != 1 {
		t.Errorf("recorded %d times, want once", recorded.Load())
	}
	b.history(h.JobID)
}

// testSweepPages: pages of stalled jobs have each of them once, the one that waits longest first.
func testSweepPages(t *testing.T, b *bench) {
	want := map[string]bool{}
	for range 2 {
		for _, leave := range ways {
			m, h := b.run()
			if err := leave(b, h); err != nil {
				t.Fatal(err)
			}
			want[m.JobID] = true
		}
	}
	ages, got := soon, map[string]bool{}
	for range 4 {
		found, err := b.Sweep(b.ctx(), ages, 2)
		if err != nil || len(found.Stalled) != min(2, len(want)-len(got)) {
			t.Fatalf("after %+v: %d jobs, %v", ages.After, len(found.Stalled), err)
		}
		for _, s := range found.Stalled {
			if s.Since.Before(ages.After.Since) {
				t.Errorf("one since %v comes after one since %v", s.Since, ages.After.Since)
			}
			got[s.Job.ID], ages.After = true, s.Mark()
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if ages = soon; len(b.stalled(ages)) != len(want) {
		t.Errorf("again: %v", b.stalled(ages))
	}
	if ages.OnlyUnsent = true; b.stalled(ages) != nil {
		t.Errorf("asked for none of them: %v", b.stalled(ages))
	}
}

// testSweepTurns: messages whose time has come don't wait behind those that were recorded before them, nor the other way round.
func testSweepTurns(t *testing.T, b *bench) {
	var want [2]map[string]bool
	for i, at := range []*time.Time{nil, new(time.Now().Add(-hour))} {
		want[i] = map[string]bool{}
		for range 3 {
			s := once().Submission
			s.SendAt = at
			if _, err := b.Submit(b.ctx(), s); err != nil {
				t.Fatal(err)
			}
			want[i][s.JobID] = true
		}
	}
	found, err := b.Sweep(b.ctx(), store.SweepAges{}, 2)
	if err != nil || len(found.Unsent) != 2 {
		t.Fatalf("found %+v, %v", found.Unsent, err)
	}
	for i, u := range found.Unsent {
		if !want[1-i][u.JobID] { // of those with a time first
			t.Errorf("the message in place %d is that of %s", i, u.JobID)
		}
	}
}
