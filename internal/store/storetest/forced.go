package storetest

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// testSubmitForced: a request with hints.force for a job that was begun records its message for another run, once for
// each key. Before the begin there is nothing to repeat.
func testSubmitForced(t *testing.T, b *bench) {
	s := once()
	s.Key = ""
	b.submitOnce(s)
	if answer := b.submitOnce(s); answer.Forced {
		t.Errorf("while it is pending: %+v", answer)
	}
	_, h := b.run(func(m *store.Begin) { m.Task = s.Task })
	b.complete(h)

	mild := s
	mild.Hints = json.RawMessage(`{}`)
	if answer := b.submitOnce(mild); answer.Created || answer.Forced {
		t.Errorf("without force: %+v", answer)
	}
	full := s
	full.Repeated = true
	if _, err := b.SubmitOnce(b.ctx(), full); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("only to be recognized: %v", err)
	}
	s.Key, s.Message = strings.ReplaceAll(uuid.NewString(), "-", ""), "forced"
	if answer := b.submitOnce(s); answer.Created || !answer.Forced || answer.Sent || answer.Job.Status != "succeeded" {
		t.Errorf("forced: %+v", answer)
	}
	found, err := b.Sweep(b.ctx(), store.SweepAges{}, 10)
	if err != nil || len(found.Unsent) != 1 || found.Unsent[0].Message != "forced" {
		t.Errorf("a sweep sends %+v, %v", found.Unsent, err)
	}
	if err := b.MarkSent(b.ctx(), s.JobID, s.Message); err != nil {
		t.Fatal(err)
	}
	if answer := b.submitOnce(s); answer.Forced || !answer.Sent {
		t.Errorf("the key again: %+v", answer)
	}
	if found, err := b.Sweep(b.ctx(), store.SweepAges{}, 10); err != nil || len(found.Unsent) > 0 {
		t.Errorf("it was sent, and a sweep sends %+v, %v", found.Unsent, err)
	}
	_, h = b.run(func(m *store.Begin) { m.Task, m.Force = s.Task, true })
	b.complete(h)
}

// testForcedWhileRunWaits: a request with hints.force never displaces a run that starts later, nor the other way round.
func testForcedWhileRunWaits(t *testing.T, b *bench) {
	m, h := b.run()
	b.complete(h)
	forced := func(at time.Time) error {
		s := once(func(s *store.OnceSubmission) { s.Task, s.RunAt = m.Task, at })
		s.Hints = json.RawMessage(`{"force":true}`)
		return ignore(b.SubmitOnce(b.ctx(), s))
	}
	soon, later := time.Now().Add(hour), time.Now().Add(2*hour)
	if err := forced(later); err != nil {
		t.Fatal(err)
	}
	for _, at := range []time.Time{{}, soon} {
		if err := forced(at); !errors.Is(err, store.ErrRunWaits) {
			t.Errorf("at %v: %v", at, err)
		}
	}
	if due := b.dueIn(); due <= hour {
		t.Errorf("the later run is due in %v", due)
	}
	if _, err := b.RequestCancel(b.ctx(), m.JobID, "me"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // two that start at once are one run
		if err := forced(time.Time{}); err != nil {
			t.Error(err)
		}
	}
	if err := forced(soon); !errors.Is(err, store.ErrRunWaits) {
		t.Errorf("later, while one waits for its queue: %v", err)
	}
}

// testForceLaterUnbegun: a forced run that starts later is not lost beside a job that was not begun yet, and does not take
// its place: it is recorded once that has begun.
func testForceLaterUnbegun(t *testing.T, b *bench) {
	at := time.Now().Add(hour).Truncate(time.Millisecond)
	for name, first := range map[string]store.Submission{
		"not sent": {Message: "now"}, "sent": {Message: "now"}, "to start later": {Message: "later", SendAt: new(at.Add(-hour / 2))},
		"forced to start later": {Message: "later", SendAt: new(at.Add(-hour / 2)), Task: store.Task{Hints: json.RawMessage(`{"force":true}`)}},
	} {
		m := message()
		again := store.Submission{Task: m.Task, Queue: "q", Message: "forced", SendAt: &at}
		again.Hints = json.RawMessage(`{"force":true}`)
		hints := first.Hints
		first.Task, first.Queue = m.Task, "q"
		if hints != nil {
			first.Hints = hints
		}
		if answer, err := b.Submit(b.ctx(), first); err != nil || !answer.Created {
			t.Fatalf("%s: %+v, %v", name, answer, err)
		}
		if hints != nil {
			if answer, err := b.Submit(b.ctx(), first); err != nil || answer.Created || answer.Sent {
				t.Errorf("%s: the same again: %+v, %v", name, answer, err)
			}
		}
		if name == "sent" {
			if err := b.MarkSent(b.ctx(), m.JobID, "now"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.Submit(b.ctx(), again); !errors.Is(err, store.ErrRunWaits) {
			t.Errorf("%s: %v", name, err)
		}
		if due := b.sweep(soon).DueIn; due > hour/2 {
			t.Errorf("%s: the first run is due in %v", name, due)
		}
		m.Force = first.SendAt != nil
		h := holder(m, b.begin(m, store.Run))
		if first.SendAt != nil { // it was begun before its time, and still has its run
			b.complete(h)
			if _, err := b.RequestCancel(b.ctx(), m.JobID, "me"); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if answer, err := b.Submit(b.ctx(), again); err != nil || answer.Created || answer.Sent {
			t.Errorf("%s: once it has begun: %+v, %v", name, answer, err)
		}
		if first.SendAt == nil {
			b.complete(h)
		}
		if due := b.dueIn(); due <= hour/2 {
			t.Errorf("%s: the later run is due in %v", name, due)
		}
		if _, err := b.RequestCancel(b.ctx(), m.JobID, "me"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// testForceLaterSent: the request of a run whose message was sent, and has not begun yet, is known by its time.
func testForceLaterSent(t *testing.T, b *bench) {
	at := time.Now().Add(-time.Second).Truncate(time.Millisecond) // by the database's clock
	m := message()
	s := store.Submission{Task: m.Task, Queue: "q", Message: "m", SendAt: &at}
	s.Hints = json.RawMessage(`{"force":true}`)
	if answer, err := b.Submit(b.ctx(), s); err != nil || !answer.Created {
		t.Fatalf("%+v, %v", answer, err)
	}
	if err := b.MarkSent(b.ctx(), m.JobID, "m"); err != nil {
		t.Fatal(err)
	}
	if answer, err := b.Submit(b.ctx(), s); err != nil || answer.Created || answer.State != "pending" {
		t.Errorf("the same again: %+v, %v", answer, err)
	}
	if got := b.unsent(0); len(got) != 0 {
		t.Errorf("it is sent again: %+v", got)
	}
	s.SendAt = new(at.Add(hour))
	if _, err := b.Submit(b.ctx(), s); !errors.Is(err, store.ErrRunWaits) {
		t.Errorf("at another time: %v", err)
	}
}

// testNowBesideLater: a message that starts now is not taken for a duplicate of the forced one that was recorded before it.
func testNowBesideLater(t *testing.T, b *bench) {
	m := message()
	if answer := b.later(m, `{"force":true}`); !answer.Created {
		t.Fatalf("%+v", answer)
	}
	same := m
	same.RunAt = time.Now().Add(hour)
	b.begin(same, store.Done)
	b.complete(holder(m, b.begin(m, store.Run)))
	if b.dueIn() == 0 {
		t.Error("the later run is lost")
	}
}

// testForcedRepeated: a request that is only to be recognized records nothing, also if its job waits for another attempt.
func testForcedRepeated(t *testing.T, b *bench) {
	for name, leave := range ways {
		m, h := b.run()
		if err := leave(b, h); err != nil {
			t.Fatal(err)
		}
		s := once(func(s *store.OnceSubmission) { s.Task, s.Message, s.Repeated = m.Task, "", true })
		s.Hints = json.RawMessage(`{"force":true}`)
		for _, s.Key = range []string{"", s.Key} {
			if _, err := b.SubmitOnce(b.ctx(), s); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got := b.unsent(0); len(got) != 0 {
			t.Errorf("%s: it recorded %+v", name, got)
		}
	}
	first := once(func(s *store.OnceSubmission) { s.Key, s.RunAt = "", time.Now().Add(hour).Truncate(time.Millisecond) })
	b.submitOnce(first)
	again := first
	again.Message, again.Repeated = "", true
	if answer := b.submitOnce(again); answer.Created || answer.Forced {
		t.Errorf("the request of a job that starts later: %+v", answer)
	}
	again.RunAt = first.RunAt.Add(hour)
	if _, err := b.SubmitOnce(b.ctx(), again); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("at another time: %v", err)
	}
	again.Repeated, again.Message = false, "another"
	if _, err := b.SubmitOnce(b.ctx(), again); !errors.Is(err, store.ErrRunWaits) {
		t.Errorf("a forced run at another time, before the first has begun: %v", err)
	}
}

// testStalledBesideLater: the lost message of a job's present run is replaced, though the row has that of a later run, which
// stays (I1).
func testStalledBesideLater(t *testing.T, b *bench) {
	for name, leave := range ways {
		m, h := b.run()
		b.later(m, `{"force":true}`)
		if got := b.stalled(store.SweepAges{}); got != nil {
			t.Errorf("%s: a held job is stalled: %v", name, got)
		}
		if err := leave(b, h); err != nil {
			t.Fatal(err)
		}
		now := store.SweepAges{UnsentFor: hour, UnstartedFor: hour}
		if got := b.stalled(now); !slices.Equal(got, []string{m.JobID}) {
			t.Errorf("%s: stalled: %v", name, got)
		}
		for _, text := range []string{"", "again"} {
			if !b.resend(h, now, text) || b.resend(h, soon, text) || b.stalled(soon) != nil {
				t.Errorf("%s: %q is not sent again, or twice", name, text)
			}
		}
		if err := b.MarkSent(b.ctx(), m.JobID, "again"); err != nil {
			t.Fatal(err)
		}
		if due := b.dueIn(); due == 0 {
			t.Errorf("%s: the later run is lost", name)
		}
		b.complete(holder(m, b.begin(m, store.Run)))
		if got := b.stalled(store.SweepAges{}); got != nil || b.dueIn() == 0 {
			t.Errorf("%s: after its end: stalled %v, the later run due in %v", name, got, b.dueIn())
		}
		if _, err := b.RequestCancel(b.ctx(), m.JobID, "me"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// testNoTimeIsLeft: the time of a later run that was given up is not that of another message of the job.
func testNoTimeIsLeft(t *testing.T, b *bench) {
	m := message()
	b.later(m, `{}`)
	if _, err := b.RequestCancel(b.ctx(), m.JobID, "me"); err != nil {
		t.Fatal(err)
	}
	if j := b.job(m.JobID); j.RunAt != nil {
		t.Errorf("the canceled job starts at %v", j.RunAt)
	}
	m = anotherMessage(m)
	m.Force, m.Source.InsertedAt = true, time.Now().Add(time.Minute)
	h := holder(m, b.begin(m, store.Run))
	b.loseWorker(h)
	if !b.resend(h, soon, "again") || len(b.unsent(0)) != 1 {
		t.Error("its message waits for the time of the former run")
	}
	if err := b.MarkSent(b.ctx(), m.JobID, "again"); err != nil {
		t.Fatal(err)
	}
	if found := b.sweep(soon); found.DueIn != 0 || len(found.Unsent) > 0 {
		t.Errorf("after it was sent: due in %v, unsent %+v", found.DueIn, found.Unsent)
	}
}
