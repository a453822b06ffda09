package storetest

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func rejection(edit ...func(*store.Rejection)) store.Rejection {
	r := store.Rejection{
		JobID: "job-" + uuid.NewString(), Type: "ingest", Payload: json.RawMessage(`{"filename":""}`),
		WebhookURL: "https://example.com/hook",
		Record:     true, Reason: "invalid_payload", Original: `{"task_id":…`,
		Source: store.Source{Queue: "q", MessageID: uuid.NewString()},
		Error: store.ErrorInfo{
			Type: "ValidationError", Class: "validation_error", Code: "INGEST_VALIDATION_ERROR",
			Message: "payload.filename is empty", Coarse: "validation",
		},
	}
	for _, e := range edit {
		e(&r)
	}
	return r
}

func (b *bench) reject(r store.Rejection) store.Settlement {
	b.t.Helper()
	s, err := b.Reject(b.ctx(), r)
	if err != nil {
		b.t.Fatalf("reject: %v", err)
	}
	if s.State != "failed" || s.DeadLetter == nil {
		b.t.Fatalf("rejected: %+v", s)
	}
	return s
}

func testReject(t *testing.T, b *bench) {
	r := rejection()
	first := b.reject(r)
	if first.Deliveries != 1 || first.DeadLetter.Reason != "invalid_payload" || first.DeadLetter.Sent {
		t.Errorf("settled: %+v", first)
	}
	if err := b.DeadLetterSent(b.ctx(), first.DeadLetter.ID); err != nil {
		t.Fatal(err)
	}
	if again := b.reject(r); again.DeadLetter.ID != first.DeadLetter.ID || again.Deliveries != 0 ||
		!again.DeadLetter.Sent {
		t.Errorf("I6: the same message again: %+v", again)
	}
	b.wantLetters(r.JobID, 1)
	b.wantDeliveries(r.JobID, "task.failed")
	if j := b.job(r.JobID); j.Status != "failed" || j.ErrorMessage != r.Error.Message || j.Attempts != 0 {
		t.Errorf("row: %+v", j)
	}
	b.history(r.JobID)

	// An id that is taken: the job does not change.
	m, h := b.run()
	b.rejectAs(rejection(func(r *store.Rejection) { r.JobID = m.JobID }), store.Rejected)
	if j := b.job(m.JobID); j.Status != "running" {
		t.Errorf("row of another message: %+v", j)
	}
	b.complete(h)
	b.wantLetters(m.JobID, 1)

	// Without Record, or without an id.
	r = rejection(func(r *store.Rejection) { r.Record = false })
	b.reject(r)
	if _, err := b.Job(b.ctx(), r.JobID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a job without Record: %v", err)
	}
	nameless := store.Rejection{
		Reason: "malformed", Original: "no JSON", Error: r.Error,
		Source: store.Source{Queue: "q", MessageID: uuid.NewString()},
	}
	s := b.reject(nameless)
	if d, err := b.DeadLetter(b.ctx(), s.DeadLetter.ID); err != nil || d.JobID != "" || d.Original != "no JSON" {
		t.Errorf("nameless: %+v, %v", d, err)
	}
	if s.Deliveries != 0 {
		t.Error("a webhook without a URL")
	}

	// A queue that is made again counts from 1: this is another message.
	other := rejection(func(o *store.Rejection) { o.Source, o.Source.InsertedAt = nameless.Source, time.Now().Add(hour) })
	recycled := b.reject(other)
	if recycled.DeadLetter.ID == s.DeadLetter.ID || b.job(other.JobID).Status != "failed" {
		t.Errorf("I1: another message of the same number: %+v", recycled)
	}
	if again := b.reject(other); again.DeadLetter.ID != recycled.DeadLetter.ID {
		t.Errorf("I6: and that again: %+v", again)
	}
	if again := b.reject(nameless); again.DeadLetter.ID != s.DeadLetter.ID {
		t.Errorf("I6: the first one: %+v", again)
	}
}

// testRejectSubmitted: a job recorded before its message was sent fails when that message is refused, and does not
// change when another message of its id is refused, even one that says the same but for what is wrong with it.
func testRejectSubmitted(t *testing.T, b *bench) {
	for _, sent := range []bool{false, true} {
		r := rejection(func(r *store.Rejection) { r.RequestedBy = "anna" })
		s := submission(func(s *store.Submission) {
			s.JobID, s.Payload, s.WebhookURL, s.RequestedBy, s.Message = r.JobID, r.Payload, r.WebhookURL, r.RequestedBy, r.Original
		})
		if _, err := b.Submit(b.ctx(), s); err != nil {
			t.Fatal(err)
		}
		if sent {
			if err := b.MarkSent(b.ctx(), s.JobID, s.Message); err != nil {
				t.Fatal(err)
			}
		}
		for what, edit := range map[string]func(*store.Rejection){
			"payload":      func(o *store.Rejection) { o.Payload = json.RawMessage(`{"other":1}`) },
			"webhook":      func(o *store.Rejection) { o.WebhookURL = "" },
			"requested_by": func(o *store.Rejection) { o.RequestedBy = "mallory" },
		} {
			b.rejectAs(rejection(func(o *store.Rejection) { o.JobID, o.RequestedBy = r.JobID, r.RequestedBy }, edit), store.Rejected)
			if j := b.job(r.JobID); j.Status != "pending" {
				t.Errorf("sent %t: after a message with another %s was refused: %+v", sent, what, j)
			}
		}
		b.reject(r)
		if j := b.job(r.JobID); j.Status != "failed" {
			t.Errorf("sent %t: after its message was refused: %+v", sent, j)
		}
		b.history(r.JobID)
	}
}

// testRejectBeforeItsTime: the message of a job that is to run later can't have come yet: one of its id is another's.
func testRejectBeforeItsTime(t *testing.T, b *bench) {
	r, at := rejection(), time.Now().Add(hour)
	s := submission(func(s *store.Submission) {
		s.JobID, s.Payload, s.WebhookURL, s.Message, s.SendAt = r.JobID, r.Payload, r.WebhookURL, r.Original, &at
	})
	if _, err := b.Submit(b.ctx(), s); err != nil {
		t.Fatal(err)
	}
	b.rejectAs(r, store.Rejected)
	if j := b.job(r.JobID); j.Status != "pending" {
		t.Errorf("after a message was refused before its time: %+v", j)
	}
}
