package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/blob"
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

// readOnly is a bucket that takes nothing for a time.
type readOnly struct {
	blob.Bucket
	until time.Time
}

func (b *readOnly) Put(ctx context.Context, name string, body io.Reader, kind string) (blob.Properties, error) {
	if time.Now().Before(b.until) {
		return blob.Properties{}, errors.New("it is read-only")
	}
	return b.Bucket.Put(ctx, name, body, kind)
}

// While no claim check can be written, other tasks start at once; the message of the later one is written once then,
// however often it comes.
func TestLargeWaitsForTheBucket(t *testing.T) {
	inWorld(t, func(w *world) {
		folder := t.TempDir()
		w.bucket = &readOnly{dir.New(folder), time.Now().Add(time.Hour)}
		due := time.Now().Add(5 * time.Hour).UTC().Truncate(time.Second)
		w.send(w.queues.High, standIn)
		w.send(w.queues.High, standIn)
		w.queues.High = &largeQueue{Queue: w.queues.High, text: fmt.Sprintf(
			`{"task_id":"t1","task_type":"test","payload":{"text":%q},"run_at":%q}`,
			strings.Repeat("x", memory.MaxText), due.Format(time.RFC3339))}
		w.start(done)
		w.settled(10 * time.Minute)
		sent := time.Now()
		w.send(w.queues.Normal, `{"task_id":"t2","task_type":"test","payload":{}}`)
		w.settled(time.Minute)
		if r := w.row("t2"); r.State != job.Succeeded || r.Updated.Sub(sent) > 30*time.Second {
			t.Errorf("t2, sent at %v, is %s since %v", sent, r.State, r.Updated)
		}
		w.settled(3 * time.Hour)
		w.expectState("t1", job.Pending, 0)
		w.expectDepth(w.queues.High, 0)
		if all, err := filepath.Glob(filepath.Join(folder, "tasks", "*")); err != nil || len(all) != 1 {
			t.Errorf("claim checks: %v, %v", all, err)
		}
		w.settled(5 * time.Hour)
		w.expectState("t1", job.Succeeded, 1)
	})
}
