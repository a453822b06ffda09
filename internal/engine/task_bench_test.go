package engine_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/store"
	storememory "github.com/seed-7227ef26/async-worker/internal/store/memory"
	"github.com/seed-7227ef26/async-worker/queue"
)

// BenchmarkTask is what the engine itself costs for a task that does nothing: neither its queue nor its store works.
func BenchmarkTask(b *testing.B) {
	b.ReportAllocs()
	before := cpuTime(b)
	runTasks(b, b.N)
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
}

// cpuTime is the CPU time of this process: on a busy machine it says more than the time that passes.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// runTasks lets an engine do n tasks that do nothing.
func runTasks(tb testing.TB, n int) {
	tb.Helper()
	full := &benchQueue{name: "normal", total: int64(n), ended: make(chan struct{})}
	empty := &benchQueue{name: "other"}
	registry, err := handlers.NewRegistry(handlerFunc(
		func(_ context.Context, c handlers.Call) (handlers.Outcome, error) {
			return handlers.Outcome{Result: map[string]any{}}, c.Progress.Stage("first")
		}))
	if err != nil {
		tb.Fatal(err)
	}
	e, err := engine.New(engine.Config{
		ClientID: "acme", Worker: "w1", Concurrency: 32, Lease: time.Minute, PollMin: 100 * time.Millisecond,
		PollMax: 10 * time.Second, TaskTimeout: time.Minute, DrainMax: time.Minute,
	}, engine.Deps{
		Queues: engine.Queues{High: empty, Normal: full, Low: empty, DeadLetter: empty}, Store: benchJobs{storememory.New()},
		Handlers: registry, Log: slog.New(slog.NewJSONHandler(io.Discard, nil)),
	})
	if err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(tb.Context())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = e.Run(ctx) // always nil
	}()
	<-full.ended
	stop()
	<-stopped
}

// benchQueue hands out messages that nobody has to keep.
type benchQueue struct {
	name                 string
	total, sent, deleted int64 // sent is the poll loop's
	ended                chan struct{}
}

func (q *benchQueue) Name() string                                              { return q.name }
func (q *benchQueue) Ensure(context.Context) error                              { return nil }
func (q *benchQueue) Depth(context.Context) (int, error)                        { return 0, nil }
func (q *benchQueue) Peek(context.Context, int) (found []queue.Peeked, _ error) { return found, nil }

func (q *benchQueue) Send(context.Context, string, queue.SendOptions) (string, error) {
	return "", nil
}

func (q *benchQueue) Receive(_ context.Context, n int, visibility time.Duration) (got []*queue.Message, _ error) {
	for now := time.Now(); q.sent < q.total && len(got) < min(n, queue.MaxBatch); q.sent++ {
		id := fmt.Sprint("task-", q.sent)
		text := fmt.Sprintf(`{"task_id":"%s","task_type":"test","payload":{"i":%d}}`, id, q.sent)
		got = append(got, &queue.Message{
			Peeked: queue.Peeked{ID: id, Text: text, DequeueCount: 1, InsertedAt: now},
			Lease:  benchLease{q, now.Add(visibility)},
		})
	}
	return got, nil
}

type benchLease struct {
	of    *benchQueue
	until time.Time
}

func (l benchLease) Extend(context.Context, time.Duration) error  { return nil }
func (l benchLease) Release(context.Context, time.Duration) error { return nil }
func (l benchLease) Deadline() time.Time                          { return l.until }

func (l benchLease) Delete(context.Context) error {
	if atomic.AddInt64(&l.of.deleted, 1) == l.of.total {
		close(l.of.ended)
	}
	return nil
}

// benchJobs lets each job run once, and records nothing.
type benchJobs struct{ store.Jobs }

func (benchJobs) Begin(context.Context, store.Begin) (store.BeginAnswer, error) {
	return store.BeginAnswer{Decision: store.Run, Fence: 1, Attempt: 1, MaxAttempts: 3, First: true}, nil
}

func (benchJobs) Complete(context.Context, store.Completion) (store.Settlement, error) {
	return store.Settlement{State: "succeeded"}, nil
}
