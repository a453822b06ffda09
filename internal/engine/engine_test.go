package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

func TestTaskSucceeds(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if id := task.IDFrom(ctx); id != "t1" {
				t.Errorf("the work is for the task %q", id)
			}
			for _, s := range []string{"first", "second"} {
				if err := c.Progress.Stage(s); err != nil {
					return handlers.Outcome{}, err
				}
			}
			return done(t.Context(), c)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(time.Minute)
		w.expectState("t1", job.Succeeded, 1)
		w.expectDepth(w.queues.Normal, 0)
		if r := w.row("t1"); !strings.Contains(string(r.Result), `"answer":42`) ||
			!strings.Contains(string(r.Result), "processing_time_ms") {
			t.Errorf("the result is %s", r.Result)
		}
	})
}

// A message that is delivered again after its job is done has no second effect (I2).
func TestRedeliveryIsAnsweredDone(t *testing.T) {
	inWorld(t, func(w *world) {
		var runs atomic.Int32
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			runs.Add(1)
			return done(ctx, c)
		})
		for range 3 {
			w.send(w.queues.Normal, message("t1", ""))
			w.settled(time.Minute)
		}
		w.expectDepth(w.queues.Normal, 0)
		if runs.Load() != 1 || w.row("t1").Commits != 1 {
			t.Errorf("the handler ran %d times and committed %d times, want once", runs.Load(), w.row("t1").Commits)
		}
	})
}

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
				if n := strings.Count(w.logs.String(), "level=WARN"); n != c.attempts { // the copy of its letter is no other failure
					t.Errorf("%d warnings of %d attempts:\n%s", n, c.attempts, w.logs.String())
				}
			})
		})
	}
}

func TestRetrySucceedsLater(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if c.Attempt < 3 {
				return handlers.Outcome{}, taskerr.Errorf(taskerr.TransientStorage, "not yet")
			}
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(5 * time.Minute)
		w.expectState("t1", job.Succeeded, 3)
		w.expectDepth(w.queues.DeadLetter, 0)
	})
}

// A long task keeps both its leases: nobody else gets it, and its message does not even come back.
func TestHeartbeatKeepsLeases(t *testing.T) {
	inWorld(t, func(w *world) {
		var runs, begins atomic.Int32
		w.hook().begin = func(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
			begins.Add(1)
			return w.store.Begin(ctx, b)
		}
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			runs.Add(1)
			time.Sleep(30 * time.Minute)
			return done(ctx, c)
		})
		w.cfg.TaskTimeout = time.Hour
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(29 * time.Minute)
		if left := time.Until(w.row("t1").LeaseEnds); left <= 0 {
			t.Errorf("the job's lease ran out %v ago", -left)
		}
		w.settled(10 * time.Minute)
		if runs.Load() != 1 || begins.Load() != 1 {
			t.Errorf("the task ran %d times and its message came %d times, want once", runs.Load(), begins.Load())
		}
	})
}

func TestTimeout(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(func(ctx context.Context, _ handlers.Call) (handlers.Outcome, error) {
			<-ctx.Done()
			return handlers.Outcome{}, context.Cause(ctx)
		})
		w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","payload":{},"hints":{"timeout_seconds":"7"}}`)
		w.settled(time.Minute)
		w.expectState("t1", job.Failed, 1)
		w.expectBuried("timeout")
	})
}

func TestCancelWhileRunning(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(func(ctx context.Context, _ handlers.Call) (handlers.Outcome, error) {
			<-ctx.Done()
			return handlers.Outcome{}, context.Cause(ctx)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(15 * time.Second)
		if _, err := w.store.RequestCancel(t.Context(), "t1", "a test"); err != nil {
			t.Fatal(err)
		}
		w.settled(time.Minute)
		w.expectState("t1", job.Canceled, 1)
		w.expectDepth(w.queues.Normal, 0)
	})
}

// A worker that lost the job commits nothing and leaves the message alone (I4).
func TestStaleFence(t *testing.T) {
	inWorld(t, func(w *world) {
		stolen := make(chan struct{})
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if c.Attempt == 1 {
				<-stolen
			}
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(5 * time.Second)
		r := w.row("t1")
		// Somebody else retries it, and so raises the fence.
		if _, err := w.store.Retry(t.Context(),
			store.Retry{Holder: store.Holder{JobID: "t1", Fence: r.Fence}}); err != nil {
			t.Fatal(err)
		}
		close(stolen)
		w.settled(5 * time.Minute)
		w.expectState("t1", job.Succeeded, 2)
		if w.row("t1").Commits != 1 {
			t.Errorf("%d commits, want one", w.row("t1").Commits)
		}
		w.expectDepth(w.queues.Normal, 0)
	})
}
