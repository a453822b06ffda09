package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
)

// refusal says why a message is not begun now, and how long it is hidden. It costs no attempt (I9).
type refusal struct {
	why  string
	wait time.Duration
	down job.Dependency // what it waits for; empty: nothing
}

// admit lets an attempt begin when its type is below its limit and all that it needs is up. leave gives its
// place back.
func (e *Engine) admit(ctx context.Context, a *attempt) (leave func(), no *refusal) {
	t := a.task.Type
	if wait := e.limits.enter(t); wait > 0 {
		e.door.refused()
		return nil, &refusal{why: "as many tasks of its type are running as may now", wait: wait}
	}
	if down, wait := e.breakers.enter(ctx, a); down != "" {
		e.limits.leave(t)
		e.door.refused()
		return nil, &refusal{fmt.Sprintf("the %s, which it needs, is down", down), wait, down}
	}
	e.door.admitted()
	return func() {
		e.breakers.leave(a, a.spec.Needs)
		e.limits.leave(t)
	}, nil
}

// door slows polling down while all that is received is turned away. It never stops it: there may be tasks
// of other types behind.
type door struct {
	least, most time.Duration

	mu      sync.Mutex
	in, out int // messages admitted and refused since the last look
	wait    time.Duration
}

// doorMost bounds the wait between two polls whose messages are turned away, unless Config.PollMin is longer.
const doorMost = 250 * time.Millisecond

func newDoor(least time.Duration) *door { return &door{least: least, most: max(least, doorMost)} }

// bound changes the shortest wait.
func (d *door) bound(least time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.least, d.most = least, max(least, doorMost)
}

func (d *door) admitted() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.in++
}

func (d *door) refused() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.out++
}

// now is how long polling should wait at least. It is asked once a poll.
func (d *door) now() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.in > 0:
		d.wait = 0
	case d.out > 0:
		d.wait = min(max(2*d.wait, d.least), d.most)
	}
	d.in, d.out = 0, 0
	return d.wait
}
