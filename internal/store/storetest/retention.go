package storetest

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// testExpireEventsInParts: a batch removes a limited number of events, also of one job, the oldest first.
func testExpireEventsInParts(t *testing.T, b *bench) {
	first, h := b.run()
	for range 5 {
		if _, err := b.Heartbeat(b.ctx(), store.Heartbeat{
			Holder: h, Lease: hour, Events: []store.Event{event("working", 10), event("working", 20)},
		}); err != nil {
			t.Fatal(err)
		}
	}
	b.complete(h)
	second, h := b.run()
	b.complete(h)
	q := store.EventExpiry{Jobs: 10, Events: 5}
	for i, want := range []store.ExpiredEvents{
		{Jobs: 0, Events: 5, More: true}, {Jobs: 0, Events: 5, More: true}, {Jobs: 1, Events: 4}, {},
	} {
		if i == 1 {
			if left, err := b.Events(b.ctx(), first.JobID, 0, 100); err != nil || len(left) != 7 || left[0].Seq != 6 {
				t.Errorf("%d events are left: %+v, %v", len(left), left, err)
			}
		}
		gone, err := b.ExpireEvents(b.ctx(), q)
		gone.Lost = 0
		if i == 2 {
			want.Jobs = 2
		}
		if err != nil || gone != want {
			t.Errorf("batch %d: %+v, %v; want %+v", i, gone, err, want)
		}
	}
	for _, id := range []string{first.JobID, second.JobID} {
		if left, err := b.Events(b.ctx(), id, 0, 10); err != nil || len(left) != 0 {
			t.Errorf("%d events of %s are left, %v", len(left), id, err)
		}
	}
}

// silent has no webhook.
func silent(m *store.Begin) { m.WebhookURL = "" }

// expire removes what may be removed of jobs that have ended, and returns how many jobs that were.
func (b *bench) expire(keep time.Duration, limit int) int {
	b.t.Helper()
	if _, err := b.ExpireEvents(b.ctx(), store.EventExpiry{Jobs: 1000}); err != nil {
		b.t.Fatal(err)
	}
	removed := 0
	for after := (*store.EndedJob)(nil); ; {
		gone, err := b.ExpireJobs(b.ctx(), store.JobExpiry{Keep: keep, Limit: limit, After: after})
		if err != nil {
			b.t.Fatal(err)
		}
		removed += gone.Removed
		if after = gone.Next; after == nil {
			return removed
		}
	}
}

func (b *bench) wantJobs(what string, want bool, ids ...string) {
	b.t.Helper()
	for _, id := range ids {
		if _, err := b.Job(b.ctx(), id); (err == nil) != want {
			b.t.Errorf("%s: job %s: %v", what, id, err)
		}
	}
}

// testExpireJobs: jobs go when they have ended long ago and nothing needs them.
func testExpireJobs(t *testing.T, b *bench) {
	other := newBench(t, b.open)
	foreign, h := other.run()
	other.complete(h)
	var done []string
	for range 3 {
		m, h := b.run(silent)
		b.complete(h)
		done = append(done, m.JobID)
	}
	if gone, err := b.ExpireJobs(b.ctx(), store.JobExpiry{Limit: 10}); err != nil || gone.Removed != 0 {
		t.Errorf("with events: %+v, %v", gone, err)
	}
	running, _ := b.run()
	if n := b.expire(hour, 10); n != 0 {
		t.Errorf("%d jobs of the last hour are gone", n)
	}
	if n := b.expire(0, 2); n != 3 {
		t.Errorf("%d jobs are gone, want 3", n)
	}
	b.wantJobs("ended", false, done...)
	b.wantJobs("running", true, running.JobID)
	other.wantJobs("I10: another tenant's", true, foreign.JobID)
	// The id is free: the same task is another job now.
	again := running
	again.JobID, again.Source.MessageID = done[0], event("", 0).ID
	if got := b.begin(again, store.Run); got.Attempt != 1 {
		t.Errorf("begun again: %+v", got)
	}
}

// testFailUnderRemovedID: a job whose id a removed one had ends with a dead letter of its own. That of the removed one stays.
func testFailUnderRemovedID(t *testing.T, b *bench) {
	for name, end := range map[string]func(id string) *store.DeadLetterRef{
		"failed": func(id string) *store.DeadLetterRef {
			m, h := b.run(silent, func(m *store.Begin) { m.JobID = id })
			return b.fail(h, m).DeadLetter
		},
		"lost with its worker": func(id string) *store.DeadLetterRef {
			m, h := b.run(silent, func(m *store.Begin) { m.JobID, m.MaxAttempts = id, 1 })
			b.loseWorker(h)
			return b.begin(m, store.Spent).DeadLetter
		},
		"rejected": func(id string) *store.DeadLetterRef {
			return b.reject(rejection(func(r *store.Rejection) { r.JobID, r.WebhookURL = id, "" })).DeadLetter
		},
	} {
		id := "job-" + uuid.NewString()
		first := end(id).ID
		if err := b.DeadLetterSent(b.ctx(), first); err != nil {
			t.Fatal(err)
		}
		plan := b.plan(first, "")
		if _, err := b.Replay(b.ctx(), replaying(first, plan)); err != nil {
			t.Fatal(err)
		}
		if _, err := b.RequestCancel(b.ctx(), plan.JobID, "anna"); err != nil {
			t.Fatal(err)
		}
		b.expire(0, 10)
		b.wantJobs(name, false, id, plan.JobID)
		if second := end(id).ID; second == first {
			t.Errorf("%s: it got the dead letter of the removed job", name)
		}
		if j := b.job(id); j.Status != "failed" {
			t.Errorf("%s: the job is %s", name, j.Status)
		}
		b.wantLetters(id, 2)
	}
}

// testStartUnderRemovedID: a job whose id a removed one had reports its own start, though that one's delivery is kept.
func testStartUnderRemovedID(t *testing.T, b *bench) {
	id := "job-" + uuid.NewString()
	for range 2 {
		_, h := b.run(func(m *store.Begin) { m.JobID, m.WebhookEvents = id, []string{"started"} })
		b.complete(h)
		for _, d := range b.claimAll(hour) {
			b.settleDelivery(d, store.DeliveryDelivered, 200)
		}
		b.expire(0, 10)
		b.wantJobs("ended", false, id)
	}
	starts := map[string]bool{}
	for _, d := range b.deliveries(store.DeliveryFilter{JobID: id}) {
		if d.Event == "task.started" {
			starts[d.ID] = true
		}
	}
	if len(starts) != 2 {
		t.Errorf("webhooks of the two starts: %v", starts)
	}
}

// testNeededJobs: a job stays as long as a webhook, a dead letter, a job that it submitted or a document needs it.
func testNeededJobs(t *testing.T, b *bench) {
	hooked, h := b.run(func(m *store.Begin) { m.WebhookURL = "https://hooks.example.com/a" })
	b.complete(h)
	lost, letter := b.letter(silent)
	parent, h := b.run(silent)
	child := store.Submission{Task: store.Task{
		JobID: "child-of-" + parent.JobID, Type: "ingest", Priority: "normal", MaxAttempts: 3, Fingerprint: "f",
	}, Queue: "q", Message: "m"}
	if _, err := b.SubmitChildren(b.ctx(), h, []store.Submission{child}); err != nil {
		t.Fatal(err)
	}
	b.complete(h)
	b.ingest("kept.pdf", "one")
	maker := b.documents(store.DocumentQuery{Limit: 10, Details: true})[0].JobID

	if n := b.expire(0, 2); n != 0 {
		t.Errorf("%d needed jobs are gone", n)
	}
	b.wantJobs("needed", true, hooked.JobID, lost.JobID, parent.JobID, maker)

	for _, d := range b.claimAll(hour) {
		b.settleDelivery(d, "delivered", 200)
	}
	b.expire(0, 2)
	b.wantJobs("its webhook is delivered", false, hooked.JobID)
	b.wantJobs("needed", true, lost.JobID, parent.JobID, maker)
	b.ingest("kept.pdf", "two")
	if _, err := b.RequestCancel(b.ctx(), child.JobID, "me"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Purge(b.ctx(), []string{letter}, 0); err != nil {
		t.Fatal(err)
	}
	for _, d := range b.claimAll(hour) {
		b.settleDelivery(d, "delivered", 200)
	}
	b.expire(0, 2)
	b.wantJobs("not needed any more", false, lost.JobID, parent.JobID, child.JobID, maker)
}

// testExpireDeliveries: deliveries go when they were done long ago. One that is to be sent stays.
func testExpireDeliveries(t *testing.T, b *bench) {
	b.hooks("https://hooks.example.com/a", "https://hooks.example.com/b", "https://hooks.example.com/c")
	claimed := b.claimAll(hour)
	if len(claimed) != 3 {
		t.Fatalf("%d deliveries", len(claimed))
	}
	b.settleDelivery(claimed[0], "delivered", 200)
	b.settleDelivery(claimed[1], "failed", 500)
	for _, c := range []struct {
		keep time.Duration
		want int
	}{{hour, 0}, {0, 1}, {0, 1}, {0, 0}} {
		if n, err := b.ExpireDeliveries(b.ctx(), c.keep, 1); err != nil || n != c.want {
			t.Errorf("older than %v: %d, %v; want %d", c.keep, n, err, c.want)
		}
	}
	if _, err := b.SettleDelivery(b.ctx(), store.DeliveryOutcome{
		ID: claimed[2].ID, Fence: claimed[2].Fence, Status: store.DeliveryPending, ResponseStatus: 500, Error: "down",
	}); err != nil {
		t.Fatal(err)
	}
	for _, again := range b.claimAll(hour) { // it may have been tried for days
		b.settleDelivery(again, "failed", 500)
	}
	if n, err := b.ExpireDeliveries(b.ctx(), 0, 1); err != nil || n != 0 {
		t.Errorf("one that was just given up: %d, %v", n, err)
	}
	if left := b.deliveries(store.DeliveryFilter{Limit: 10}); len(left) != 1 || left[0].ID != claimed[2].ID ||
		left[0].Status != "failed" {
		t.Errorf("left: %+v", left)
	}
}

// testExpireEventsIsNoChange: that a job's events are removed is no change of the job: whoever reads jobs by the time of their
// last change does not read it again.
func testExpireEventsIsNoChange(t *testing.T, b *bench) {
	m, h := b.run(silent)
	b.complete(h)
	before := b.job(m.JobID)
	if gone, err := b.ExpireEvents(b.ctx(), store.EventExpiry{Jobs: 10}); err != nil || gone.Jobs != 1 {
		t.Fatalf("%+v, %v", gone, err)
	}
	if after := b.job(m.JobID); !after.UpdatedAt.Equal(before.UpdatedAt) {
		t.Errorf("the job was changed at %v, and after its events were removed at %v", before.UpdatedAt, after.UpdatedAt)
	}
	again := anotherMessage(m)
	again.Force = true
	b.begin(again, store.Run)
	if after := b.job(m.JobID); !after.UpdatedAt.After(before.UpdatedAt) {
		t.Errorf("the job was changed at %v, and done again at %v", before.UpdatedAt, after.UpdatedAt)
	}
}
