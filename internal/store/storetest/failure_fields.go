package storetest

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

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
