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
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue/memory"
)

// typed is a handler of another type than "test".
type typed struct {
	handlerFunc
	of task.Type
}

func (h typed) Spec() handlers.Spec {
	s := h.handlerFunc.Spec()
	s.Type = h.of
	return s
}

// typedMessage is a task of a type.
func typedMessage(id string, of task.Type) string {
	return fmt.Sprintf(`{"task_id":%q,"task_type":%q,"payload":{}}`, id, of)
}

// health returns what the engine says of a type.
func (w *world) health(of task.Type) engine.TypeHealth {
	w.Helper()
	for _, t := range w.engine.Health().Types {
		if t.Type == of {
			return t
		}
	}
	w.Fatalf("no task of the type %s has come", of)
	return engine.TypeHealth{}
}

func (w *world) expectLimit(of task.Type, want int) {
	w.Helper()
	if got := w.health(of).Limit; got != want {
		w.Errorf("%d tasks of the type %s may run, want %d", got, of, want)
	}
}

// meter counts how many attempts run at a time.
type meter struct{ runs, now, most atomic.Int32 }

func (m *meter) enter() (leave func()) {
	m.runs.Add(1)
	if n := m.now.Add(1); n > m.most.Load() {
		m.most.Store(n)
	}
	return func() { m.now.Add(-1) }
}

// A spike of failures halves how many tasks of its type run, twice; those of another type keep all slots.
// Waiting for a place costs no attempt, and after the spike the type gets everything back.
func TestLimitHalvesAndRecovers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.MaxAttempts = 1000
		var spike atomic.Bool
		var m meter
		w.startWith(handlerFunc(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			defer m.enter()()
			time.Sleep(time.Second)
			if spike.Load() {
				return handlers.Outcome{}, taskerr.Errorf(taskerr.AIRateLimit, "slow down")
			}
			return done(ctx, c)
		}), typed{func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			time.Sleep(time.Second)
			return done(ctx, c)
		}, "other"})
		spike.Store(true)
		const tasks = 40
		for i := range tasks {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		w.settled(4 * time.Second) // 12 attempts
		w.expectLimit("test", 2)
		w.expectLog("many attempts of a task type fail", "task_type=test", "limit=2 was=4", "error_class=ai_rate_limit",
			"hint=\"raise the rate limit")
		w.settled(time.Minute)
		w.expectLimit("test", 1)

		m.most.Store(0)
		for i := range 20 {
			w.send(w.queues.High, typedMessage(fmt.Sprint("o", i), "other"))
		}
		w.settled(30 * time.Second)
		for i := range 20 {
			w.expectState(fmt.Sprint("o", i), job.Succeeded, 1)
		}
		w.expectLimit("other", 4)
		w.expectLimit("test", 1)
		if m.most.Load() != 1 {
			t.Errorf("%d tasks of the limited type ran at a time", m.most.Load())
		}

		spike.Store(false)
		w.settled(5 * time.Minute)
		w.expectLimit("test", 4)
		w.expectLog("a task type recovers", "limit=4 was=3")
		attempts := 0
		for i := range tasks {
			r := w.row(fmt.Sprint("t", i))
			if attempts += r.Attempts; r.State != job.Succeeded {
				t.Errorf("%s is %s after %d attempts", fmt.Sprint("t", i), r.State, r.Attempts)
			}
		}
		if attempts != int(m.runs.Load()) {
			t.Errorf("%d attempts were counted, %d were made", attempts, m.runs.Load())
		}
		if n := strings.Count(w.logs.String(), "many attempts of a task type fail"); n != 2 {
			t.Errorf("the limit was halved %d times", n)
		}
	})
}

// A limit grows again while nothing comes.
func TestLimitRecoversInQuiet(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(func(context.Context, handlers.Call) (handlers.Outcome, error) {
			return handlers.Outcome{}, context.DeadlineExceeded
		})
		for i := range 20 {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		w.settled(2 * time.Minute)
		w.expectDepth(w.queues.DeadLetter, 20)
		w.expectLog("limit=1 was=2")
		w.settled(5 * time.Minute)
		w.expectLimit("test", 4)
	})
}

// What is not the type's fault halves nothing: bad documents, waiting for another job, a dependency whose
// circuit breaker is open.
func TestLimitIgnoresOtherSamples(t *testing.T) {
	for name, fail := range map[string]func() error{
		"validation_error":    func() error { return taskerr.Errorf(taskerr.ValidationError, "bad") },
		"unsupported_format":  func() error { return taskerr.Errorf(taskerr.UnsupportedFormat, "bad") },
		"content_missing":     func() error { return taskerr.Errorf(taskerr.ContentMissing, "bad") },
		"corruption_detected": func() error { return taskerr.Errorf(taskerr.CorruptionDetected, "bad") },
		"quota_exceeded":      func() error { return taskerr.Errorf(taskerr.QuotaExceeded, "bad") },
		"breaker":             modelDown,
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var runs atomic.Int32
				w.startWith(needing(taskerr.Model, func(context.Context, handlers.Call) (handlers.Outcome, error) {
					runs.Add(1)
					return handlers.Outcome{}, fail()
				}))
				for i := range 40 {
					w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
				}
				w.settled(100 * time.Second)
				if runs.Load() < 10 {
					t.Errorf("%d attempts say nothing", runs.Load())
				}
				if strings.Contains(w.logs.String(), "many attempts") {
					t.Error("the limit was halved")
				}
			})
		})
	}
}

// A long backlog of a type that is at its limit keeps no other type from being found behind it, and is not
// received again and again meanwhile.
func TestLimitStarvesNoOtherType(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.MaxAttempts = 1000
		var counter pollTimes
		w.observer = &counter
		var failed atomic.Int32
		w.startWith(handlerFunc(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if failed.Add(1) <= 30 {
				return handlers.Outcome{}, taskerr.Errorf(taskerr.AIRateLimit, "slow down")
			}
			select {
			case <-time.After(20 * time.Minute):
				return done(ctx, c)
			case <-ctx.Done():
				return handlers.Outcome{}, context.Cause(ctx)
			}
		}), typed{done, "other"})
		for i := range 300 {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		w.settled(5 * time.Second)
		w.expectLimit("test", 1)
		counter.reset()
		w.send(w.queues.Normal, typedMessage("o", "other"))
		w.settled(50 * time.Second)
		w.expectState("o", job.Succeeded, 1)
		if n := counter.most(); n > 3*(4+4) { // three queues, a wait of 250 ms, four ends in a second
			t.Errorf("%d receives in one second", n)
		}
		if n := counter.got.Load(); n > 2*300 {
			t.Errorf("300 messages were received %d times in 50 s", n)
		}
	})
}

// Nor does a very long one on a queue that returns what was hidden before what is new.
func TestLimitStarvesNoOtherTypeInOrder(t *testing.T) {
	gatedWorld(t, func(w *world, up *atomic.Bool, _ *atomic.Int64) {
		up.Store(true)
		w.queues.Normal = memory.New(memory.Options{OldestFirst: true}).Queue(w.queues.Normal.Name())
		if err := w.queues.Normal.Ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.startWith(gated{most: 1, handlerFunc: func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			return work(20*time.Minute, done)(ctx, c)
		}}, typed{done, "other"})
		for i := range 3000 {
			w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
		}
		for i := range 3 {
			w.settled(5 * time.Minute)
			id := fmt.Sprint("o", i)
			w.send(w.queues.Normal, typedMessage(id, "other"))
			w.settled(5 * time.Minute)
			w.expectState(id, job.Succeeded, 1)
		}
	})
}

// pollTimes counts receives by the second.
type pollTimes struct {
	engine.NopObserver
	got atomic.Int64 // messages
	mu  sync.Mutex
	by  map[int64]int
}

func (p *pollTimes) Polled(_ string, _, got int, _ error) {
	p.got.Add(int64(got))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == nil {
		p.by = map[int64]int{}
	}
	p.by[time.Now().Unix()]++
}

func (p *pollTimes) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.by = nil
	p.got.Store(0)
}

func (p *pollTimes) most() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	most := 0
	for _, n := range p.by {
		most = max(most, n)
	}
	return most
}
