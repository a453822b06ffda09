package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

// smallQueue takes messages of 8 KiB at most, as a NATS server or stream with such a limit.
type smallQueue struct {
	queue.Queue
}

func (q smallQueue) Send(ctx context.Context, text string, o queue.SendOptions) (string, error) {
	if len(text) > 8<<10 {
		return "", fmt.Errorf("send %d bytes: %w", len(text), queue.ErrTooLarge)
	}
	return q.Queue.Send(ctx, text, o)
}

// A task that is larger than a server allows runs, whoever sends its message: the submitter, the sweep in its place, and
// the sweep that makes a message of the row.
func TestLargerThanTheServerAllows(t *testing.T) {
	text := `{"task_id":"t1","task_type":"test","payload":{"text":"` + strings.Repeat("x", 20<<10) + `"}}`
	decoded, err := task.Decode(text, task.Options{ClientID: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	for name, attempts := range map[string]int{"submitted": 1, "recorded": 1, "lost": 2} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.bucket = dir.New(t.TempDir())
				w.queues.Normal = smallQueue{w.queues.Normal}
				s := engine.Submitter{
					Store: w.store, Queues: w.queues, Bucket: w.bucket, MaxAttempts: func(task.Type) int { return 3 },
				}
				var err error
				switch name {
				case "submitted":
					_, err = s.Submit(w.Context(), decoded.Task)
				case "recorded":
					var recorded store.Submission
					if recorded, err = s.Submission(decoded.Task); err == nil {
						_, err = w.store.Submit(w.Context(), recorded)
					}
				case "lost":
					w.begun(text, 3)
				}
				if err != nil {
					w.Fatal(err)
				}
				w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
					if string(c.Task.Payload) != string(decoded.Task.Payload) {
						t.Errorf("run with the payload %.100s", c.Task.Payload)
					}
					return done(ctx, c)
				})
				w.settled(20 * time.Minute)
				w.expectState("t1", job.Succeeded, attempts)
				w.expectDepth(w.queues.Normal, 0)
				w.expectInvariants()
				if logs := w.logs.String(); strings.Contains(logs, "can't find or resend lost messages") {
					t.Errorf("a sweep failed: %s", logs)
				}
			})
		})
	}
}

// A message that expires while its type is at its limit is replaced by a claim check when the copy, which has the
// message's identity too, is larger than the server allows.
func TestReplacedInSmallQueue(t *testing.T) {
	gatedWorld(t, func(w *world, up *atomic.Bool, _ *atomic.Int64) {
		up.Store(true)
		const long = 12 * time.Minute
		w.cfg.TaskTimeout, w.bucket = 2*long, dir.New(t.TempDir())
		sender := w.queues.Normal
		w.queues.Normal = smallQueue{sender}
		w.startWith(gated{most: 1, handlerFunc: func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if c.Task.ID == "long" {
				return work(long, done)(ctx, c)
			}
			return done(ctx, c)
		}})
		w.send(sender, message("long", ""))
		w.settled(time.Minute)
		text := message("t1", fmt.Sprintf(`,"text":%q`, strings.Repeat("x", 8<<10-len(message("t1", `,"text":""`)))))
		if _, err := sender.Send(t.Context(), text, queue.SendOptions{TTL: 5 * time.Minute}); err != nil {
			w.Fatal(err)
		}
		w.settled(time.Hour)
		w.expectState("t1", job.Succeeded, 1)
		w.expectDepth(sender, 0)
	})
}
