package retry

import (
	"context"
	"sync"
	"time"
)

// WithLimit returns a context that ends, with the cause, when what runs in it has taken d. The time of Waiting doesn't count:
// only the parent bounds it. The deadline of the context is the one that holds if nothing waits any more.
func WithLimit(parent context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	c := &clock{left: d, since: time.Now(), alarm: time.AfterFunc(d, func() { cancel(cause) })}
	return limited{ctx, c}, func() {
		c.end()
		cancel(context.Canceled)
	}
}

// Waiting stops the clock of WithLimit, if ctx has one, while the caller waits for its turn: for what others use, not for an
// answer to its own work. over, which must be called, continues it.
func Waiting(ctx context.Context) (over func()) {
	c, ok := ctx.Value(clockKey{}).(*clock)
	if !ok {
		return func() {}
	}
	c.stop()
	return sync.OnceFunc(c.run)
}

type clockKey struct{}

// clock is what is left of a limit.
type clock struct {
	mu    sync.Mutex
	left  time.Duration // at since, or now if it stands
	since time.Time     // when it was started
	waits int           // it stands while there are any
	ended bool
	alarm *time.Timer
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits++; c.waits == 1 {
		c.alarm.Stop()
		c.left -= time.Since(c.since)
	}
}

func (c *clock) run() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits--; c.waits == 0 && !c.ended {
		c.since = time.Now()
		c.alarm.Reset(max(c.left, 0))
	}
}

func (c *clock) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.alarm.Stop()
}

func (c *clock) deadline() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits > 0 {
		return time.Now().Add(c.left)
	}
	return c.since.Add(c.left)
}

// limited is a context with a clock.
type limited struct {
	context.Context //nolint:containedctx // it is one
	clock           *clock
}

func (l limited) Deadline() (time.Time, bool) {
	own := l.clock.deadline()
	if outer, ok := l.Context.Deadline(); ok && outer.Before(own) {
		return outer, true
	}
	return own, true
}

func (l limited) Value(key any) any {
	if key == (clockKey{}) {
		return l.clock
	}
	return l.Context.Value(key)
}
