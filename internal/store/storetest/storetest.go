// Package storetest is the conformance suite that every store passes. A back end's test calls Run.
package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Dimensions is the width of the suite's vectors. The database under test must be migrated with it.
const Dimensions = 8

// Open opens the store of a tenant. The stores that one Open opens share a database.
type Open func(t testing.TB, clientID string) store.Store

// bench has a new tenant for one test.
type bench struct {
	store.Store
	t      *testing.T
	open   Open
	client string
}

var clients atomic.Int64

func newBench(t *testing.T, open Open) *bench {
	client := fmt.Sprintf("tenant-%d", clients.Add(1))
	s := open(t, client)
	t.Cleanup(s.Close)
	return &bench{Store: s, t: t, open: open, client: client}
}

func (b *bench) ctx() context.Context { return b.t.Context() }

const hour = time.Hour

// message returns a Begin of a new job, with a lease that is longer than any test.
func message(edit ...func(*store.Begin)) store.Begin {
	b := store.Begin{
		Task: store.Task{
			JobID: "job-" + uuid.NewString(), Type: "ingest",
			Payload: json.RawMessage(`{"filename":"a.pdf","document_set":"` + uuid.NewString() + `"}`), // no two on one document
			Hints:   json.RawMessage(`{}`), Priority: "normal", Fingerprint: "f1", MaxAttempts: 3,
			WebhookURL: "https://example.com/hook",
		},
		Worker: "w1", Lease: hour, Source: store.Source{
			Queue: "q", MessageID: uuid.NewString(), InsertedAt: time.Now(),
		}, Original: `{"task_id":"…"}`, ID: uuid.NewString(),
	}
	for _, e := range edit {
		e(&b)
	}
	return b
}

// begin checks the decision and returns the answer.
func (b *bench) begin(m store.Begin, want store.Decision) store.BeginAnswer {
	b.t.Helper()
	begun, err := b.Begin(b.ctx(), m)
	if err != nil {
		b.t.Fatalf("begin: %v", err)
	}
	if begun.Decision != want {
		b.t.Fatalf("begin: got %q, want %q (%+v)", begun.Decision, want, begun)
	}
	return begun
}

// run begins a new job and returns its message and holder.
func (b *bench) run(edit ...func(*store.Begin)) (store.Begin, store.Holder) {
	b.t.Helper()
	m := message(edit...)
	return m, holder(m, b.begin(m, store.Run))
}

func holder(m store.Begin, begun store.BeginAnswer) store.Holder {
	return store.Holder{JobID: m.JobID, Fence: begun.Fence}
}

// loseWorker lets the lease of a held job expire.
func (b *bench) loseWorker(h store.Holder) {
	b.t.Helper()
	if _, err := b.Heartbeat(b.ctx(), store.Heartbeat{Holder: h, Lease: 0}); err != nil {
		b.t.Fatalf("heartbeat with a lease of zero: %v", err)
	}
}

func (b *bench) complete(h store.Holder, effects ...store.Effect) store.Settlement {
	b.t.Helper()
	s, err := b.Complete(b.ctx(), store.Completion{Holder: h, Result: json.RawMessage(`{"n":1}`), Effects: effects})
	if err != nil {
		b.t.Fatalf("complete: %v", err)
	}
	return s
}

var badInput = store.ErrorInfo{
	Type: "UnsupportedFormat", Class: "unsupported_format", Code: "INGEST_UNSUPPORTED_FORMAT",
	Message: "no extractor takes it",
	Coarse:  "validation",
}

func failure(h store.Holder, m store.Begin) store.Failure {
	return store.Failure{Holder: h, Error: badInput, Reason: "permanent", Source: m.Source, Original: m.Original}
}

func (b *bench) fail(h store.Holder, m store.Begin) store.Settlement {
	b.t.Helper()
	s, err := b.Fail(b.ctx(), failure(h, m))
	if err != nil {
		b.t.Fatalf("fail: %v", err)
	}
	if s.DeadLetter == nil {
		b.t.Fatalf("I6: a failure without a dead letter: %+v", s)
	}
	return s
}

func (b *bench) job(id string) store.Job {
	b.t.Helper()
	j, err := b.Job(b.ctx(), id)
	if err != nil {
		b.t.Fatalf("job: %v", err)
	}
	return j
}

// history returns all events of a job. It checks I8: they are numbered from 1 without gaps, progress never falls within
// a series, and a terminal event is the last of its series, except for duplicates of a failed job.
func (b *bench) history(id string) []store.JobEvent {
	b.t.Helper()
	events, err := b.Events(b.ctx(), id, 0, 1000)
	if err != nil {
		b.t.Fatalf("events: %v", err)
	}
	progress, over := 0, false
	for i, e := range events {
		if e.Stage == "restarted" {
			progress, over = 0, false
		}
		if e.Seq != int64(i)+1 {
			b.t.Errorf("I8: event %d of %s has number %d", i+1, id, e.Seq)
		}
		if e.Progress < progress {
			b.t.Errorf("I8: progress of %s falls from %d to %d", id, progress, e.Progress)
		}
		if over != aboutDuplicate(e) {
			b.t.Errorf("I8: event %q (%s) of %s, after its series ended: %v", e.Stage, e.Message, id, over)
		}
		progress, over = e.Progress, terminal(e.Stage) || over
	}
	return events
}

func terminal(stage string) bool {
	return stage == "completed" || stage == "failed" || stage == "canceled"
}

func stages(events []store.JobEvent) []string {
	var names []string
	for _, e := range events {
		names = append(names, e.Stage)
	}
	return names
}

func event(stage string, progress int) store.Event {
	return store.Event{ID: uuid.NewString(), At: time.Now(), Stage: stage, Progress: progress}
}
