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
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

// idleRequestsAMonth is what the README promises of a tenant without tasks, with the default settings.
const idleRequestsAMonth = 260_000

// requestCounter counts receives.
type requestCounter struct {
	engine.NopObserver
	polls atomic.Int64
}

func (c *requestCounter) Polled(string, int, int, error) { c.polls.Add(1) }

// An idle tenant costs what is documented: five simulated days, taken for a month of 30.
func TestIdleTenantCostsLittle(t *testing.T) {
	inWorld(t, func(w *world) {
		counter := &requestCounter{}
		w.observer = counter
		w.start(done)
		w.settled(5 * 24 * time.Hour)
		month := 6 * counter.polls.Load()
		t.Logf("%d requests a day, %d a month", counter.polls.Load()/5, month)
		if month > idleRequestsAMonth {
			t.Errorf("an idle tenant makes %d requests a month, more than the promised %d", month, idleRequestsAMonth)
		}
	})
}

// The longest waits of a message that a sender puts on a queue of a tenant that is idle: PollMax and its jitter, times
// the looks at other queues before the one at this.
const (
	idleWaitUsed   = 2 * 11 * time.Second
	idleWaitUnused = 7 * 11 * time.Second
)

// order notes the order of tasks.
type order struct {
	mu  sync.Mutex
	ids []string
}

func (o *order) do(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
	o.mu.Lock()
	o.ids = append(o.ids, c.Task.ID)
	o.mu.Unlock()
	return done(ctx, c)
}

// since returns the tasks since it was last called.
func (o *order) since() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	ids := strings.Join(o.ids, " ")
	o.ids = nil
	return ids
}

// A message on any queue of an idle worker is found, that on the normal queue within two looks.
func TestIdleWorkerLooksAtEveryQueue(t *testing.T) {
	inWorld(t, func(w *world) {
		var o order
		w.cfg.Concurrency = 1
		w.start(o.do)
		for i := range 25 { // at changing places in the turn of the queues
			for q, within := range map[queue.Queue]time.Duration{
				w.queues.Normal: idleWaitUsed, w.queues.High: idleWaitUnused, w.queues.Low: idleWaitUnused,
			} {
				w.settled(2*time.Hour + time.Duration(i)*time.Second)
				o.since()
				w.send(q, message(fmt.Sprint(q.Name(), i), ""))
				w.settled(within)
				if o.since() == "" {
					t.Errorf("%d: the message on %s was not found within %v", i, q.Name(), within)
				}
			}
		}
	})
}

// The look at one queue does not change the order: it finds a message of low, and high goes first.
func TestIdleWorkerKeepsTheOrder(t *testing.T) {
	inWorld(t, func(w *world) {
		var o order
		w.cfg.Concurrency = 1
		w.start(o.do)
		for i := range 12 {
			o.since()
			w.settled(2*time.Hour + time.Duration(i)*time.Second)
			for p, q := range map[task.Priority]queue.Queue{"low": w.queues.Low, "high": w.queues.High, "normal": w.queues.Normal} {
				w.send(q, message(fmt.Sprint(p, ".", i), ""))
			}
			w.settled(10 * time.Minute)
			if got := o.since(); got != fmt.Sprintf("high.%d normal.%[1]d low.%[1]d", i) {
				t.Errorf("the order is %s", got)
			}
		}
	})
}

// A wake makes an idle worker ask all queues at once.
func TestWakeAsksAllQueues(t *testing.T) {
	inWorld(t, func(w *world) {
		var o order
		w.start(o.do)
		for _, q := range []queue.Queue{w.queues.Low, w.queues.High, w.queues.Normal} {
			w.settled(2 * time.Hour)
			o.since()
			w.send(q, message(q.Name(), ""))
			w.engine.Wake()
			w.settled(time.Millisecond)
			if o.since() == "" {
				t.Errorf("the message on %s was not taken at once", q.Name())
			}
		}
	})
}

// deaf is a queue that can't be looked at.
type deaf struct{ queue.Queue }

func (deaf) Peek(context.Context, int) ([]queue.Peeked, error) { return nil, queue.ErrDenied }

// Without the right to look, the worker receives, as if requests cost nothing.
func TestQueuesThatCannotBePeekedAreReceivedFrom(t *testing.T) {
	inWorld(t, func(w *world) {
		var o order
		w.queues.High, w.queues.Normal, w.queues.Low = deaf{w.queues.High}, deaf{w.queues.Normal}, deaf{w.queues.Low}
		w.start(o.do)
		for _, q := range []queue.Queue{w.queues.Low, w.queues.High, w.queues.Normal} {
			w.settled(2 * time.Hour)
			o.since()
			w.send(q, message(q.Name(), ""))
			w.settled(11 * time.Second)
			if o.since() == "" {
				t.Errorf("the message on %s was not taken within POLL_MAX", q.Name())
			}
		}
	})
}
