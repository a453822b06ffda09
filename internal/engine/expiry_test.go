package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	storememory "github.com/seed-7227ef26/async-worker/internal/store/memory"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/memory"
)

// failsOnce are the calls that fail, each once.
type failsOnce struct{ begin, send, acknowledge atomic.Bool }

type onceStore struct {
	*storememory.Jobs
	*failsOnce
}

func (s onceStore) Begin(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
	if s.begin.CompareAndSwap(true, false) {
		return store.BeginAnswer{}, errDown
	}
	return s.Jobs.Begin(ctx, b)
}

type onceQueue struct {
	queue.Queue
	*failsOnce
}

func (q onceQueue) Send(ctx context.Context, text string, o queue.SendOptions) (string, error) {
	if q.send.CompareAndSwap(true, false) {
		return "", errDown
	}
	return q.Queue.Send(ctx, text, o)
}

func (q onceQueue) Receive(ctx context.Context, n int, visibility time.Duration) ([]*queue.Message, error) {
	got, err := q.Queue.Receive(ctx, n, visibility)
	for _, m := range got {
		m.Lease = onceLease{m.Lease, q.failsOnce}
	}
	return got, err
}

type onceLease struct {
	queue.Lease
	*failsOnce
}

func (l onceLease) Delete(ctx context.Context) error {
	if l.acknowledge.CompareAndSwap(true, false) {
		return errDown
	}
	return l.Lease.Delete(ctx)
}

// TestMessageExpiresAtTheLimit: a task whose message expires while its type is at its limit is done afterwards (I1), once (I2),
// whatever fails. It costs one more message, and nobody is told that a message was lost.
func TestMessageExpiresAtTheLimit(t *testing.T) {
	for name, fail := range map[string]func(*failsOnce) *atomic.Bool{
		"for long":          func(*failsOnce) *atomic.Bool { return new(atomic.Bool) },
		"begin fails":       func(f *failsOnce) *atomic.Bool { return &f.begin },
		"send fails":        func(f *failsOnce) *atomic.Bool { return &f.send },
		"acknowledge fails": func(f *failsOnce) *atomic.Bool { return &f.acknowledge },
	} {
		t.Run(name, func(t *testing.T) {
			gatedWorld(t, func(w *world, up *atomic.Bool, _ *atomic.Int64) {
				up.Store(true)
				var fails failsOnce
				var mu sync.Mutex
				runs, long, size := map[string]int{}, 12*time.Minute, 0
				switch name {
				case "for long":
					long = 3 * time.Hour
				case "acknowledge fails": // in one case: it is read each second
					size = memory.MaxText - len(message("large", `,"text":""`))
				}
				w.cfg.TaskTimeout, w.bucket, w.jobs = 2*long, dir.New(t.TempDir()), onceStore{w.store, &fails}
				senders := w.queues
				w.queues.High, w.queues.Normal = onceQueue{w.queues.High, &fails}, onceQueue{w.queues.Normal, &fails}
				texts := w.watchSends()
				w.startWith(gated{most: 1, handlerFunc: func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
					mu.Lock()
					runs[c.Task.ID]++
					mu.Unlock()
					if c.Task.ID == "long" {
						return work(long, done)(ctx, c)
					}
					return done(ctx, c)
				}})
				w.send(senders.Normal, message("again", ""))
				w.settled(time.Minute)
				w.send(senders.Normal, message("long", ""))
				w.settled(time.Minute)
				fail(&fails).Store(true)
				large := message("large", fmt.Sprintf(`,"text":%q`, strings.Repeat("x", size)))
				again := `{"task_id":"again","task_type":"test","payload":{"n":1},"hints":{"force":true}}`
				sent, original := time.Now(), ""
				for text, ttl := range map[string]time.Duration{
					message("t1", ""): 3 * time.Minute, message("t2", ""): long - 4*time.Minute, again: 8 * time.Minute, large: 8 * time.Minute,
				} {
					id, err := senders.Normal.Send(t.Context(), text, queue.SendOptions{TTL: ttl})
					if err != nil {
						t.Fatal(err)
					}
					if text == large {
						original = id
					}
				}
				urgent := `{"task_id":"urgent","task_type":"test","payload":{"n":1},"priority":"high"}`
				if _, err := senders.High.Send(t.Context(), urgent, queue.SendOptions{TTL: 8 * time.Minute}); err != nil {
					t.Fatal(err)
				}
				w.settled(long + time.Hour)
				mu.Lock()
				defer mu.Unlock()
				for id, want := range map[string]int{"t1": 1, "t2": 1, "again": 2, "large": 1, "urgent": 1, "long": 1} {
					if w.expectState(id, job.Succeeded, 1); runs[id] != want {
						t.Errorf("%s ran %d times, want %d", id, runs[id], want)
					}
				}
				if s := w.row("large").Begin.Source; s.MessageID != original || s.InsertedAt.After(sent) {
					t.Errorf("the large task began by the message %s of %v, want %s of %v", s.MessageID, s.InsertedAt, original, sent)
				}
				if n := strings.Count(w.logs.String(), `msg="resent the message`); n != 0 {
					t.Errorf("%d messages were lost", n)
				}
				if r := w.row("urgent"); r.Priority != "high" {
					t.Errorf("the job has priority %s", r.Priority)
				}
				// One more of the large one, which the queue refuses, and of that which could not be sent, or acknowledged.
				if most := 5 + 2; len(*texts) > most {
					t.Errorf("%d messages were sent, want at most %d", len(*texts), most)
				}
				w.expectDepth(w.queues.Normal, 0)
				w.expectDepth(w.queues.High, 0)
			})
		})
	}
}

// TestRetriedAtTheLimit: a sweep sends no message of a job whose own waits at the limit of its type, and one of a job whose
// message is lost there.
func TestRetriedAtTheLimit(t *testing.T) {
	gatedWorld(t, func(w *world, up *atomic.Bool, _ *atomic.Int64) {
		up.Store(true)
		w.cfg.TaskTimeout = 5 * time.Hour
		normal := w.queues.Normal
		texts := w.watchSends()
		w.startWith(gated{most: 1, handlerFunc: func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if c.Task.ID == "long" {
				return work(4*time.Hour, done)(ctx, c)
			}
			if c.Attempt == 1 {
				return handlers.Outcome{}, &taskerr.Error{Class: taskerr.AIRateLimit, RetryAfter: time.Minute}
			}
			return done(ctx, c)
		}})
		w.send(normal, message("retried", ""))
		w.settled(30 * time.Second)
		w.send(normal, message("long", ""))
		w.settled(2 * time.Hour)
		if len(*texts) != 0 {
			t.Errorf("%d messages were sent again while it waited", len(*texts))
		}
		found := false
		for range 3000 { // until it is not hidden, and the worker was not faster
			if got, err := normal.Receive(t.Context(), 1, time.Minute); err != nil {
				t.Fatal(err)
			} else if len(got) > 0 && strings.Contains(got[0].Text, "retried") {
				if err := got[0].Lease.Delete(t.Context()); err != nil {
					t.Fatal(err)
				}
				found = true
				break
			}
			w.settled(time.Second)
		}
		if !found {
			t.Fatal("its message was never seen")
		}
		w.settled(45 * time.Minute)
		if len(*texts) != 1 {
			t.Errorf("%d messages were sent of the lost one, want 1", len(*texts))
		}
		w.settled(2 * time.Hour)
		w.expectState("retried", job.Succeeded, 2)
		w.expectDepth(normal, 0)
	})
}
