package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// slack is how late a loop may report before it counts as stuck: a busy machine is not a hang.
	slack = 10 * time.Second
	// reportEvery is how often a loop reports while it waits without a deadline.
	reportEvery = 10 * time.Second
)

// watchdog records when each loop of the engine has to report again: the poll loop, and the heartbeat of each running
// task. A loop announces before each step how long it may take. One that deadlocks, or waits for a call that ignores
// its context, is late.
type watchdog struct {
	mu    sync.Mutex
	loops map[*section]struct{}
}

// section is one watched loop.
type section struct {
	of   *watchdog
	name string
	due  time.Time // monotonic
}

func newWatchdog() *watchdog { return &watchdog{loops: map[*section]struct{}{}} }

// enter starts to watch a loop, which has to call leave when it ends.
func (w *watchdog) enter(name string) *section {
	s := &section{of: w, name: name}
	s.within(0)
	return s
}

// within reports that the loop is alive and will report again within d (and slack).
func (s *section) within(d time.Duration) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.due = time.Now().Add(max(d, 0) + slack)
	s.of.loops[s] = struct{}{}
}

func (s *section) leave() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	delete(s.of.loops, s)
}

// StuckError names the hanging loops of an engine. The worker has to be restarted.
type StuckError struct {
	Loops []StuckLoop // the latest first
}

// StuckLoop is a loop that hangs.
type StuckLoop struct {
	Name string    `json:"name"` // the poll loop, or a task's heartbeat
	Due  time.Time `json:"due"`  // when it should have reported
}

func (e *StuckError) Error() string {
	var said []string
	for _, l := range e.Loops {
		if text := l.Name + " is stuck"; !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	return fmt.Sprintf("engine: %s", strings.Join(said, ", "))
}

// stuck lists the loops that are late.
func (w *watchdog) stuck() []StuckLoop {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	var late []StuckLoop
	for t := range w.loops {
		if now.After(t.due) {
			late = append(late, StuckLoop{Name: t.name, Due: t.due})
		}
	}
	slices.SortFunc(late, func(a, b StuckLoop) int { return a.Due.Compare(b.Due) })
	return late
}

// Alive returns nil, or a *StuckError if a loop hangs. An engine that is stopped, drains, or waits for a slot or for
// the end of an outage is alive. Alive is cheap and may be called at any time.
func (e *Engine) Alive() error {
	if late := e.watchdog.stuck(); len(late) > 0 {
		return &StuckError{late}
	}
	return nil
}
