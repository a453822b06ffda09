package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

func TestConflictIsDeadLettered(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(done)
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(time.Minute)
		w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","payload":{"n":2},"webhook_url":"https://example.com/other"}`)
		w.settled(time.Minute)
		w.expectState("t1", job.Succeeded, 1) // I5: the job that has the id is untouched
		if out := w.row("t1").Outbox; len(out) != 1 || out[0].Event != "task.rejected" ||
			out[0].URL != "https://example.com/other" {
			t.Errorf("the webhooks are %+v", out)
		}
		w.expectBuried("conflict")
	})
}

func TestBadMessagesAreDeadLettered(t *testing.T) {
	for name, c := range map[string]struct{ text, reason string }{
		"no JSON":         {"certainly not JSON", "malformed"},
		"no type":         {`{"task_id":"t1","payload":{}}`, "invalid_field"},
		"other client":    {`{"task_id":"t1","task_type":"test","payload":{},"client_id":"other"}`, "wrong_client"},
		"unknown type":    {`{"task_id":"t1","task_type":"dance","payload":{}}`, "unknown_type"},
		"refused payload": {message("t1", `,"refuse":true`), "invalid_payload"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.start(func(context.Context, handlers.Call) (handlers.Outcome, error) {
					t.Error("the handler ran")
					return handlers.Outcome{}, nil
				})
				w.send(w.queues.Normal, c.text)
				w.settled(time.Minute)
				w.expectDepth(w.queues.Normal, 0)
				if env := w.expectBuried(c.reason); env.Original != c.text ||
					env.ErrorClass != string(taskerr.ValidationError) {
					t.Errorf("the envelope is %+v", env)
				}
			})
		})
	}
}

// expectBuried checks that there is one dead letter, as row and as copy, and returns the copy.
func (w *world) expectBuried(reason string) engine.Envelope {
	w.Helper()
	rows := w.store.DeadLetters()
	copies, err := w.queues.DeadLetter.Peek(w.Context(), queue.MaxBatch)
	if err != nil {
		w.Fatal(err)
	}
	if len(rows) != 1 || len(copies) != 1 {
		w.Fatalf("there are %d dead letters and %d copies, want one each", len(rows), len(copies))
	}
	var env engine.Envelope
	if err := json.Unmarshal([]byte(copies[0].Text), &env); err != nil {
		w.Fatal(err)
	}
	if rows[0].Reason != reason || !rows[0].Sent || env.Reason != reason || env.ID != rows[0].ID {
		w.Errorf("row %+v and copy %+v, want the reason %s in both", rows[0], env, reason)
	}
	return env
}

func TestErrorsBySort(t *testing.T) {
	for name, c := range map[string]struct {
		err      error
		panics   bool
		attempts int
		class    taskerr.Class
		reason   string
	}{
		"permanent": {
			err: taskerr.Errorf(taskerr.CorruptionDetected, "broken"), attempts: 1,
			class: taskerr.CorruptionDetected, reason: "permanent",
		},
		"retryable": {
			err: taskerr.Errorf(taskerr.ModelOverloaded, "busy"), attempts: 3,
			class: taskerr.ModelOverloaded, reason: "exhausted",
		},
		"unknown": {err: errors.New("who knows"), attempts: 1, class: taskerr.InternalBug, reason: "permanent"},
		"panic":   {panics: true, attempts: 1, class: taskerr.InternalBug, reason: "permanent"},
		"wrapped": {
			err: fmt.Errorf("deep: %w", taskerr.Errorf(taskerr.AIRateLimit, "slow down")), attempts: 3,
			class: taskerr.AIRateLimit, reason: "exhausted",
		},
		"call's timeout": {
			err: context.DeadlineExceeded, attempts: 3, class: taskerr.NetworkTimeout,
			reason: "exhausted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.start(func(context.Context, handlers.Call) (handlers.Outcome, error) {
					if c.panics {
						panic("a bug")
					}
					return handlers.Outcome{}, c.err
				})
				w.send(w.queues.Normal, message("t1", ""))
				w.settled(5 * time.Minute)
				w.expectState("t1", job.Failed, c.attempts)
				if env := w.expectBuried(c.reason); env.ErrorClass != string(c.class) || env.Attempts != c.attempts {
					t.Errorf("the envelope is %+v", env)
				}
			})
		})
	}
}
