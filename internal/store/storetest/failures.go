package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// ended has the fields of webhooks that tests of ends read.
type ended struct {
	Type   string
	Status string
	TaskID string `json:"task_id"`
	Error  *struct {
		Type, Message, Class, Code string

		ErrorType    string `json:"error_type"`
		RetryCount   *int   `json:"retry_count"`
		ProcessingMS *int64 `json:"processing_time_ms"`
		WorkerID     string `json:"worker_id"`
	}
}

// webhook returns the body of the one webhook of a job that is due.
func (b *bench) webhook(jobID string) ended {
	b.t.Helper()
	var all []ended
	for _, d := range b.claimAll(hour) {
		if d.JobID != jobID {
			continue
		}
		var got ended
		if err := json.Unmarshal([]byte(d.Body), &got); err != nil {
			b.t.Fatalf("%s: %v", d.Body, err)
		}
		all = append(all, got)
	}
	if len(all) != 1 {
		b.t.Fatalf("%d webhooks of %s: %+v", len(all), jobID, all)
	}
	return all[0]
}

// testRejectTaken: a message whose id belongs to another task is rejected, once, and the job does not change.
func testRejectTaken(t *testing.T, b *bench) {
	for name, prepare := range map[string]func() (id string, status string){
		"succeeded": func() (string, string) { m, h := b.run(noWebhook); b.complete(h); return m.JobID, "succeeded" },
		"failed":    func() (string, string) { m, h := b.run(noWebhook); b.fail(h, m); return m.JobID, "failed" },
		"running":   func() (string, string) { m, _ := b.run(noWebhook); return m.JobID, "running" },
	} {
		for _, reason := range []string{"conflict", "invalid_payload", "wrong_client"} {
			id, status := prepare()
			before := b.job(id)
			r := rejection(func(r *store.Rejection) {
				r.JobID, r.Reason, r.WebhookURL, r.Record = id, reason, "https://example.com/"+id,
					reason == "invalid_payload"
			})
			if s := b.rejectAs(r, store.Rejected); s.Deliveries != 1 || s.DeadLetter.Reason != reason {
				t.Errorf("%s, %s: %+v", name, reason, s)
			}
			if s, err := b.Reject(b.ctx(), r); err != nil || s.Deliveries != 0 {
				t.Errorf("%s, %s: the same message again: %+v, %v", name, reason, s, err)
			}
			b.wantDeliveries(id, "task.rejected")
			if after := b.job(id); after.Status != status || !after.UpdatedAt.Equal(before.UpdatedAt) ||
				after.ErrorMessage != before.ErrorMessage {
				t.Errorf("%s, %s: the row was %+v and is %+v", name, reason, before, after)
			}
		}
	}
}

func noWebhook(m *store.Begin) { m.WebhookURL = "" }

// rejectAs is reject with another State of the answer.
func (b *bench) rejectAs(r store.Rejection, state string) store.Settlement {
	b.t.Helper()
	s, err := b.Reject(b.ctx(), r)
	if err != nil || s.State != state || s.DeadLetter == nil {
		b.t.Fatalf("rejected: %+v, %v; want %s", s, err, state)
	}
	return s
}

// testTellCanceled: a job that was canceled before its message came sends one webhook, to that message's URL.
func testTellCanceled(t *testing.T, b *bench) {
	cancel := func() string {
		t.Helper()
		id := "job-" + uuid.NewString()
		if _, err := b.RequestCancel(b.ctx(), id, "anna"); err != nil {
			t.Fatal(err)
		}
		return id
	}
	m := message()
	m.JobID = cancel()
	silent := m
	silent.WebhookURL, silent.Source.MessageID = "", uuid.NewString()
	b.begin(silent, store.Dropped)
	b.wantDeliveries(m.JobID)
	for range 2 { // delivered twice
		b.begin(m, store.Dropped)
	}
	other := m
	other.WebhookURL, other.Source.MessageID = "https://example.com/other", uuid.NewString()
	b.begin(other, store.Dropped)
	b.wantDeliveries(m.JobID, "task.canceled")
	if j := b.job(m.JobID); j.Status != "canceled" || j.Type != m.Type {
		t.Errorf("row: %+v", j)
	}
	b.history(m.JobID)

	s := submission(func(s *store.Submission) { s.JobID, s.WebhookURL = cancel(), m.WebhookURL })
	for range 2 {
		if got, err := b.Submit(b.ctx(), s); err != nil || got.Created || got.State != "canceled" {
			t.Errorf("submitted: %+v, %v", got, err)
		}
	}
	b.wantDeliveries(s.JobID, "task.canceled")

	r := rejection(func(r *store.Rejection) { r.JobID = cancel() })
	b.rejectAs(r, "canceled")
	b.wantDeliveries(r.JobID, "task.canceled")
}

// testFailureFields: however a job fails, its row and dead letter have the class of the error, the number of retries,
// the duration of the last attempt, and the worker.
func testFailureFields(t *testing.T, b *bench) {
	check := func(name, id string, letter *store.DeadLetterRef, coarse string, retries int, atLeast int64,
		worker string,
	) {
		t.Helper()
		if letter == nil {
			t.Fatalf("I6: %s: there is no dead letter", name)
		}
		j := b.job(id)
		if j.ErrorType != coarse || j.RetryCount != retries || j.ProcessingMS == nil || *j.ProcessingMS < atLeast ||
			j.WorkerID != worker {
			t.Errorf("%s: row %+v (%v ms)", name, j, j.ProcessingMS)
		}
		d, err := b.DeadLetter(b.ctx(), letter.ID)
		if err != nil || d.ErrorType != coarse || d.RetryCount != retries || d.ProcessingMS == nil ||
			*d.ProcessingMS != *j.ProcessingMS ||
			d.WorkerID != worker || d.ErrorCode == "" {
			t.Errorf("%s: dead letter %+v, %v", name, d, err)
		}
	}
	m, h := b.run()
	if _, err := b.Retry(b.ctx(), store.Retry{Holder: h, Error: overloaded}); err != nil {
		t.Fatal(err)
	}
	if j := b.job(m.JobID); j.ErrorType != "transient" {
		t.Errorf("while it waits: %+v", j)
	}
	m.Worker = "w2"
	h = holder(m, b.begin(m, store.Run))
	f := failure(h, m)
	f.Error.ProcessingMS = 1234
	s, err := b.Fail(b.ctx(), f)
	if err != nil {
		t.Fatal(err)
	}
	check("an attempt", m.JobID, s.DeadLetter, "validation", 1, 1234, "w2")

	m, h = b.run(func(m *store.Begin) { m.MaxAttempts = 1 })
	b.loseWorker(h)
	m.Worker = "w2"
	check("a lost worker", m.JobID, b.begin(m, store.Spent).DeadLetter, "transient", 0, 0, "w1")

	r := rejection(func(r *store.Rejection) { r.Worker = "w3" })
	check("a refused message", r.JobID, b.reject(r).DeadLetter, "validation", 0, 0, "w3")

	// The row has nothing of the series before.
	m.Force, m.Source = true, store.Source{Queue: "q", MessageID: uuid.NewString(), InsertedAt: time.Now().Add(hour)}
	b.begin(m, store.Run)
	if j := b.job(m.JobID); j.ErrorType != "" || j.ProcessingMS != nil || j.RetryCount != 0 || j.WorkerID != "w2" {
		t.Errorf("row of another series: %+v", j)
	}
}

var overloaded = store.ErrorInfo{
	Type: "ModelOverloaded", Class: "model_overloaded", Code: "INGEST_MODEL_OVERLOADED", Message: "busy",
	Retryable: true, Coarse: "transient",
}

// testFailureBodies: the webhook has the same fields. That of a taken id says so.
func testFailureBodies(t *testing.T, b *bench) {
	m, h := b.run()
	f := failure(h, m)
	f.Error.ProcessingMS = 1234
	if _, err := b.Fail(b.ctx(), f); err != nil {
		t.Fatal(err)
	}
	if got := b.webhook(m.JobID).Error; got.ErrorType != "validation" || *got.RetryCount != 0 ||
		*got.ProcessingMS != 1234 || got.WorkerID != "w1" || got.Type != badInput.Type {
		t.Errorf("an attempt: %+v", got)
	}
	m, h = b.run(func(m *store.Begin) { m.MaxAttempts = 1 })
	b.loseWorker(h)
	b.begin(m, store.Spent)
	if got := b.webhook(m.JobID).Error; got.ErrorType != "transient" || *got.RetryCount != 0 || *got.ProcessingMS < 0 ||
		got.WorkerID != "w1" || got.Type != "WorkerLost" {
		t.Errorf("a lost worker: %+v", got)
	}
	r := rejection(func(r *store.Rejection) { r.Worker = "w3" })
	b.reject(r)
	if got := b.webhook(r.JobID).Error; got.ErrorType != "validation" || *got.RetryCount != 0 ||
		*got.ProcessingMS != 0 || got.WorkerID != "w3" {
		t.Errorf("a refused message: %+v", got)
	}
	m, h = b.run(noWebhook)
	b.complete(h)
	b.rejectAs(rejection(func(r *store.Rejection) { r.JobID, r.Reason, r.Record = m.JobID, "conflict", false }),
		store.Rejected)
	if got := b.webhook(m.JobID); got.Type != "task.rejected" || got.Status != "rejected" || got.TaskID != m.JobID ||
		got.Error == nil ||
		got.Error.Code != "TASK_ID_CONFLICT" || got.Error.ErrorType != "validation" {
		t.Errorf("a taken id: %+v", got)
	}
}

// testClock: events have the store's time, whatever the worker's clock says, and it never goes back.
func testClock(t *testing.T, b *bench) {
	m, h := b.run()
	at := func(d time.Duration) store.Event {
		e := event("parsing", 10)
		e.At = time.Now().Add(d)
		return e
	}
	for _, events := range [][]store.Event{{at(hour), at(-hour)}, {at(0), at(24 * hour)}, {at(-24 * hour)}} {
		if _, err := b.Heartbeat(b.ctx(), store.Heartbeat{Holder: h, Lease: hour, Events: events}); err != nil {
			t.Fatal(err)
		}
	}
	b.complete(h)
	events, end := b.history(m.JobID), b.job(m.JobID)
	if len(events) != 7 {
		t.Fatalf("%d events", len(events))
	}
	for i, e := range events {
		if i > 0 && e.At.Before(events[i-1].At) {
			t.Errorf("event %d was at %v, before the previous one at %v", e.Seq, e.At, events[i-1].At)
		}
		if e.At.Before(end.CreatedAt) || e.At.After(*end.CompletedAt) {
			t.Errorf("event %d was at %v; the job was created at %v and ended at %v", e.Seq, e.At, end.CreatedAt,
				end.CompletedAt)
		}
	}
}

// testLife: begin returns whether it is the first of its series, and how long the last retry waited. The end returns
// the duration of the job.
func testLife(t *testing.T, b *bench) {
	m := message()
	begun := b.begin(m, store.Run)
	if !begun.First || begun.LastWait != 0 {
		t.Errorf("begun: %+v", begun)
	}
	if _, err := b.Retry(b.ctx(), store.Retry{
		Holder: holder(m, begun), Error: overloaded,
		After: 3 * time.Millisecond,
	}); err != nil {
		t.Fatal(err)
	}
	begun = b.awaitRun(m)
	if begun.First || begun.LastWait != 3*time.Millisecond {
		t.Errorf("after a retry: %+v", begun)
	}
	if _, err := b.Release(b.ctx(), store.Release{Holder: holder(m, begun)}); err != nil {
		t.Fatal(err)
	}
	begun = b.begin(m, store.Run)
	if begun.First || begun.LastWait != 3*time.Millisecond {
		t.Errorf("after a release: %+v", begun)
	}
	s := b.complete(holder(m, begun))
	if j := b.job(m.JobID); s.Duration < 2*time.Millisecond ||
		s.Duration > j.CompletedAt.Sub(*j.StartedAt)+time.Millisecond {
		t.Errorf("the job took %v, from %v to %v", s.Duration, j.StartedAt, j.CompletedAt)
	}
	m.Force, m.Source = true, store.Source{Queue: "q", MessageID: uuid.NewString(), InsertedAt: time.Now().Add(hour)}
	if begun = b.begin(m, store.Run); !begun.First || begun.LastWait != 0 {
		t.Errorf("forced: %+v", begun)
	}
	b.complete(holder(m, begun))
	if begun = b.begin(m, store.Done); begun.First {
		t.Errorf("redelivered: %+v", begun)
	}

	m = message() // its first begin is not answered
	b.begin(m, store.Run)
	m.Unanswered = []string{m.ID}
	m.ID = uuid.NewString()
	if begun = b.begin(m, store.Run); !begun.First {
		t.Errorf("after an unanswered begin: %+v", begun)
	}
}

// awaitRun begins a job again and again until its wait is over.
func (b *bench) awaitRun(m store.Begin) store.BeginAnswer {
	b.t.Helper()
	for {
		begun, err := b.Begin(b.ctx(), m)
		if err != nil {
			b.t.Fatal(err)
		}
		if begun.Decision != store.Waiting {
			return begun
		}
	}
}
