package storetest

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// letter fails a new job and returns its message and its dead letter's id.
func (b *bench) letter(edit ...func(*store.Begin)) (store.Begin, string) {
	b.t.Helper()
	m, h := b.run(edit...)
	return m, b.fail(h, m).DeadLetter.ID
}

func (b *bench) plan(id, taskID string) store.ReplayPlan {
	b.t.Helper()
	plan, err := b.PlanReplay(b.ctx(), id, taskID)
	if err != nil {
		b.t.Fatalf("plan a replay: %v", err)
	}
	return plan
}

// replaying is a replay as a plan has it.
func replaying(id string, plan store.ReplayPlan, edit ...func(*store.Replay)) store.Replay {
	r := store.Replay{
		DeadLetterID: id, Replays: plan.Replays, By: "anna",
		Submission: submission(func(s *store.Submission) { s.JobID, s.WebhookURL = plan.JobID, plan.WebhookURL }),
	}
	for _, e := range edit {
		e(&r)
	}
	return r
}

func (b *bench) replay(r store.Replay) store.Replayed {
	b.t.Helper()
	replayed, err := b.Replay(b.ctx(), r)
	if err != nil {
		b.t.Fatalf("replay: %v", err)
	}
	return replayed
}

func again(r *store.Replay) { r.Again = true }

func (b *bench) deadLetter(id string) store.DeadLetter {
	b.t.Helper()
	d, err := b.DeadLetter(b.ctx(), id)
	if err != nil {
		b.t.Fatalf("dead letter: %v", err)
	}
	return d
}

func testReplay(t *testing.T, b *bench) {
	m, id := b.letter()
	plan := b.plan(id, "")
	want := store.ReplayPlan{JobID: m.JobID + ".r1", ParentJobID: m.JobID, Number: 1, WebhookURL: m.WebhookURL}
	if plan != want {
		t.Fatalf("plan: %+v, want %+v", plan, want)
	}
	r := replaying(id, plan)
	if got := b.replay(r); got != (store.Replayed{JobID: plan.JobID, ParentJobID: m.JobID, Number: 1}) {
		t.Errorf("replayed: %+v", got)
	}
	j := b.job(plan.JobID)
	if j.Status != "pending" || j.ParentJobID != m.JobID || j.Replay != 1 || j.Attempts != 0 || j.MaxAttempts != 3 {
		t.Errorf("row: %+v", j)
	}
	if old := b.job(m.JobID); old.Status != "failed" {
		t.Errorf("I3: the old row: %+v", old)
	}
	if d := b.deadLetter(id); d.ReplayedAt == nil || d.ReplayedAs != plan.JobID || d.ReplayedBy != "anna" || d.Replays != 1 {
		t.Errorf("letter: %+v", d)
	}

	// I1: recorded with its message, so a sweep sends it when nobody else did.
	unsent, err := b.Unsent(b.ctx(), 0, 10)
	if err != nil || !slices.Equal(unsent, []store.Unsent{{JobID: plan.JobID, Queue: r.Queue, Message: r.Message}}) {
		t.Errorf("unsent: %+v, %v", unsent, err)
	}
	if unsent, err = b.Unsent(b.ctx(), hour, 10); err != nil || len(unsent) != 0 {
		t.Errorf("unsent for an hour: %+v, %v", unsent, err)
	}

	// Not twice by accident.
	for name, edit := range map[string]func(*store.Replay){
		"the same request": func(*store.Replay) {},
		"an old plan":      again,
	} {
		_, err := b.Replay(b.ctx(), replaying(id, plan, edit))
		if !errors.Is(err, store.ErrReplayed) || !strings.Contains(err.Error(), "anna") || !strings.Contains(err.Error(), plan.JobID+", which is pending") {
			t.Errorf("%s: %v", name, err)
		}
	}
	second := b.plan(id, "")
	if second.JobID != m.JobID+".r2" || second.Replays != 1 || !strings.Contains(second.Refusal, plan.JobID) {
		t.Errorf("the second plan: %+v", second)
	}
	if _, err := b.Replay(b.ctx(), replaying(id, second)); !errors.Is(err, store.ErrReplayed) {
		t.Errorf("not asked again: %v", err)
	}
	b.replay(replaying(id, second, again))
	if j := b.job(second.JobID); j.ParentJobID != m.JobID || j.Replay != 2 {
		t.Errorf("the second row: %+v", j)
	}

	// The webhook of the new job goes where that of the old one went, under the new id.
	n := message(func(n *store.Begin) { n.JobID, n.WebhookURL = plan.JobID, "" })
	h := holder(n, b.begin(n, store.Run))
	if s := b.fail(h, n); s.Deliveries != 1 {
		t.Errorf("the end of the replay: %+v", s)
	}
	if got := stages(b.story(plan.JobID)); !slices.Equal(got, []string{"", "started", "failed"}) {
		t.Errorf("story: %v", got)
	}
	b.wantLetters(m.JobID, 1)
	b.wantLetters(plan.JobID, 1)

	// A replay of a replay belongs to the same line.
	letters, err := b.DeadLetters(b.ctx(), store.DeadLetterFilter{JobID: plan.JobID, Limit: 1})
	if err != nil || len(letters) != 1 {
		t.Fatalf("letters: %+v, %v", letters, err)
	}
	third := b.plan(letters[0].ID, "")
	if third.JobID != m.JobID+".r3" || third.ParentJobID != plan.JobID || third.Number != 3 || third.Refusal != "" {
		t.Errorf("the plan of a replay's letter: %+v", third)
	}
	b.replay(replaying(letters[0].ID, third))

	if _, err := b.PlanReplay(b.ctx(), uuid.NewString(), ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown letter: %v", err)
	}
	if _, err := b.Replay(b.ctx(), replaying("no-such-letter", plan)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("replay of an unknown letter: %v", err)
	}
}

// testReplayIDs: a replay's id is one, whatever the old one was.
func testReplayIDs(t *testing.T, b *bench) {
	long := strings.Repeat("x", 128)
	m, id := b.letter(func(m *store.Begin) { m.JobID = long })
	plan := b.plan(id, "")
	if len(plan.JobID) > 128 || !strings.HasSuffix(plan.JobID, ".r1") || plan.ParentJobID != m.JobID {
		t.Fatalf("plan: %+v", plan)
	}
	b.replay(replaying(id, plan))
	n := message(func(n *store.Begin) { n.JobID = plan.JobID })
	s := b.fail(holder(n, b.begin(n, store.Run)), n)
	if next := b.plan(s.DeadLetter.ID, ""); next.JobID != strings.TrimSuffix(plan.JobID, "1")+"2" {
		t.Errorf("plan after %s: %+v", plan.JobID, next)
	}

	// A sender's own id that looks like a replay's is neither taken for one nor overwritten.
	m, id = b.letter(func(m *store.Begin) { m.JobID = "report.r7" })
	if plan := b.plan(id, ""); plan.JobID != m.JobID+".r1" {
		t.Errorf("plan: %+v", plan)
	}
	b.run(func(m *store.Begin) { m.JobID = "report.r7.r1" })
	plan = b.plan(id, "")
	if plan.JobID != m.JobID+".r2" {
		t.Errorf("plan beside a job of that id: %+v", plan)
	}
	b.run(func(m *store.Begin) { m.JobID = plan.JobID }) // between plan and replay
	if _, err := b.Replay(b.ctx(), replaying(id, plan)); !errors.Is(err, store.ErrConflict) {
		t.Errorf("an id that was taken since: %v", err)
	}
	if d := b.deadLetter(id); d.ReplayedAt != nil || d.Replays != 0 {
		t.Errorf("a refused replay left something: %+v", d)
	}

	// A message that never became a job: its task's own id, once it has one.
	nameless := b.reject(store.Rejection{
		Reason: "malformed", Original: "no JSON", Error: badInput, Source: store.Source{Queue: "q", MessageID: uuid.NewString()},
	}).DeadLetter.ID
	if _, err := b.PlanReplay(b.ctx(), nameless, ""); err == nil {
		t.Error("a plan without any id")
	}
	plan = b.plan(nameless, "mended")
	if plan.JobID != "mended" || plan.ParentJobID != "" || plan.Number != 1 {
		t.Errorf("plan of a nameless letter: %+v", plan)
	}
	b.replay(replaying(nameless, plan, func(r *store.Replay) { r.TaskID = "mended" }))
	if plan = b.plan(nameless, "mended"); plan.JobID != "mended.r2" || plan.ParentJobID != "mended" || plan.Refusal == "" {
		t.Errorf("its second plan: %+v", plan)
	}
}

// testReplayTogether: of several who replay one letter at once, one does, and the others are told.
func testReplayTogether(t *testing.T, b *bench) {
	const people = 8
	for name, edit := range map[string]func(*store.Replay){"once": func(*store.Replay) {}, "again": again} {
		_, id := b.letter()
		plan := b.plan(id, "")
		if name == "again" {
			b.replay(replaying(id, plan))
			plan = b.plan(id, "")
		}
		var done, told atomic.Int64
		together(people, func() {
			switch _, err := b.Replay(b.ctx(), replaying(id, plan, edit)); {
			case err == nil:
				done.Add(1)
			case errors.Is(err, store.ErrReplayed):
				told.Add(1)
			default:
				t.Errorf("%s: %v", name, err)
			}
		})
		if done.Load() != 1 || told.Load() != people-1 {
			t.Errorf("I2: %s: %d replays, %d were told", name, done.Load(), told.Load())
		}
	}
	// Replay and retry of the same failed job exclude each other, too.
	m, id := b.letter(func(m *store.Begin) { m.MaxAttempts = 5 })
	plan := b.plan(id, "")
	var done atomic.Int64
	together(people, func() {
		if _, err := b.Replay(b.ctx(), replaying(id, plan)); err == nil {
			done.Add(1)
		}
		if _, err := b.Requeue(b.ctx(), requeuing(m)); err == nil {
			done.Add(1)
		}
	})
	if done.Load() != 1 {
		t.Errorf("I2: the task is done again %d times", done.Load())
	}
}

func requeuing(m store.Begin, edit ...func(*store.Requeue)) store.Requeue {
	r := store.Requeue{By: "anna", Submission: submission(func(s *store.Submission) {
		s.JobID, s.Fingerprint, s.Payload, s.WebhookURL, s.MaxAttempts = m.JobID, m.Fingerprint, m.Payload, m.WebhookURL, m.MaxAttempts
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
		{store.DeadLetterFilter{Since: b.deadLetter(ids[1]).CreatedAt, Before: b.deadLetter(ids[3]).CreatedAt}, []string{ids[2], ids[1]}},
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
	if err != nil || plan.Job.ID != m.JobID || plan.DeadLetter != id || plan.Original != m.Original || plan.WebhookURL != m.WebhookURL {
		t.Fatalf("plan: %+v, %v", plan, err)
	}
	if _, err := b.Requeue(b.ctx(), requeuing(m, func(r *store.Requeue) { r.Fingerprint = "f2" })); !errors.Is(err, store.ErrConflict) {
		t.Errorf("I5: another payload: %v", err)
	}
	r := requeuing(m)
	j, err := b.Requeue(b.ctx(), r)
	if err != nil || j.Status != "pending" || j.Attempts != 1 || j.MaxAttempts != 3 || j.Progress != 0 || j.ErrorClass != "" || j.CompletedAt != nil {
		t.Fatalf("requeued: %+v, %v", j, err)
	}
	if _, err := b.Requeue(b.ctx(), r); !errors.Is(err, store.ErrNotFailed) {
		t.Errorf("twice: %v", err)
	}
	unsent, err := b.Unsent(b.ctx(), 0, 10)
	if err != nil || len(unsent) != 1 || unsent[0].JobID != m.JobID || unsent[0].Message != r.Message {
		t.Errorf("I1: unsent: %+v, %v", unsent, err)
	}
	if d := b.deadLetter(id); d.ReplayedAs != m.JobID || d.ReplayedBy != "anna" {
		t.Errorf("letter: %+v", d)
	}
	// The letter's task runs again already.
	if replay := b.plan(id, ""); !strings.Contains(replay.Refusal, m.JobID) {
		t.Errorf("plan of a replay: %+v", replay)
	}

	// The attempts count on, and the cap holds (I6).
	for attempt := 2; attempt <= 3; attempt++ {
		n := message(func(n *store.Begin) { n.JobID, n.MaxAttempts = m.JobID, 3 })
		begun := b.begin(n, store.Run)
		if begun.Attempt != attempt {
			t.Errorf("attempt %d, want %d", begun.Attempt, attempt)
		}
		b.fail(holder(n, begun), n)
		_, err := b.Requeue(b.ctx(), requeuing(m))
		if want := attempt == 3; errors.Is(err, store.ErrExhausted) != want || (err == nil) == want {
			t.Errorf("I6: retry after attempt %d of 3: %v", attempt, err)
		}
	}
	if j, err = b.Requeue(b.ctx(), requeuing(m, func(r *store.Requeue) { r.Force = true })); err != nil || j.Attempts != 0 {
		t.Errorf("forced: %+v, %v", j, err)
	}
	n := message(func(n *store.Begin) { n.JobID = m.JobID })
	b.complete(holder(n, b.begin(n, store.Run)))
	b.begin(m, store.Done) // I2: the first message, late
	b.wantLetters(m.JobID, 3)
	b.story(m.JobID)
	if _, err := b.Requeue(b.ctx(), requeuing(m, func(r *store.Requeue) { r.Force = true })); !errors.Is(err, store.ErrNotFailed) {
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
	if _, err := b.Requeue(b.ctx(), requeuing(m)); !errors.Is(err, store.ErrReplayed) || !strings.Contains(err.Error(), m.JobID+".r1") {
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
	b.story(m.JobID)

	// A job whose message was refused has no fingerprint yet; refused again it fails again, with a letter.
	refused := rejection()
	b.reject(refused)
	r := requeuing(store.Begin{JobID: refused.JobID, Payload: json.RawMessage(`{"filename":"b.pdf"}`), Fingerprint: "f3", MaxAttempts: 3})
	j, err := b.Requeue(b.ctx(), r)
	if err != nil || j.Attempts != 0 || j.MaxAttempts != 3 || !strings.Contains(string(j.Payload), "b.pdf") {
		t.Fatalf("retry of a refused job: %+v, %v", j, err)
	}
	b.reject(rejection(func(n *store.Rejection) { n.JobID, n.Payload = refused.JobID, r.Payload }))
	if j := b.job(refused.JobID); j.Status != "failed" {
		t.Errorf("refused again: %+v", j)
	}
	b.wantLetters(refused.JobID, 2)
	b.story(refused.JobID)

	// One that ran, is queued again and then refused, does not wait for ever.
	m, _ = b.letter()
	if _, err := b.Requeue(b.ctx(), requeuing(m)); err != nil {
		t.Fatal(err)
	}
	b.reject(rejection(func(n *store.Rejection) { n.JobID, n.Payload = m.JobID, m.Payload }))
	if j := b.job(m.JobID); j.Status != "failed" {
		t.Errorf("refused after it ran: %+v", j)
	}
	b.story(m.JobID)

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
		t.Errorf("replay of what was forced since: %v", err)
	}
	b.replay(replaying(id, plan, again))
}
