package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

// forcedAhead is a forced task that starts later.
func forcedAhead(ahead time.Duration) string {
	return fmt.Sprintf(`{"task_id":"t1","task_type":"test","payload":{"n":1},"hints":{"force":true},"run_at":%q}`,
		time.Now().Add(ahead).UTC().Format(time.RFC3339))
}

// counted starts a worker and returns the number of its runs.
func (w *world) counted() (runs func() int64) {
	var n atomic.Int64
	w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
		n.Add(1)
		return done(ctx, c)
	})
	return n.Load
}

func (w *world) expectRuns(what string, runs func() int64, want int64) {
	w.Helper()
	if n := runs(); n != want {
		w.Errorf("%s: %d runs, want %d", what, n, want)
	}
}

// TestForcedLaterBesideNow: of a message that starts now and a forced one that starts later each has its run at its time,
// whichever comes first, and also if the first is only recorded yet.
func TestForcedLaterBesideNow(t *testing.T) {
	for _, first := range []string{"later", "now", "now, which is still on its way"} {
		t.Run(first, func(t *testing.T) {
			inWorld(t, func(w *world) {
				runs := w.counted()
				if first == "now" {
					w.send(w.queues.Normal, message("t1", ""))
				} else if first != "later" {
					s := engine.Submitter{Store: w.store, Queues: w.queues, MaxAttempts: func(task.Type) int { return 3 }}
					recorded, err := s.Submission(task.Task{ID: "t1", Type: "test", Payload: []byte(`{"n":1}`)})
					if err == nil {
						_, err = w.store.Submit(t.Context(), recorded)
					}
					if err == nil {
						err = w.store.MarkSent(t.Context(), "t1", recorded.Message)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				w.send(w.queues.Normal, forcedAhead(5*time.Hour))
				w.settled(time.Hour)
				if first != "now" {
					w.expectRuns("before that which starts now has come", runs, 0)
					w.send(w.queues.Normal, message("t1", ""))
					w.settled(time.Hour)
				}
				w.expectRuns("before the time of the later one", runs, 1)
				w.settled(4 * time.Hour)
				w.expectRuns("after that", runs, 2)
				w.expectDepth(w.queues.Normal, 0)
			})
		})
	}
}

// TestForcedLaterOutlivesItsMessage: a message that waits for the run before its own is not lost when its queue's time for
// messages ends before that.
func TestForcedLaterOutlivesItsMessage(t *testing.T) {
	inWorld(t, func(w *world) {
		runs := w.counted()
		for _, ahead := range []time.Duration{10 * time.Hour, 20 * time.Hour, 30 * time.Hour} {
			if _, err := w.queues.Normal.Send(t.Context(), forcedAhead(ahead), queue.SendOptions{TTL: 3 * time.Hour}); err != nil {
				t.Fatal(err)
			}
			w.settled(time.Minute)
		}
		w.settled(9 * time.Hour)
		w.expectDepth(w.queues.Normal, 2)
		w.expectRuns("before the first time", runs, 0)
		w.settled(24 * time.Hour)
		w.expectRuns("after the last time", runs, 3)
		w.expectDepth(w.queues.Normal, 0)
	})
}

// refusesUntil is a queue that takes no messages before a time.
type refusesUntil struct {
	queue.Queue
	time.Time
}

func (q refusesUntil) Send(ctx context.Context, text string, o queue.SendOptions) (string, error) {
	if time.Now().Before(q.Time) {
		return "", errDown
	}
	return q.Queue.Send(ctx, text, o)
}

// TestCancelOfARunThatWaitsForItsQueue: another run of a job that has ended can be given up while its message can't be sent,
// but not while that may be just on its way.
func TestCancelOfARunThatWaitsForItsQueue(t *testing.T) {
	inWorld(t, func(w *world) {
		q := w.queues.Normal
		w.queues.Normal = refusesUntil{q, time.Now().Add(time.Hour)}
		runs := w.counted()
		w.send(q, message("t1", ""))
		w.settled(time.Minute)
		w.send(q, forcedAhead(5*time.Minute))
		w.settled(6 * time.Minute)
		if _, err := w.store.RequestCancel(t.Context(), "t1", "a test"); !errors.Is(err, store.ErrTerminal) {
			t.Errorf("a minute after its time: %v", err)
		}
		w.settled(2 * time.Minute)
		if _, err := w.store.RequestCancel(t.Context(), "t1", "a test"); err != nil {
			t.Errorf("three minutes after it: %v", err)
		}
		w.settled(6 * time.Hour)
		w.expectRuns("after the queue is back", runs, 1)
	})
}

// TestForcedRunThatCanNotBeSent: no row has the message of another run, so nobody is told that a sweep sends it.
func TestForcedRunThatCanNotBeSent(t *testing.T) {
	inWorld(t, func(w *world) {
		runs := w.counted()
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(time.Minute)
		down := engine.Queues{Normal: unsendable{w.queues.Normal}}
		s := engine.Submitter{Store: w.store, Queues: down, MaxAttempts: func(task.Type) int { return 3 }}
		_, err := s.Submit(t.Context(), task.Task{
			ID: "t1", Type: "test", Payload: []byte(`{"n":1}`), Hints: task.Hints{Force: true},
		})
		if !errors.Is(err, errDown) || strings.Contains(err.Error(), "is recorded;") || !strings.Contains(err.Error(), "repeat") {
			t.Errorf("%v", err)
		}
		w.settled(time.Hour)
		w.expectRuns("of what could not be sent", runs, 1)
	})
}
