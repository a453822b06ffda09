package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/memory"
)

const standIn = "a message of a sender that writes to the server itself"

// largeQueue delivers a message that it would not take from here: what a sender may put on a NATS server.
type largeQueue struct {
	queue.Queue
	text string // instead of standIn
}

func (q *largeQueue) Receive(ctx context.Context, n int, visibility time.Duration) ([]*queue.Message, error) {
	all, err := q.Queue.Receive(ctx, n, visibility)
	for _, m := range all {
		if m.Text == standIn {
			m.Text = q.text
		}
	}
	return all, err
}

// A task that starts later and whose message is larger than the queue takes is sent as a claim check, in time. So is one
// whose message an older version recorded as it came, and those behind it are sent.
func TestLargeRunsLater(t *testing.T) {
	for name, recorded := range map[string]bool{"received": false, "recorded as it came": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				due := time.Now().Add(5 * time.Hour).UTC().Truncate(time.Second)
				payload := `{"text":"` + strings.Repeat("x", memory.MaxText) + `"}`
				text := fmt.Sprintf(`{"task_id":"t1","task_type":"test","payload":%s,"run_at":%q}`, payload, due.Format(time.RFC3339))
				w.bucket = dir.New(t.TempDir())
				if recorded {
					if _, err := w.store.Submit(t.Context(), store.Submission{
						Task:  store.Task{JobID: "t1", Type: "test", Priority: "high", Payload: []byte(payload), MaxAttempts: 3},
						Queue: w.queues.High.Name(), Message: text, SendAt: &due,
					}); err != nil {
						t.Fatal(err)
					}
				} else {
					w.send(w.queues.High, standIn)
				}
				w.queues.High = &largeQueue{Queue: w.queues.High, text: text}
				var at []time.Time
				w.start(func(_ context.Context, c handlers.Call) (handlers.Outcome, error) {
					at = append(at, time.Now())
					if len(c.Task.Payload) != len(payload) {
						t.Errorf("run with %d bytes of payload, want %d", len(c.Task.Payload), len(payload))
					}
					return handlers.Outcome{}, nil
				})
				w.settled(time.Hour)
				w.expectState("t1", job.Pending, 0)
				w.expectDepth(w.queues.High, 0)
				w.settled(5 * time.Hour)
				w.expectState("t1", job.Succeeded, 1)
				if len(at) != 1 || at[0].Before(due) || at[0].Sub(due) > time.Minute {
					t.Errorf("run at %v, due at %v", at, due)
				}
				w.expectInvariants()
			})
		})
	}
}
