package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// slack is how late a loop may be before it counts as stuck: a busy machine is no hang.
	slack = 10 * time.Second
	// turnEvery is how often a loop that waits for something without a time of its own shows that it can still move.
	turnEvery = 10 * time.Second
)

// vitals know by when each loop of an engine has to move again: the poll loop, and the heartbeat of each running
// task. Each says so itself, before whatever it does next, with a bound on how long that takes; a loop that
// deadlocks, or waits for a call that ignores its context, is late then.
type vitals struct {
	mu    sync.Mutex
	loops map[*turning]struct{}
}

// turning is one loop.
type turning struct {
	of   *vitals
	name string
	due  time.Time // monotonic
}

func newVitals() *vitals { return &vitals{loops: map[*turning]struct{}{}} }

// enter begins to watch a loop, which has to call leave at its end.
func (v *vitals) enter(name string) *turning {
	t := &turning{of: v, name: name}
	t.within(0)
	return t
}

// within says that the loop moves, and that it does so again within a time (and slack).
func (t *turning) within(d time.Duration) {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	t.due = time.Now().Add(max(d, 0) + slack)
	t.of.loops[t] = struct{}{}
}

func (t *turning) leave() {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	delete(t.of.loops, t)
}

// StuckError names the loops of an engine that stand still although they should have moved: it has to be
// restarted.
type StuckError struct {
	Loops []StuckLoop // the one that is late for longest first
}

// StuckLoop is a loop that stands still.
type StuckLoop struct {
	Name string    `json:"name"` // the poll loop, or a task's heartbeat
	Due  time.Time `json:"due"`  // when it should have moved at the latest
}

func (e *StuckError) Error() string {
	var said []string
	for _, l := range e.Loops {
		if text := l.Name + " stands still"; !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	return fmt.Sprintf("engine: %s", strings.Join(said, ", "))
}

// stuck lists the loops that are late.
func (v *vitals) stuck() []StuckLoop {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	var late []StuckLoop
	for t := range v.loops {
		if now.After(t.due) {
			late = append(late, StuckLoop{Name: t.name, Due: t.due})
		}
	}
	slices.SortFunc(late, func(a, b StuckLoop) int { return a.Due.Compare(b.Due) })
	return late
}

// Alive says whether the engine moves: nil, or a *StuckError. An engine that is not running, waits for a slot or
// for an outage to end, or drains, is alive. It is cheap, and may be called at any time.
func (e *Engine) Alive() error {
	if late := e.vitals.stuck(); len(late) > 0 {
		return &StuckError{late}
	}
	return nil
}
