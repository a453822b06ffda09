package storetest

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func requeuing(m store.Begin, edit ...func(*store.Requeue)) store.Requeue {
	r := store.Requeue{By: "anna", Submission: submission(func(s *store.Submission) {
		s.JobID, s.Fingerprint, s.Payload, s.WebhookURL, s.MaxAttempts = m.JobID, m.Fingerprint, m.Payload,
			m.WebhookURL, m.MaxAttempts
	})}
	for _, e := range edit {
		e(&r)
	}
	return r
}

func testPurge(t *testing.T, b *bench) {
	var ids []string
	for range 4 {
		_, id := b.letter()
		ids = append(ids, id)
	}
	for _, id := range ids[:3] {
		if err := b.DeadLetterSent(b.ctx(), id); err != nil {
			t.Fatal(err)
		}
	}
	other := newBench(t, b.open)
	_, foreign := other.letter()
	if err := other.DeadLetterSent(b.ctx(), foreign); err != nil {
		t.Fatal(err)
	}
	gone, err := b.Purge(b.ctx(), []string{ids[0], ids[1], ids[3], foreign, "no-such-letter", uuid.NewString()}, hour)
	slices.Sort(gone)
	want := slices.Sorted(slices.Values(ids[:2]))
	if err != nil || !slices.Equal(gone, want) {
		t.Fatalf("purged %v, %v; want %v", gone, err, want)
	}
	left, err := b.DeadLetters(b.ctx(), store.DeadLetterFilter{Limit: 10})
	if err != nil || len(left) != 2 || left[0].ID != ids[3] || left[1].ID != ids[2] {
		t.Errorf("left: %+v, %v", left, err)
	}
	other.deadLetter(foreign) // I10
	if gone, err = b.Purge(b.ctx(), ids, 0); err != nil || len(gone) != 2 {
		t.Errorf("the rest: %v, %v", gone, err)
	}
	if gone, err = b.Purge(b.ctx(), nil, 0); err != nil || len(gone) != 0 {
		t.Errorf("nothing: %v, %v", gone, err)
	}
}

func testLetterFilters(t *testing.T, b *bench) {
	var ids []string
	for i := range 5 {
		_, id := b.letter(func(m *store.Begin) { m.Type = []string{"ingest", "ocr"}[i%2] })
		ids = append(ids, id)
	}
	refused := b.reject(rejection()).DeadLetter.ID
	b.replay(replaying(ids[1], b.plan(ids[1], "")))
	newest := slices.Concat(ids, []string{refused})
	slices.Reverse(newest)
	for _, c := range []struct {
		filter store.DeadLetterFilter
		want   []string
	}{
		{store.DeadLetterFilter{}, newest},
		{store.DeadLetterFilter{Reason: "invalid_payload"}, []string{refused}},
		{store.DeadLetterFilter{Reason: "permanent", Type: "ocr"}, []string{ids[3], ids[1]}},
		{store.DeadLetterFilter{Replayed: "yes"}, []string{ids[1]}},
		{store.DeadLetterFilter{Replayed: "no", Type: "ocr"}, []string{ids[3]}},
		{store.DeadLetterFilter{Since: b.deadLetter(ids[3]).CreatedAt}, newest[:3]},
		{
			store.DeadLetterFilter{Since: b.deadLetter(ids[1]).CreatedAt, Before: b.deadLetter(ids[3]).CreatedAt},
			[]string{ids[2], ids[1]},
		},
		{store.DeadLetterFilter{After: b.deadLetter(ids[2]).Cursor()}, []string{ids[1], ids[0]}},
	} {
		c.filter.Limit = 100
		letters, err := b.DeadLetters(b.ctx(), c.filter)
		var got []string
		for _, d := range letters {
			got = append(got, d.ID)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, %v; want %v", c.filter, got, err, c.want)
		}
	}
}

func testRequeue(t *testing.T, b *bench) {
	m, id := b.letter()
	plan, err := b.PlanRequeue(b.ctx(), m.JobID)
	if err != nil || plan.Job.ID != m.JobID || plan.DeadLetter != id || plan.Original != m.Original ||
		plan.WebhookURL != m.WebhookURL {
		t.Fatalf("plan: %+v, %v", plan, err)
	}
	if _, err := b.Requeue(b.ctx(), requeuing(m, func(r *store.Requeue) { r.Fingerprint = "f2" })); !errors.Is(err,
		store.ErrConflict) {
		t.Errorf("I5: another payload: %v", err)
	}
	r := requeuing(m)
	j, err := b.Requeue(b.ctx(), r)
	if err != nil || j.Status != "pending" || j.Attempts != 1 || j.MaxAttempts != 3 || j.Progress != 0 ||
		j.ErrorClass != "" || j.CompletedAt != nil {
		t.Fatalf("requeued: %+v, %v", j, err)
	}
	if _, err := b.Requeue(b.ctx(), r); !errors.Is(err, store.ErrNotFailed) {
		t.Errorf("twice: %v", err)
	}
	unsent := b.unsent(0)
	if len(unsent) != 1 || unsent[0].JobID != m.JobID || unsent[0].Message != r.Message {
		t.Errorf("I1: unsent: %+v", unsent)
	}
	if d := b.deadLetter(id); d.ReplayedAs != m.JobID || d.ReplayedBy != "anna" {
		t.Errorf("letter: %+v", d)
	}
	// The letter's task runs again already.
	if replay := b.plan(id, ""); !strings.Contains(replay.Refusal, m.JobID) {
		t.Errorf("plan of a replay: %+v", replay)
	}

	// The count of attempts continues, and the limit holds (I6).
	for attempt := 2; attempt <= 3; attempt++ {
		n := message(func(n *store.Begin) { n.JobID, n.MaxAttempts = m.JobID, 3 })
		begun := b.begin(n, store.Run)
		if begun.Attempt != attempt || begun.Releases != 0 || begun.Waited != 0 { // its waits start again (I11)
			t.Errorf("attempt %d, want %d; %d releases, waited %v", begun.Attempt, attempt, begun.Releases,
				begun.Waited)
		}
		if _, err := b.Release(b.ctx(), store.Release{Holder: holder(n, begun), Waits: true, Tried: true}); err != nil {
			t.Fatal(err)
		}
		begun = b.begin(n, store.Run)
		b.fail(holder(n, begun), n)
		_, err := b.Requeue(b.ctx(), requeuing(m))
		if want := attempt == 3; errors.Is(err, store.ErrExhausted) != want || (err == nil) == want {
			t.Errorf("I6: retry after attempt %d of 3: %v", attempt, err)
		}
	}
	n := message(func(n *store.Begin) { n.JobID = m.JobID })
	if j, err = b.Requeue(b.ctx(), requeuing(m, func(r *store.Requeue) { r.ResetAttempts = true })); err != nil || j.Attempts != 0 {
		t.Errorf("with its attempts reset: %+v, %v", j, err)
	}
	b.fail(holder(n, b.begin(n, store.Run)), n)
	if j, err = b.Requeue(b.ctx(), requeuing(m, func(r *store.Requeue) { r.Force = true })); err != nil ||
		j.Attempts != 0 {
		t.Errorf("forced: %+v, %v", j, err)
	}
	b.complete(holder(n, b.begin(n, store.Run)))
	b.begin(m, store.Done) // I2: the first message, late
	b.wantLetters(m.JobID, 4)
	b.history(m.JobID)
	if _, err := b.Requeue(b.ctx(), requeuing(m, func(r *store.Requeue) { r.Force = true })); !errors.Is(err,
		store.ErrNotFailed) {
		t.Errorf("I3: a succeeded job: %v", err)
	}
	if _, err := b.Requeue(b.ctx(), requeuing(message())); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown: %v", err)
	}
}

// testRequeueAfter: a retry beside a replay, a cancel, a refusal and a forced message.
func testRequeueAfter(t *testing.T, b *bench) {
	m, id := b.letter()
	b.replay(replaying(id, b.plan(id, "")))
	if _, err := b.Requeue(b.ctx(), requeuing(m)); !errors.Is(err, store.ErrReplayed) ||
		!strings.Contains(err.Error(), m.JobID+".r1") {
		t.Errorf("I2: retry of a replayed job: %v", err)
	}
	if _, err := b.Requeue(b.ctx(), requeuing(m, func(r *store.Requeue) { r.Force = true })); err != nil {
		t.Errorf("forced: %v", err)
	}
	if j, err := b.RequestCancel(b.ctx(), m.JobID, "anna"); err != nil || j.Status != "canceled" {
		t.Errorf("cancel of a requeued job: %+v, %v", j, err)
	}
	if _, err := b.Requeue(b.ctx(), requeuing(m)); !errors.Is(err, store.ErrNotFailed) {
		t.Errorf("retry of a canceled job: %v", err)
	}
	b.history(m.JobID)

	// A job whose message was refused has no fingerprint yet; refused again it fails again, with a letter.
	refused := rejection()
	b.reject(refused)
	r := requeuing(store.Begin{
		Task: store.Task{
			JobID: refused.JobID, Payload: json.RawMessage(`{"filename":"b.pdf"}`), Fingerprint: "f3", MaxAttempts: 3,
		},
	})
	j, err := b.Requeue(b.ctx(), r)
	if err != nil || j.Attempts != 0 || j.MaxAttempts != 3 || !strings.Contains(string(j.Payload), "b.pdf") {
		t.Fatalf("retry of a refused job: %+v, %v", j, err)
	}
	b.reject(rejection(func(n *store.Rejection) { n.JobID, n.Payload = refused.JobID, r.Payload }))
	if j := b.job(refused.JobID); j.Status != "failed" {
		t.Errorf("refused again: %+v", j)
	}
	b.wantLetters(refused.JobID, 2)
	b.history(refused.JobID)

	// A job that ran, was queued again and then refused does not wait for ever, whatever else its new message says.
	m, _ = b.letter()
	r = requeuing(m)
	if _, err := b.Requeue(b.ctx(), r); err != nil {
		t.Fatal(err)
	}
	if err := b.MarkSent(b.ctx(), m.JobID, r.Message); err != nil {
		t.Fatal(err)
	}
	b.reject(rejection(func(n *store.Rejection) { n.JobID, n.Payload, n.RequestedBy = m.JobID, m.Payload, "anna" }))
	if j := b.job(m.JobID); j.Status != "failed" {
		t.Errorf("refused after it ran: %+v", j)
	}
	b.history(m.JobID)

	// A forced message did it again: a replay of the old letter is refused unless asked twice.
	m, id = b.letter()
	forced := m
	forced.Force, forced.Source = true, store.Source{Queue: "q", MessageID: uuid.NewString()}
	b.complete(holder(forced, b.begin(forced, store.Run)))
	plan := b.plan(id, "")
	if !strings.Contains(plan.Refusal, "is succeeded") {
		t.Errorf("plan: %+v", plan)
	}
	if _, err := b.Replay(b.ctx(), replaying(id, plan)); !errors.Is(err, store.ErrReplayed) {
		t.Errorf("replay after a forced message: %v", err)
	}
	b.replay(replaying(id, plan, again))
}
