package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	record "github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// begun is a task that a worker began which is lost, and its message with it.
func (w *world) begun(text string, maxAttempts int) store.Holder {
	return w.begunFrom("gone", text, maxAttempts)
}

func (w *world) begunFrom(messageID, text string, maxAttempts int) store.Holder {
	w.Helper()
	decoded, err := task.Decode(text, task.Options{ClientID: "acme"})
	if err != nil {
		w.Fatal(err)
	}
	t := decoded.Task
	begun, err := w.store.Begin(w.Context(), store.Begin{
		Task: record.Record(t, maxAttempts), Force: t.Hints.Force, Worker: "lost", Lease: time.Minute, Original: text,
		Source: store.Source{Queue: w.queues.Normal.Name(), MessageID: messageID, InsertedAt: time.Now()},
	})
	if err != nil || begun.Decision != store.Run {
		w.Fatalf("begin: %+v, %v", begun, err)
	}
	return store.Holder{JobID: t.ID, Fence: begun.Fence}
}

// sends counts the messages that are put on the queues of tasks.
type sends struct {
	queue.Queue
	mu    *sync.Mutex // workers send at once
	texts *[]string
}

func (q sends) Send(ctx context.Context, text string, o queue.SendOptions) (string, error) {
	q.mu.Lock()
	*q.texts = append(*q.texts, text)
	q.mu.Unlock()
	return q.Queue.Send(ctx, text, o)
}

func (w *world) watchSends() *[]string {
	mu, texts := new(sync.Mutex), []string{}
	w.queues.High, w.queues.Normal, w.queues.Low = sends{w.queues.High, mu, &texts}, sends{w.queues.Normal, mu, &texts},
		sends{w.queues.Low, mu, &texts}
	return &texts
}

const fullMessage = `{"task_id":"t1","task_type":"test","payload":{"n":1.50,"s":"\u00e4"},"hints":{"force":true,"timeout_seconds":70},
	"priority":"low","webhook_url":"https://example.com/hook","requested_by":"anna",
	"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}`

// A job whose worker and message are lost is done by another worker, once, with all that its message said (I1).
func TestLostMessageIsSentAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		texts := w.watchSends()
		var got atomic.Pointer[handlers.Call]
		w.begun(fullMessage, 3)
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			got.Store(&c)
			return done(ctx, c)
		})
		w.settled(9 * time.Minute)
		w.expectState("t1", job.Running, 1) // too early: its message could still come
		w.settled(12 * time.Minute)
		w.expectState("t1", job.Succeeded, 2)
		if len(*texts) != 1 {
			t.Fatalf("%d messages were sent, want one: %v", len(*texts), *texts)
		}
		want, err := task.Decode(fullMessage, task.Options{ClientID: "acme"})
		if err != nil {
			t.Fatal(err)
		}
		c, r := got.Load(), w.row("t1")
		if c.Task.Hints.Force || c.Task.Hints.Timeout != 70*time.Second || c.Task.Priority != task.PriorityLow ||
			c.Task.WebhookURL != want.Task.WebhookURL || c.Task.RequestedBy != "anna" ||
			c.Task.TraceParent != want.Task.TraceParent ||
			task.Fingerprint(c.Task) != task.Fingerprint(want.Task) {
			t.Errorf("the task is %+v", c.Task)
		}
		events := fmt.Sprintf("%+v", r.Events)
		if r.Commits != 1 || !strings.Contains(events, "worker_lost") || !strings.Contains(events, "sent again") {
			t.Errorf("%d commits, events %s", r.Commits, events)
		}
		w.settled(24 * time.Hour)
		if len(*texts) != 1 || w.row("t1").Series != 1 {
			t.Errorf("%d messages, series %d", len(*texts), w.row("t1").Series)
		}
		w.expectDepth(w.queues.Low, 0)
	})
}

// So is the message of a job that the database has recorded itself (aw_enqueue), which leaves its fingerprint to begin.
func TestLostMessageOfAnEnqueuedJob(t *testing.T) {
	inWorld(t, func(w *world) {
		decoded, err := task.Decode(message("t1", ""), task.Options{ClientID: "acme"})
		if err != nil {
			t.Fatal(err)
		}
		recorded := record.Record(decoded.Task, 3)
		recorded.Fingerprint = ""
		if _, err := w.store.Submit(t.Context(), store.Submission{
			Task: recorded, Queue: w.queues.Normal.Name(), Message: message("t1", ""),
		}); err != nil {
			t.Fatal(err)
		}
		if err := w.store.MarkSent(t.Context(), "t1", message("t1", "")); err != nil { // and is lost
			t.Fatal(err)
		}
		w.start(done)
		w.settled(25 * time.Hour)
		w.expectState("t1", job.Succeeded, 1)
		w.expectDepth(w.queues.Normal, 0)
	})
}

// Without an attempt left it is a dead letter, once.
func TestLostForGood(t *testing.T) {
	inWorld(t, func(w *world) {
		w.begun(message("t1", ""), 1)
		w.start(func(context.Context, handlers.Call) (handlers.Outcome, error) {
			t.Error("the handler ran")
			return handlers.Outcome{}, nil
		})
		w.settled(24 * time.Hour)
		w.expectState("t1", job.Failed, 1)
		if env := w.expectBuried("worker_lost"); env.ErrorClass != string(taskerr.WorkerLost) ||
			!strings.Contains(env.Original, `"t1"`) {
			t.Errorf("the envelope is %+v", env)
		}
		w.expectDepth(w.queues.Normal, 0)
	})
}

// So are a retry and a job that was given back, when their messages are lost.
func TestLostWhileWaiting(t *testing.T) {
	inWorld(t, func(w *world) {
		retried := w.begun(message("retried", ""), 3)
		if _, err := w.store.Retry(t.Context(), store.Retry{Holder: retried, After: 30 * time.Second}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.store.Release(t.Context(),
			store.Release{Holder: w.begun(message("released", ""), 3)}); err != nil {
			t.Fatal(err)
		}
		w.start(done)
		w.settled(30 * time.Minute)
		w.expectState("retried", job.Succeeded, 2)
		w.expectState("released", job.Succeeded, 1)
	})
}

// Two workers send it once, also when there are more than a sweep takes at a time.
func TestTwoSweeps(t *testing.T) {
	inWorld(t, func(w *world) {
		texts := w.watchSends()
		for i := range 2 * 50 {
			w.begun(message(fmt.Sprint("t", i), ""), 3)
		}
		w.start(done)
		other := *w
		other.cfg.Worker = "w2"
		other.start(done)
		defer other.shutdown()
		w.settled(time.Hour)
		for i := range 2 * 50 {
			w.expectState(fmt.Sprint("t", i), job.Succeeded, 1)
		}
		if len(*texts) != 100 {
			t.Errorf("%d messages of 100 jobs", len(*texts))
		}
	})
}

// A message that was only waiting in a long queue does its job once, and so does the one sent beside it (I2).
func TestBacklogDuplicates(t *testing.T) {
	for _, text := range []string{message("t1", ""), fullMessage} {
		inWorld(t, func(w *world) {
			var runs atomic.Int32
			id, err := w.queues.Normal.Send(t.Context(), text, queue.SendOptions{Delay: 3 * time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			h := w.begunFrom(id, text, 3)
			if _, err := w.store.Retry(t.Context(), store.Retry{Holder: h}); err != nil {
				t.Fatal(err)
			}
			w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
				runs.Add(1)
				time.Sleep(20 * time.Second)
				return done(ctx, c)
			})
			w.settled(10 * time.Hour)
			w.expectState("t1", job.Succeeded, 2)
			if r := w.row("t1"); r.Commits != 1 || runs.Load() != 1 || r.Series != 1 {
				t.Errorf("%d runs, %d commits", runs.Load(), r.Commits)
			}
			w.expectDepth(w.queues.Normal, 0)
			w.expectDepth(w.queues.Low, 0)
		})
	}
}

// What would be refused is left alone: it makes no dead letter each hour.
func TestSweepSendsNothingRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		texts := w.watchSends()
		w.begun(message("refused", `,"refuse":true`), 3)
		w.begun(strings.Replace(message("unknown", ""), `"test"`, `"other"`, 1), 3)
		w.begun(message("good", ""), 3)
		w.start(done)
		w.settled(6 * time.Hour)
		w.expectState("good", job.Succeeded, 1) // others were lost with it
		w.expectState("refused", job.Running, 1)
		w.expectDepth(w.queues.DeadLetter, 0)
		if len(*texts) != 1 {
			t.Errorf("sent %v", *texts)
		}
	})
}

// missing is a queue that somebody deleted.
type missing struct {
	queue.Queue
	there *atomic.Bool
}

func (q missing) Ensure(ctx context.Context) error {
	q.there.Store(true)
	return q.Queue.Ensure(ctx)
}

func (q missing) Send(ctx context.Context, text string, o queue.SendOptions) (string, error) {
	if !q.there.Load() {
		return "", queue.ErrNotFound
	}
	return q.Queue.Send(ctx, text, o)
}

// The queue may be what was lost.
func TestSweepMakesTheQueue(t *testing.T) {
	inWorld(t, func(w *world) {
		w.queues.Normal = missing{w.queues.Normal, new(atomic.Bool)}
		w.begun(message("t1", ""), 3)
		w.start(done)
		w.settled(30 * time.Minute)
		w.expectState("t1", job.Succeeded, 2)
	})
}

// Each call of a worker that finds a lost job fails once, in each way; another worker comes later. The job is
// done, once (I1, I2).
func TestEveryCallOfTheSweepFails(t *testing.T) {
	live := func(w *world, g *gate) {
		w.begun(message("t1", ""), 3)
		pass := w.behind(g)
		w.start(done)
		pass()
		first := *w
		defer first.shutdown()
		w.stop = nil
		w.settled(25 * time.Minute)
		w.cfg.Worker = "w2"
		w.start(done)
		w.settled(time.Hour)
		w.expectInvariants()
		w.expectState("t1", job.Succeeded, w.row("t1").Attempts)
	}
	clean := &gate{}
	inWorld(t, func(w *world) { live(w, clean) })
	runs := 0
	for at, name := range clean.calls {
		if name == "receive" || (name == "sweep" && runs > 100) {
			continue
		}
		for _, f := range faults {
			runs++
			t.Run(fmt.Sprintf("%s at call %d %s", f, at+1, name), func(t *testing.T) {
				inWorld(t, func(w *world) { live(w, &gate{at: at + 1, what: f}) })
			})
		}
	}
	t.Logf("%d runs", runs)
}

// unsent records tasks whose messages could not be sent.
func (w *world) unsent(n int, name string, p task.Priority) {
	w.Helper()
	down := engine.Queues{High: unsendable{w.queues.High}, Normal: unsendable{w.queues.Normal}, Low: unsendable{w.queues.Low}}
	submitter := engine.Submitter{Store: w.store, Queues: down, MaxAttempts: func(task.Type) int { return 3 }}
	for i := range n {
		if _, err := submitter.Submit(w.Context(), task.Task{
			ID: fmt.Sprint(name, i), Type: "test", Payload: []byte(`{}`), Priority: p,
		}); !errors.Is(err, errDown) {
			w.Fatalf("submit: %v", err)
		}
	}
}

// What was recorded while a queue was down is sent by the next sweep, however much it is.
func TestManyUnsentAreSent(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(done)
		w.settled(time.Minute)
		w.unsent(170, "t", task.PriorityNormal)
		w.settled(10 * time.Minute)
		for i := range 170 {
			w.expectState(fmt.Sprint("t", i), job.Succeeded, 1)
		}
	})
}

// A queue that refuses messages holds up none that is for another queue, and is asked for a batch in each sweep.
func TestRefusingQueueHoldsUpNoOther(t *testing.T) {
	inWorld(t, func(w *world) {
		w.unsent(120, "low", task.PriorityLow)
		w.unsent(1, "normal", task.PriorityNormal)
		low := &refusing{Queue: w.queues.Low}
		w.queues.Low = low
		w.start(done)
		w.settled(10 * time.Minute)
		w.expectState("normal0", job.Succeeded, 1)
		if n := low.sends.Load(); n == 0 || n > 3*50 {
			t.Errorf("the queue was asked %d times in 10 minutes", n)
		}
	})
}

// Rows that name a queue of nobody hold up no other, and don't keep the sweep busy.
func TestUnknownQueueHoldsUpNoOther(t *testing.T) {
	inWorld(t, func(w *world) {
		for i := range 120 {
			if _, err := w.store.Submit(w.Context(), store.Submission{
				Task: store.Task{JobID: fmt.Sprint("odd", i), Type: "test", MaxAttempts: 3, Payload: []byte("{}")}, Queue: "other-tasks", Message: "x",
			}); err != nil {
				t.Fatal(err)
			}
		}
		w.unsent(1, "normal", task.PriorityNormal)
		w.start(done)
		w.settled(10 * time.Minute)
		w.expectState("normal0", job.Succeeded, 1)
	})
}

// refusing is a queue that takes no message.
type refusing struct {
	queue.Queue
	sends atomic.Int64
}

func (q *refusing) Send(context.Context, string, queue.SendOptions) (string, error) {
	q.sends.Add(1)
	return "", errDown
}
