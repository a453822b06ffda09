package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/queue"
)

// flood is a queue of high that never runs out.
type flood struct {
	queue.Queue
	sent  int
	dry   atomic.Bool
	asked atomic.Int64
}

func (f *flood) Receive(ctx context.Context, n int, d time.Duration) ([]*queue.Message, error) {
	f.asked.Add(1)
	for range n {
		if f.dry.Load() {
			break
		}
		f.sent++
		if _, err := f.Send(ctx, message(fmt.Sprint("high.", f.sent), ""), queue.SendOptions{}); err != nil {
			return nil, err
		}
	}
	return f.Queue.Receive(ctx, n, d)
}

// underFlood is a worker under a permanent flood of high, and what became of the messages of normal.
type underFlood struct {
	*world
	task time.Duration

	mu        sync.Mutex
	sent      map[string]time.Time
	waits     map[string]time.Duration
	now, most int           // tasks of normal at a time
	high, all time.Duration // slots' time that high had, and that all had
}

func newFlood(w *world, task time.Duration) *underFlood {
	w.queues.High = &flood{Queue: w.queues.High}
	return &underFlood{world: w, task: task, sent: map[string]time.Time{}, waits: map[string]time.Duration{}}
}

func (u *underFlood) handle(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
	normal := !strings.HasPrefix(c.Task.ID, "high.")
	u.mu.Lock()
	if normal {
		u.now++
		u.most = max(u.most, u.now)
		u.waits[c.Task.ID] = time.Since(u.sent[c.Task.ID])
	}
	u.mu.Unlock()
	time.Sleep(u.task)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.all += u.task
	if normal {
		u.now--
	} else {
		u.high += u.task
	}
	return done(ctx, c)
}

func (u *underFlood) sendNormal(n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for range n {
		id := fmt.Sprint("normal.", len(u.sent))
		u.sent[id] = time.Now()
		u.send(u.queues.Normal, message(id, ""))
	}
}

// bound is what the doc comment of fill promises for a message with n others before it.
func (u *underFlood) bound(n int) time.Duration {
	length := u.task + 20*time.Millisecond // with the time for which slots are collected
	b := 15*time.Second + 2*length
	switch half := u.cfg.Concurrency / 2; {
	case n == 0:
		return b
	case half == 0:
		return b + 30*time.Second + time.Duration(2*n)*length
	default:
		return b + 30*time.Second + time.Duration((n+half-1)/half)*length
	}
}

// expect checks that all messages of normal were started within their bound, and that high kept half.
func (u *underFlood) expect(bound func(i int) time.Duration) {
	u.Helper()
	u.mu.Lock()
	defer u.mu.Unlock()
	n := len(u.sent)
	if len(u.waits) != n {
		u.Errorf("%d of %d messages of normal were started", len(u.waits), n)
	}
	var worst time.Duration
	for i := range n {
		wait := u.waits[fmt.Sprint("normal.", i)]
		worst = max(worst, wait)
		if wait > bound(i) {
			u.Errorf("message %d waited %v, more than %v", i, wait, bound(i))
		}
	}
	if u.most > max(1, u.cfg.Concurrency/2) || 2*u.high < u.all {
		u.Errorf("normal had up to %d of %d slots, high %.0f %% of the time", u.most, u.cfg.Concurrency,
			100*float64(u.high)/float64(u.all))
	}
	u.Logf("the worst wait is %v, the bound of the last %v; high had %.0f %% of the slots' time",
		worst.Round(time.Millisecond), bound(n-1), 100*float64(u.high)/float64(u.all))
}

func floods(t *testing.T, f func(u *underFlood)) {
	for _, concurrency := range []int{1, 4, 32} {
		for _, task := range []time.Duration{
			500 * time.Millisecond, 3 * time.Second, 20 * time.Second,
			2 * time.Minute,
		} {
			if concurrency*int(time.Second/task) > 30 {
				continue // too many jobs for a test
			}
			t.Run(fmt.Sprintf("concurrency %d, tasks of %v", concurrency, task), func(t *testing.T) {
				inWorld(t, func(w *world) {
					w.cfg.Concurrency = concurrency
					f(newFlood(w, task))
				})
			})
		}
	}
}

// A message of normal is begun, whenever it comes.
func TestFloodOfHighLetsOneNormalPass(t *testing.T) {
	floods(t, func(u *underFlood) {
		u.start(u.handle)
		for range 4 {
			u.settled(time.Duration(rand.Int64N(int64(15*time.Second + 2*u.task))))
			u.sendNormal(1)
			u.settled(u.bound(0) + u.task)
		}
		u.expect(func(int) time.Duration { return u.bound(0) })
	})
}

// A backlog of normal gets at most half of the slots until it is worked off.
func TestFloodOfHighSharesWithABacklog(t *testing.T) {
	const backlog = 50
	floods(t, func(u *underFlood) {
		u.start(u.handle)
		u.settled(time.Duration(rand.Int64N(int64(20 * time.Second))))
		u.sendNormal(backlog)
		u.settled(u.bound(backlog-1) + u.task)
		u.expect(u.bound)
	})
}

// Once high has an end, normal gets all slots; without a backlog of normal high gets them all.
func TestNormalGivesTurnsBack(t *testing.T) {
	inWorld(t, func(w *world) {
		u := newFlood(w, time.Second)
		u.start(u.handle)
		u.settled(time.Second)
		u.sendNormal(40)
		u.settled(u.bound(39))
		u.expect(u.bound)
		u.mu.Lock()
		u.high, u.all = 0, 0
		u.mu.Unlock()
		u.settled(time.Minute)
		u.mu.Lock()
		if u.high != u.all {
			t.Errorf("high had %v of %v", u.high, u.all)
		}
		u.waits, u.most = map[string]time.Duration{}, 0
		u.mu.Unlock()
		u.queues.High.(*flood).dry.Store(true)
		u.settled(10 * time.Second)
		for i := range 8 {
			id := fmt.Sprint("again.", i)
			u.send(u.queues.Normal, message(id, ""))
		}
		u.settled(10 * time.Second)
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.most != u.cfg.Concurrency {
			t.Errorf("normal had %d slots of %d free ones", u.most, u.cfg.Concurrency)
		}
	})
}
