package simulation

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// line connects one process with the back ends: all its calls go through carry.
type line struct {
	w    *world
	name string

	mu      sync.Mutex
	nth     map[string]uint64 // calls, by what is called on what
	left    int               // calls until the process ends; 0: any number
	faulted bool              // it has met a fault
	gone    chan struct{}     // closed when the process ends
	frozen  chan struct{}     // closed when it continues; nil: it is not stopped

	busy  int // tasks that run
	slots int // tasks that may run; 0: it runs none
	lease time.Duration
}

func (w *world) line(name string) *line {
	l := &line{w: w, name: name, nth: map[string]uint64{}, gone: make(chan struct{})}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines[name] = l
	return l
}

// crash ends the process: none of its calls reaches a back end any more.
func (l *line) crash() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faulted = true
	if !l.dead() {
		close(l.gone)
	}
}

func (l *line) dead() bool {
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}

// pause stops the process for a while, as SIGSTOP does: its calls and their answers wait.
func (l *line) pause(d time.Duration) {
	l.mu.Lock()
	if l.frozen != nil || l.dead() {
		l.mu.Unlock()
		return
	}
	l.faulted = true
	resume := make(chan struct{})
	l.frozen = resume
	l.mu.Unlock()
	l.w.note(l.name, "", "stopped", none, nil)
	l.w.tally.add(&l.w.tally.faults, "pause")
	_ = l.hang(context.Background(), d)
	l.mu.Lock()
	l.frozen = nil
	l.mu.Unlock()
	l.w.note(l.name, "", "goes on", none, nil)
	close(resume)
}

// maybePause may stop the process during a task that takes a while.
func (l *line) maybePause(id string, take time.Duration) {
	l.mu.Lock()
	l.nth["stumble "+id]++
	d := drawer{rand.New(rand.NewPCG(l.w.seed^hashed(l.name), hashed("stumble "+id)+l.nth["stumble "+id]))}
	l.mu.Unlock()
	if time.Since(l.w.began) >= l.w.plan.active || !d.chance(l.w.plan.zombies) {
		return
	}
	go func() {
		if l.hang(context.Background(), d.between(0, take)) == nil && time.Since(l.w.began) < l.w.plan.active {
			l.pause(d.between(l.lease/2, 4*l.lease))
		}
	}()
}

// thaw waits while the process is stopped, and reports whether it was.
func (l *line) thaw() (was bool) {
	for {
		l.mu.Lock()
		frozen := l.frozen
		l.mu.Unlock()
		if frozen == nil {
			return was
		}
		was = true
		select {
		case <-frozen:
		case <-l.gone:
			return was
		}
	}
}

// metFault reports whether the process met a fault that excuses a lost attempt.
func (l *line) metFault() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.faulted
}

// enter and leave count the tasks that run.
func (l *line) enter() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy++
	if l.busy > l.slots {
		l.w.violated("", "%d tasks run in %d slots of %s", l.busy, l.slots, l.name)
	}
}

func (l *line) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy--
}
