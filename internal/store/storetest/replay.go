package storetest

import (
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

// replaying returns the replay of a plan.
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

func (b *bench) replay(r store.Replay) store.ReplayAnswer {
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
	if got := b.replay(r); got != (store.ReplayAnswer{JobID: plan.JobID, ParentJobID: m.JobID, Number: 1}) {
		t.Errorf("replayed: %+v", got)
	}
	j := b.job(plan.JobID)
	if j.Status != "pending" || j.ParentJobID != m.JobID || j.Replay != 1 || j.Attempts != 0 || j.MaxAttempts != 3 {
		t.Errorf("row: %+v", j)
	}
	if old := b.job(m.JobID); old.Status != "failed" {
		t.Errorf("I3: the old row: %+v", old)
	}
	if d := b.deadLetter(id); d.ReplayedAt == nil || d.ReplayedAs != plan.JobID || d.ReplayedBy != "anna" ||
		d.Replays != 1 {
		t.Errorf("letter: %+v", d)
	}

	// I1: recorded with its message, so a sweep sends it if nothing else does.
	unsent := b.unsent(0)
	if !slices.Equal(undated(t, unsent), []store.Unsent{{JobID: plan.JobID, Queue: r.Queue, Message: r.Message}}) {
		t.Errorf("unsent: %+v", unsent)
	}
	if unsent = b.unsent(hour); len(unsent) != 0 {
		t.Errorf("unsent for an hour: %+v", unsent)
	}

	// A second replay needs Again.
	for name, edit := range map[string]func(*store.Replay){
		"the same request": func(*store.Replay) {},
		"an old plan":      again,
	} {
		_, err := b.Replay(b.ctx(), replaying(id, plan, edit))
		if !errors.Is(err, store.ErrReplayed) || !strings.Contains(err.Error(), "anna") ||
			!strings.Contains(err.Error(), plan.JobID+", which is pending") {
			t.Errorf("%s: %v", name, err)
		}
	}
	second := b.plan(id, "")
	if second.JobID != m.JobID+".r2" || second.Replays != 1 || !strings.Contains(second.Refusal, plan.JobID) {
		t.Errorf("the second plan: %+v", second)
	}
	if _, err := b.Replay(b.ctx(), replaying(id, second)); !errors.Is(err, store.ErrReplayed) {
		t.Errorf("without Again: %v", err)
	}
	b.replay(replaying(id, second, again))
	if j := b.job(second.JobID); j.ParentJobID != m.JobID || j.Replay != 2 {
		t.Errorf("the second row: %+v", j)
	}

	// The webhook of the new job goes to the old one's URL, under the new id.
	n := message(func(n *store.Begin) { n.JobID, n.WebhookURL = plan.JobID, "" })
	h := holder(n, b.begin(n, store.Run))
	if s := b.fail(h, n); s.Deliveries != 1 {
		t.Errorf("the end of the replay: %+v", s)
	}
	if got := stages(b.history(plan.JobID)); !slices.Equal(got, []string{"", "started", "failed"}) {
		t.Errorf("events: %v", got)
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

	stray := b.rejectAs(rejection(func(n *store.Rejection) {
		n.JobID, n.Record, n.Reason, n.WebhookURL = m.JobID, false, "conflict", ""
	}), "rejected")
	if plan := b.plan(stray.DeadLetter.ID, ""); plan.WebhookURL != "" {
		t.Errorf("another task of that id would be reported to %s", plan.WebhookURL)
	}

	if _, err := b.PlanReplay(b.ctx(), uuid.NewString(), ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown letter: %v", err)
	}
	if _, err := b.Replay(b.ctx(), replaying("no-such-letter", plan)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("replay of an unknown letter: %v", err)
	}
}

// testReplayIDs: the id of a replay is valid and free, whatever the old one is.
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

	// A sender's id that looks like a replay's does not count as one, and its job is not overwritten.
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
		t.Errorf("an id that was taken after the plan: %v", err)
	}
	if d := b.deadLetter(id); d.ReplayedAt != nil || d.Replays != 0 {
		t.Errorf("the letter after a refused replay: %+v", d)
	}

	// A message that never became a job: the task's own id, if it has one.
	nameless := b.reject(store.Rejection{
		Reason: "malformed", Original: "no JSON", Error: badInput,
		Source: store.Source{Queue: "q", MessageID: uuid.NewString()},
	}).DeadLetter.ID
	if _, err := b.PlanReplay(b.ctx(), nameless, ""); err == nil {
		t.Error("a plan without any id")
	}
	plan = b.plan(nameless, "mended")
	if plan.JobID != "mended" || plan.ParentJobID != "" || plan.Number != 1 {
		t.Errorf("plan of a nameless letter: %+v", plan)
	}
	b.replay(replaying(nameless, plan, func(r *store.Replay) { r.TaskID = "mended" }))
	if plan = b.plan(nameless, "mended"); plan.JobID != "mended.r2" || plan.ParentJobID != "mended" ||
		plan.Refusal == "" {
		t.Errorf("its second plan: %+v", plan)
	}
}

// testReplayTogether: of several people who replay one letter at once, one succeeds, and the others get ErrReplayed.
func testReplayTogether(t *testing.T, b *bench) {
	const people = 8
	for name, edit := range map[string]func(*store.Replay){"once": func(*store.Replay) {}, "again": again} {
		_, id := b.letter()
		plan := b.plan(id, "")
		if name == "again" {
			b.replay(replaying(id, plan))
			plan = b.plan(id, "")
		}
		var done, refused atomic.Int64
		together(people, func() {
			switch _, err := b.Replay(b.ctx(), replaying(id, plan, edit)); {
			case err == nil:
				done.Add(1)
			case errors.Is(err, store.ErrReplayed):
				refused.Add(1)
			default:
				t.Errorf("%s: %v", name, err)
			}
		})
		if done.Load() != 1 || refused.Load() != people-1 {
			t.Errorf("I2: %s: %d replays, %d refusals", name, done.Load(), refused.Load())
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
