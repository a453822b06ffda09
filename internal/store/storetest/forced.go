package storetest

import (
	"encoding/json"
	"errors"
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
