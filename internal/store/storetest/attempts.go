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

func testBegin(t *testing.T, b *bench) {
	m := message(func(m *store.Begin) { m.RequestedBy, m.Priority = "user-17", "high" })
	begun := b.begin(m, store.Run)
	if begun.Fence < 1 || begun.Attempt != 1 || begun.MaxAttempts != 3 || begun.State != "running" ||
		begun.Checkpoint != nil {
		t.Errorf("begun: %+v", begun)
	}
	j := b.job(m.JobID)
	if j.Status != "running" || j.Type != "ingest" || j.Attempts != 1 || j.Priority != "high" ||
		j.RequestedBy != "user-17" ||
		j.ClientID != b.client || j.StartedAt == nil || j.CompletedAt != nil {
		t.Errorf("row: %+v", j)
	}
	leased := b.begin(m, store.Leased)
	if leased.Wait <= hour/2 || leased.Wait > hour {
		t.Errorf("a live lease: wait %s", leased.Wait)
	}
	if leased.Worker != m.Worker || leased.Fence != begun.Fence {
		t.Errorf("a live lease: worker %q, fence %d; want %q, %d", leased.Worker, leased.Fence, m.Worker,
			begun.Fence)
	}
	duplicate := m
	duplicate.Source.MessageID = uuid.NewString()
	if !leased.Ran || b.begin(duplicate, store.Leased).Ran {
		t.Errorf("a live lease: ran %t by the message that began it; a duplicate did not", leased.Ran)
	}
	b.history(m.JobID)
}

func testDecisions(t *testing.T, b *bench) {
	m, h := b.run()
	b.complete(h)
	if begun := b.begin(m, store.Done); begun.State != "succeeded" || begun.DeadLetter != nil {
		t.Errorf("succeeded: %+v", begun)
	}

	m, h = b.run()
	settled := b.fail(h, m)
	begun := b.begin(m, store.Done)
	if begun.State != "failed" || begun.DeadLetter == nil || begun.DeadLetter.Sent ||
		*begun.DeadLetter != *settled.DeadLetter {
		t.Errorf("failed: %+v, settled %+v", begun, settled)
	}
	if err := b.DeadLetterSent(b.ctx(), settled.DeadLetter.ID); err != nil {
		t.Fatal(err)
	}
	if begun := b.begin(m, store.Done); !begun.DeadLetter.Sent {
		t.Error("begin does not return that the dead letter's copy was sent")
	}

	m, h = b.run()
	if _, err := b.Canceled(b.ctx(), h, nil); err != nil {
		t.Fatal(err)
	}
	b.begin(m, store.Dropped)
}

func testConflict(t *testing.T, b *bench) {
	m, h := b.run()
	other := m
	other.Fingerprint, other.Payload, other.Force = "f2", json.RawMessage(`{"filename":"b.pdf"}`), true
	other.Source.MessageID = uuid.NewString()
	before := b.job(m.JobID)
	b.begin(other, store.Conflict)
	if after := b.job(m.JobID); !after.UpdatedAt.Equal(before.UpdatedAt) ||
		string(after.Payload) != string(before.Payload) {
		t.Error("I5: a conflict changed the job")
	}
	b.complete(h)
	b.begin(other, store.Conflict)
	_, err := b.Submit(b.ctx(), store.Submission{
		Task: store.Task{
			JobID: m.JobID, Type: "ingest", Payload: other.Payload, Fingerprint: "f2", MaxAttempts: 3,
		},
		Queue: "q", Message: "{}",
	})
	if !errors.Is(err, store.ErrConflict) {
		t.Errorf("submit of another payload: %v", err)
	}
}

// testFence tries every writer with a stale fence and with one that was never given out (I4).
func testFence(t *testing.T, b *bench) {
	m, old := b.run()
	staged, err := b.StageDocument(b.ctx(), staging(old, "fenced.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	b.loseWorker(old)
	now := holder(m, b.begin(m, store.Run))
	if now.Fence <= old.Fence {
		t.Fatalf("I4: the fence went from %d to %d", old.Fence, now.Fence)
	}
	writers := map[string]func(h store.Holder) error{
		"heartbeat": func(h store.Holder) error {
			_, err := b.Heartbeat(b.ctx(), store.Heartbeat{
				Holder: h, Lease: hour, Events: []store.Event{event("parsing", 50)},
			})
			return err
		},
		"complete": func(h store.Holder) error {
			_, err := b.Complete(b.ctx(), store.Completion{Holder: h, Result: json.RawMessage(`{}`)})
			return err
		},
		"fail": func(h store.Holder) error { _, err := b.Fail(b.ctx(), failure(h, m)); return err },
		"retry": func(h store.Holder) error {
			_, err := b.Retry(b.ctx(), store.Retry{Holder: h, Error: badInput})
			return err
		},
		"release":  func(h store.Holder) error { _, err := b.Release(b.ctx(), store.Release{Holder: h}); return err },
		"canceled": func(h store.Holder) error { _, err := b.Canceled(b.ctx(), h, nil); return err },
		"stage document": func(h store.Holder) error {
			_, err := b.StageDocument(b.ctx(), staging(h, "other.pdf"))
			return err
		},
		"stage chunks": func(h store.Holder) error {
			_, err := b.StageChunks(b.ctx(), batch(h, staged, chunk(0, "x")))
			return err
		},
		"stage terms": func(h store.Holder) error {
			return b.StageTerms(b.ctx(), store.TermsPart{
				Holder: h, DocumentID: staged.DocumentID, Version: staged.Version, Limit: 1,
			})
		},
	}
	before, events := b.job(m.JobID), len(b.history(m.JobID))
	for name, write := range writers {
		for _, fence := range []int64{old.Fence, now.Fence + 1, 0} {
			if err := write(store.Holder{JobID: m.JobID, Fence: fence}); !errors.Is(err, store.ErrFenced) {
				t.Errorf("I4: %s under fence %d of %d: %v", name, fence, now.Fence, err)
			}
		}
		if err := write(store.Holder{JobID: "no-such-job", Fence: 1}); !errors.Is(err, store.ErrFenced) {
			t.Errorf("%s of an unknown job: %v", name, err)
		}
	}
	if after := b.job(m.JobID); !after.UpdatedAt.Equal(before.UpdatedAt) || len(b.history(m.JobID)) != events {
		t.Error("I4: a refused writer wrote")
	}
	b.complete(now)
	for name, write := range writers {
		if err := write(now); !errors.Is(err, store.ErrFenced) {
			t.Errorf("I3: %s after the end: %v", name, err)
		}
	}
}

func testWorkerLost(t *testing.T, b *bench) {
	m, h := b.run()
	if _, err := b.Heartbeat(b.ctx(), store.Heartbeat{
		Holder: h, Lease: hour,
		Events: []store.Event{event("parsing", 40)},
	}); err != nil {
		t.Fatal(err)
	}
	b.loseWorker(h)
	begun := b.begin(m, store.Run)
	if begun.Attempt != 2 || begun.Fence <= h.Fence || begun.Progress != 40 {
		t.Errorf("second attempt: %+v", begun)
	}
	if got := stages(b.history(m.JobID)); !slices.Equal(got, []string{"started", "parsing", "worker_lost", "started"}) {
		t.Errorf("events: %v", got)
	}
	b.complete(holder(m, begun))
}

func testSpent(t *testing.T, b *bench) {
	m, h := b.run(func(m *store.Begin) { m.MaxAttempts = 1 })
	b.loseWorker(h)
	begun := b.begin(m, store.Spent)
	if begun.State != "failed" || begun.DeadLetter == nil || begun.DeadLetter.Class != "worker_lost" ||
		begun.DeadLetter.Attempts != 1 {
		t.Fatalf("spent: %+v", begun)
	}
	j := b.job(m.JobID)
	if j.Status != "failed" || j.ErrorClass != "worker_lost" || j.ErrorCode != "INGEST_WORKER_LOST" || j.Attempts != 1 {
		t.Errorf("row: %+v", j)
	}
	d, err := b.DeadLetter(b.ctx(), begun.DeadLetter.ID)
	if err != nil || d.Original != m.Original || d.SourceQueue != "q" || d.JobID != m.JobID ||
		d.Reason != "worker_lost" {
		t.Errorf("dead letter: %+v, %v", d, err)
	}
	b.wantLetters(m.JobID, 1)
	b.wantDeliveries(m.JobID, "task.failed")
	if late := b.begin(m, store.Done); late.DeadLetter == nil || late.DeadLetter.ID != begun.DeadLetter.ID {
		t.Errorf("begin after the end: %+v", late)
	}
	b.wantLetters(m.JobID, 1)
}

func testRetry(t *testing.T, b *bench) {
	m, h := b.run()
	retry := func(h store.Holder, after time.Duration) {
		t.Helper()
		s, err := b.Retry(b.ctx(), store.Retry{
			Holder: h, After: after, Events: []store.Event{event("embedding", 60)},
			Error: store.ErrorInfo{
				Type: "RateLimited", Class: "ai_rate_limit", Code: "INGEST_AI_RATE_LIMIT", Message: "slow down",
				Retryable: true,
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if s.State != "running" || s.DeadLetter != nil || s.Deliveries != 0 {
			t.Errorf("settled: %+v", s)
		}
	}
	retry(h, hour)
	if begun := b.begin(m, store.Waiting); begun.Wait <= hour/2 || begun.Wait > hour {
		t.Errorf("wait: %s", begun.Wait)
	}
	if j := b.job(m.JobID); j.Status != "running" || j.ErrorClass != "ai_rate_limit" || j.Attempts != 1 {
		t.Errorf("row while waiting: %+v", j)
	}
	if _, err := b.Complete(b.ctx(), store.Completion{Holder: h, Result: json.RawMessage(`{}`)}); !errors.Is(err,
		store.ErrFenced) {
		t.Errorf("complete after retry: %v", err)
	}

	m, h = b.run()
	retry(h, 0)
	begun := b.begin(m, store.Run)
	if begun.Attempt != 2 || begun.Progress != 60 {
		t.Errorf("second attempt: %+v", begun)
	}
	retry(holder(m, begun), 0)
	begun = b.begin(m, store.Run)
	last := holder(m, begun)
	if _, err := b.Retry(b.ctx(), store.Retry{Holder: last, Error: badInput}); err == nil {
		t.Error("I6: a retry after the last attempt")
	}
	b.fail(last, m)
	if j := b.job(m.JobID); j.Attempts != 3 || j.Progress != 60 {
		t.Errorf("row at the end: %+v", j)
	}
	b.history(m.JobID)
}

func testRelease(t *testing.T, b *bench) {
	m, h := b.run(func(m *store.Begin) { m.MaxAttempts = 1 })
	for range 5 { // I9: with one attempt allowed, five releases cost none
		s, err := b.Release(b.ctx(), store.Release{Holder: h, Events: []store.Event{event("parsing", 20)}})
		if err != nil {
			t.Fatal(err)
		}
		if s.State != "pending" || s.Attempts != 0 {
			t.Errorf("I9: settled %+v", s)
		}
		begun := b.begin(m, store.Run)
		if begun.Attempt != 1 || begun.Progress != 20 {
			t.Errorf("I9: begun %+v", begun)
		}
		h = holder(m, begun)
	}
	b.complete(h)
	b.history(m.JobID)
}

func testFail(t *testing.T, b *bench) {
	m, h := b.run()
	s := b.fail(h, m)
	if s.State != "failed" || s.DeadLetter == nil || s.DeadLetter.Reason != "permanent" || s.Deliveries != 1 {
		t.Errorf("settled: %+v", s)
	}
	j := b.job(m.JobID)
	if j.Status != "failed" || j.ErrorClass != badInput.Class || j.ErrorCode != badInput.Code ||
		j.ErrorMessage != badInput.Message || j.CompletedAt == nil {
		t.Errorf("row: %+v", j)
	}
	b.wantLetters(m.JobID, 1)
	events := b.history(m.JobID)
	if last := events[len(events)-1]; last.Stage != "failed" || last.Message != badInput.Message {
		t.Errorf("last event: %+v", last)
	}
	if err := b.DeadLetterSent(b.ctx(), uuid.NewString()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown dead letter: %v", err)
	}
}

func testCheckpoint(t *testing.T, b *bench) {
	m, h := b.run()
	beat := func(checkpoint string) {
		t.Helper()
		if _, err := b.Heartbeat(b.ctx(), store.Heartbeat{
			Holder: h, Lease: hour,
			Checkpoint: json.RawMessage(checkpoint),
		}); err != nil {
			t.Fatal(err)
		}
	}
	beat(`{"page":3}`)
	if _, err := b.Heartbeat(b.ctx(), store.Heartbeat{Holder: h, Lease: 0}); err != nil { // nil keeps the stored one
		t.Fatal(err)
	}
	begun := b.begin(m, store.Run)
	var got struct{ Page int }
	if err := json.Unmarshal(begun.Checkpoint, &got); err != nil || got.Page != 3 {
		t.Errorf("checkpoint %s: %v", begun.Checkpoint, err)
	}
	b.complete(holder(m, begun))
}
