package metrics_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/memory"
)

// countedQueue counts the requests that metrics make.
type countedQueue struct {
	queue.Queue
	asked *atomic.Int64
	down  *atomic.Bool
}

func (q countedQueue) Depth(ctx context.Context) (int, error) {
	q.asked.Add(1)
	if q.down.Load() {
		return 0, taskerr.Errorf(taskerr.TransientStorage, "down")
	}
	return q.Queue.Depth(ctx)
}

func (q countedQueue) Peek(ctx context.Context, n int) ([]queue.Peeked, error) {
	q.asked.Add(1)
	if q.down.Load() {
		return nil, taskerr.Errorf(taskerr.TransientStorage, "down")
	}
	return q.Queue.Peek(ctx, n)
}

func tenantQueues(t *testing.T) engine.Queues {
	t.Helper()
	service := memory.New(memory.Options{})
	t.Cleanup(func() { _ = service.Close() })
	names := task.QueueNames("acme")
	queues := engine.Queues{
		High: service.Queue(names.High), Normal: service.Queue(names.Normal), Low: service.Queue(names.Low),
		DeadLetter: service.Queue(names.DeadLetter),
	}
	for _, q := range []queue.Queue{queues.High, queues.Normal, queues.Low, queues.DeadLetter} {
		if err := q.Ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return queues
}

func send(t *testing.T, q queue.Queue) {
	t.Helper()
	if _, err := q.Send(t.Context(), "a text", queue.SendOptions{}); err != nil {
		t.Fatal(err)
	}
}

// sampled runs f with metrics of queues that count requests.
func sampled(
	t *testing.T, f func(t *testing.T, scrapes func(n int, every time.Duration) int64,
		expects func(want float64, name, queue string), queues engine.Queues, down *atomic.Bool),
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		var down atomic.Bool
		queues := tenantQueues(t)
		counted := queues
		for _, q := range []*queue.Queue{&counted.High, &counted.Normal, &counted.Low, &counted.DeadLetter} {
			*q = countedQueue{*q, &asked, &down}
		}
		m := fresh()
		m.WatchQueues(counted)
		scrapes := func(n int, every time.Duration) int64 {
			before := asked.Load()
			for range n {
				time.Sleep(every)
				scrape(t, m)
			}
			return asked.Load() - before
		}
		expects := func(want float64, name, queue string) {
			t.Helper()
			got, ok := value(scrape(t, m), name, "queue", queue)
			if (want < 0) == ok || ok && got != want {
				t.Errorf("%s of %s is %v (%v), want %v", name, queue, got, ok, want)
			}
		}
		f(t, scrapes, expects, queues, &down)
	})
}

// An idle tenant pays for each value once, then for at most one request per scrape and four per half minute, and for none
// without scrapes.
func TestIdleTenantIsAskedSeldom(t *testing.T) {
	t.Parallel()
	sampled(t, func(t *testing.T, scrapes func(int, time.Duration) int64, expects func(float64, string, string),
		_ engine.Queues, _ *atomic.Bool,
	) {
		if n := scrapes(1, 0); n != 8 {
			t.Errorf("%d requests in the first scrape, want a depth and an age of each queue", n)
		}
		for _, q := range []string{"high", "normal", "low", "deadletter"} {
			expects(0, "async_worker_queue_depth", q)
			expects(0, "async_worker_queue_oldest_age_seconds", q)
		}
		if n := scrapes(60, 15*time.Second); n > 60 {
			t.Errorf("%d requests in 60 scrapes", n)
		}
		if n := scrapes(120, time.Second); n > 4*4 {
			t.Errorf("%d requests in two minutes of scrapes every second", n)
		}
		if n := scrapes(1, 24*time.Hour); n != 1 {
			t.Errorf("%d requests in a day without a scrape", n)
		}
		for _, q := range []string{"high", "normal", "low", "deadletter"} {
			expects(0, "async_worker_queue_depth", q)
			expects(0, "async_worker_queue_oldest_age_seconds", q)
		}
	})
}

// A queue that fills is seen within some scrapes and then sampled at each; dead letters don't make a queue busy.
func TestBusyQueueIsFollowed(t *testing.T) {
	t.Parallel()
	sampled(t, func(t *testing.T, scrapes func(int, time.Duration) int64, expects func(float64, string, string),
		queues engine.Queues, down *atomic.Bool,
	) {
		scrapes(10, 15*time.Second)
		for range 3 {
			send(t, queues.Normal)
		}
		send(t, queues.DeadLetter)
		scrapes(8, 30*time.Second) // at least one sample of each
		expects(3, "async_worker_queue_depth", "normal")
		expects(240, "async_worker_queue_oldest_age_seconds", "normal")
		expects(1, "async_worker_queue_depth", "deadletter")
		if n := scrapes(10, 30*time.Second); n > 10*3 {
			t.Errorf("%d requests in 10 scrapes", n)
		}
		expects(540, "async_worker_queue_oldest_age_seconds", "normal")
		down.Store(true) // a stale value would look current
		scrapes(1, 30*time.Second)
		expects(-1, "async_worker_queue_depth", "normal")
	})
}

// An empty queue that can't be read any more has no age: zero would look as if nothing waited.
func TestEmptyQueueGoesDown(t *testing.T) {
	t.Parallel()
	sampled(t, func(_ *testing.T, scrapes func(int, time.Duration) int64, expects func(float64, string, string),
		_ engine.Queues, down *atomic.Bool,
	) {
		scrapes(10, 30*time.Second)
		expects(0, "async_worker_queue_oldest_age_seconds", "normal")
		down.Store(true)
		scrapes(10, 30*time.Second)
		for _, q := range []string{"high", "normal", "low", "deadletter"} {
			expects(-1, "async_worker_queue_depth", q)
			expects(-1, "async_worker_queue_oldest_age_seconds", q)
		}
		down.Store(false)
		scrapes(10, 30*time.Second)
		expects(0, "async_worker_queue_oldest_age_seconds", "normal")
	})
}
