package storetest

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// dueIn is when the next recorded message is to be sent; zero: none waits.
func (b *bench) dueIn() time.Duration {
	b.t.Helper()
	found, err := b.Sweep(b.ctx(), store.SweepAges{UnsentFor: hour, StalledFor: hour, UnstartedFor: hour, AgainAfter: hour}, 10)
	if err != nil || len(found.Unsent) > 0 {
		b.t.Fatalf("sweep: %+v, %v", found.Unsent, err)
	}
	return found.DueIn
}

// later asks for another run of a job in an hour, as a message with run_at does.
func (b *bench) later(m store.Begin, hints string) store.SubmitAnswer {
	b.t.Helper()
	at := time.Now().Add(hour)
	s := store.Submission{Task: m.Task, Queue: "q", Message: "m", SendAt: &at}
	s.Hints = json.RawMessage(hints)
	answer, err := b.Submit(b.ctx(), s)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer
}

// testForceLater: a forced run that starts later waits for its time, whatever becomes of the job meanwhile.
func testForceLater(t *testing.T, b *bench) {
	m, h := b.run()
	if answer := b.later(m, `{"force":true}`); answer.Created || answer.Sent || b.dueIn() == 0 {
		t.Errorf("while it runs: %+v, due in %v", answer, b.dueIn())
	}
	if _, err := b.Retry(b.ctx(), store.Retry{Holder: h, Error: badInput}); err != nil {
		t.Fatal(err)
	}
	h = holder(m, b.begin(m, store.Run))
	if b.dueIn() == 0 {
		t.Error("another attempt has lost the later run")
	}
	b.complete(h)
	if b.dueIn() == 0 {
		t.Error("the end of the job has lost the later run")
	}
	if got := b.later(m, `{}`); !got.Sent { // a duplicate changes nothing
		t.Errorf("without force: %+v", got)
	}
	if j, err := b.RequestCancel(b.ctx(), m.JobID, "me"); err != nil || j.Status != "succeeded" || b.dueIn() != 0 {
		t.Errorf("a cancel of the later run: %+v, %v, due in %v", j, err, b.dueIn())
	}
	if _, err := b.RequestCancel(b.ctx(), m.JobID, "me"); !errors.Is(err, store.ErrTerminal) {
		t.Errorf("nothing to cancel: %v", err)
	}
	if got := b.later(m, `{"force":" TRUE "}`); got.Created || got.Sent || b.dueIn() == 0 {
		t.Errorf("after its end: %+v", got)
	}
}

// testForceLaterReleased: a job that was given back goes on, whether the later run is recorded before or after that.
func testForceLaterReleased(t *testing.T, b *bench) {
	for _, before := range []bool{true, false} {
		m, h := b.run()
		if before {
			b.later(m, `{"force":true}`)
		}
		if _, err := b.Release(b.ctx(), store.Release{Holder: h}); err != nil {
			t.Fatal(err)
		}
		if !before {
			if answer := b.later(m, `{"force":true}`); answer.Created || answer.Sent {
				t.Errorf("after the release: %+v", answer)
			}
		}
		h = holder(m, b.begin(m, store.Run))
		b.complete(h)
		if b.dueIn() == 0 {
			t.Errorf("recorded before the release %v: the later run is lost", before)
		}
		if _, err := b.RequestCancel(b.ctx(), m.JobID, "me"); err != nil {
			t.Error(err)
		}
	}
}

// testLaterSince: all sweeps find a message under the time at which it was to start, however late they are.
func testLaterSince(t *testing.T, b *bench) {
	m, h := b.run()
	b.complete(h)
	at := time.Now().Add(-time.Minute).Truncate(time.Millisecond)
	m.Hints = json.RawMessage(`{"force":true}`)
	if _, err := b.Submit(b.ctx(), store.Submission{Task: m.Task, Queue: "q", Message: "m", SendAt: &at}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := b.unsent(hour); len(got) != 1 || !got[0].Since.Equal(at) {
			t.Errorf("found %+v, want one since %v", got, at)
		}
	}
}

// testRetryBesideLater: a retry by hand takes the place of a later run, and starts now.
func testRetryBesideLater(t *testing.T, b *bench) {
	m, h := b.run()
	b.later(m, `{"force":true}`)
	b.fail(h, m)
	retry := store.Requeue{Submission: store.Submission{Task: m.Task, Queue: "q", Message: "retry"}, Force: true, By: "me"}
	if _, err := b.Requeue(b.ctx(), retry); err != nil {
		t.Fatal(err)
	}
	found, err := b.Sweep(b.ctx(), store.SweepAges{}, 10)
	if err != nil || len(found.Unsent) != 1 || found.DueIn != 0 {
		t.Errorf("its message waits: %+v, %v", found, err)
	}
	b.begin(anotherMessage(m), store.Run)
}

// testForceLaterFailed: nor does the run get lost if the one before it fails. A cancel of that one cancels both.
func testForceLaterFailed(t *testing.T, b *bench) {
	for _, cancel := range []bool{false, true} {
		m, h := b.run()
		b.later(m, `{"force":true}`)
		var err error
		if cancel {
			_, err = b.Canceled(b.ctx(), h, nil)
		} else {
			_, err = b.Fail(b.ctx(), store.Failure{Holder: h, Error: badInput, Reason: "permanent"})
		}
		if err != nil {
			t.Fatal(err)
		}
		if (b.dueIn() > 0) == cancel {
			t.Errorf("canceled %v: due in %v", cancel, b.dueIn())
		}
		if !cancel {
			if _, err := b.RequestCancel(b.ctx(), m.JobID, "me"); err != nil {
				t.Error(err)
			}
		}
	}
}

// testForceLaterIsKept: retention does not remove a job that starts again later.
func testForceLaterIsKept(t *testing.T, b *bench) {
	for _, again := range []bool{true, false} {
		m, h := b.run(func(m *store.Begin) { m.WebhookURL = "" })
		b.complete(h)
		if again {
			b.later(m, `{"force":1}`)
		}
		if _, err := b.ExpireEvents(b.ctx(), store.EventExpiry{Jobs: 100, Events: 100}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.ExpireJobs(b.ctx(), store.JobExpiry{Limit: 100}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Job(b.ctx(), m.JobID); (err == nil) != again {
			t.Errorf("a later run %v: %v", again, err)
		}
	}
}

// testDuplicateOfLater: a job that starts later is not started by a duplicate of its message, unless that forces it.
func testDuplicateOfLater(t *testing.T, b *bench) {
	m := message()
	if answer := b.later(m, `{}`); !answer.Created {
		t.Fatalf("%+v", answer)
	}
	if begun := b.begin(m, store.Done); begun.State != "pending" || b.dueIn() == 0 {
		t.Errorf("a duplicate: %+v, due in %v", begun, b.dueIn())
	}
	m.Force = true
	b.begin(m, store.Run)
	if b.dueIn() == 0 {
		t.Error("its own message is lost")
	}
}

// testRunWaits: a job has room for one message that was not sent. A submission, or the note that another message was sent,
// does not displace it.
func testRunWaits(t *testing.T, b *bench) {
	m, h := b.run()
	b.complete(h)
	at := time.Now().Add(hour).Truncate(time.Millisecond)
	s := store.Submission{Task: m.Task, Queue: "q", Message: "m", SendAt: &at}
	s.Hints = json.RawMessage(`{"force":true}`)
	for range 2 { // the second one is the same request
		if _, err := b.Submit(b.ctx(), s); err != nil {
			t.Fatal(err)
		}
	}
	other := s
	other.SendAt = new(at.Add(hour))
	if _, err := b.Submit(b.ctx(), other); !errors.Is(err, store.ErrRunWaits) {
		t.Errorf("at another time: %v", err)
	}
	for _, text := range []string{"m", "another"} {
		if err := b.MarkSent(b.ctx(), m.JobID, text); err != nil {
			t.Fatal(err)
		}
	}
	if due := b.dueIn(); due == 0 || due > hour {
		t.Errorf("the run is due in %v", due)
	}

	first := message()
	b.later(first, `{}`)
	again := store.Submission{Task: first.Task, Queue: "q", Message: "m"}
	if answer, err := b.Submit(b.ctx(), again); err != nil || answer.Created || !answer.Sent {
		t.Errorf("a job that starts later is submitted again: %+v, %v; want nothing to send", answer, err)
	}
}

// testForcedForLater: a message that was sent before the last series started asks for a run of its own if that was to start
// at least a minute after; else it is a duplicate.
func testForcedForLater(t *testing.T, b *bench) {
	for after, want := range map[time.Duration]store.Decision{
		30 * time.Second: store.Done, 5 * time.Minute: store.Run, -time.Minute: store.Done,
	} {
		m, h := b.run()
		b.complete(h)
		forced := anotherMessage(m)
		forced.Force, forced.Source.InsertedAt, forced.RunAt = true, time.Now().Add(-hour), time.Now().Add(after)
		b.begin(forced, want)
	}
	canceled := message()
	if _, err := b.RequestCancel(b.ctx(), canceled.JobID, "me"); err != nil {
		t.Fatal(err)
	}
	canceled.Force, canceled.Source.InsertedAt, canceled.RunAt = true, time.Now().Add(-hour), time.Now().Add(hour)
	b.begin(canceled, store.Dropped)
}

// testRunRecordedMeanwhile: what is recorded for another run while a job runs is sent, also if an attempt begins before.
func testRunRecordedMeanwhile(t *testing.T, b *bench) {
	m, h := b.run(func(m *store.Begin) { m.Original = "the first" })
	s := store.Submission{Task: m.Task, Queue: "q", Message: "the other", SendAt: new(time.Now())}
	s.Hints = json.RawMessage(`{"force":true}`)
	if _, err := b.Submit(b.ctx(), s); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Release(b.ctx(), store.Release{Holder: h}); err != nil {
		t.Fatal(err)
	}
	b.begin(m, store.Run)
	of := func() (texts []string) {
		for _, u := range b.unsent(0) {
			texts = append(texts, u.Message)
		}
		return texts
	}
	if got := of(); !slices.Equal(got, []string{"the other"}) {
		t.Errorf("unsent: %v", got)
	}
	if err := b.MarkSent(b.ctx(), m.JobID, "the first"); err != nil {
		t.Fatal(err)
	}
	if got := of(); len(got) != 1 {
		t.Errorf("unsent after another message was sent: %v", got)
	}
	if err := b.MarkSent(b.ctx(), m.JobID, "the other"); err != nil {
		t.Fatal(err)
	}
	if got := of(); len(got) != 0 {
		t.Errorf("unsent after it was sent: %v", got)
	}
}

// testLaterIsBounded: only so many jobs wait for their time. That refuses neither one that starts now, nor a
// repeated request.
func testLaterIsBounded(t *testing.T, b *bench) {
	later := func(s *store.OnceSubmission) {
		s.RunAt, s.MostLater = time.Now().Add(hour).Truncate(time.Millisecond), 2
	}
	first, second := once(later), once(later)
	b.submitOnce(first)
	b.submitOnce(second)
	if _, err := b.SubmitOnce(b.ctx(), once(later)); !errors.Is(err, store.ErrManyLater) {
		t.Errorf("a third one: %v", err)
	}
	if answer := b.submitOnce(once(func(s *store.OnceSubmission) { s.MostLater = 2 })); !answer.Created {
		t.Errorf("now: %+v", answer)
	}
	due := once(later)
	due.RunAt = time.Now().Add(-hour)
	if answer := b.submitOnce(due); !answer.Created {
		t.Errorf("whose time has come: %+v", answer)
	}
	if answer := b.submitOnce(first); answer.Created {
		t.Errorf("again: %+v", answer)
	}
	ended := once(func(s *store.OnceSubmission) { s.Key = "" })
	b.submitOnce(ended)
	_, h := b.run(func(m *store.Begin) { m.Task = ended.Task })
	b.complete(h)
	ended.RunAt, ended.MostLater = first.RunAt, 2
	if _, err := b.SubmitOnce(b.ctx(), ended); !errors.Is(err, store.ErrManyLater) {
		t.Errorf("another run of one that ended: %v", err)
	}
	ended.MostLater = 3
	for _, which := range []string{"the first", "a second"} {
		if answer := b.submitOnce(ended); !answer.Forced {
			t.Errorf("another run of one that ended, asked for %s time: %+v", which, answer)
		}
	}
	moved := ended
	moved.RunAt = ended.RunAt.Add(hour)
	if _, err := b.SubmitOnce(b.ctx(), moved); !errors.Is(err, store.ErrManyLater) {
		t.Errorf("that run at another time: %v", err)
	}
	if _, err := b.RequestCancel(b.ctx(), first.JobID, "me"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.RequestCancel(b.ctx(), second.JobID, "me"); err != nil {
		t.Fatal(err)
	}
	if answer := b.submitOnce(once(later)); !answer.Created {
		t.Errorf("after one was canceled: %+v", answer)
	}
}

// testLaterIsNotActive: a job that starts later does not keep its document from others.
func testLaterIsNotActive(t *testing.T, b *bench) {
	document := json.RawMessage(`{"filename":"` + uuid.NewString() + `","document_set":"s"}`)
	of := func(s *store.OnceSubmission) { s.Payload, s.MostActive = document, 1 }
	inAYear := func(s *store.OnceSubmission) { s.RunAt = time.Now().Add(300 * 24 * hour) }
	for range 2 {
		if answer := b.submitOnce(once(of, inAYear)); !answer.Created {
			t.Errorf("later: %+v", answer)
		}
	}
	if answer := b.submitOnce(once(of)); !answer.Created {
		t.Errorf("now: %+v", answer)
	}
	if _, busy := errors.AsType[*store.BusyError](ignore(b.SubmitOnce(b.ctx(), once(of)))); !busy {
		t.Error("a second one now is accepted")
	}
	if answer := b.submitOnce(once(of, inAYear)); !answer.Created {
		t.Errorf("later, beside one that is active: %+v", answer)
	}
}
