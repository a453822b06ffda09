package engine

import (
	"sync"
	"sync/atomic"
)

// crewKept is how many goroutines without work a crew keeps: for 64 tasks and their handlers.
const crewKept = 128

// crew runs functions on goroutines that it keeps: one that has done a task has the stack that the next one needs. To
// grow a new stack took a fifth of the time that the engine spends on a short task.
type crew struct {
	work chan func()
	over chan struct{} // closed when goroutines without work end
	once sync.Once
	kept atomic.Int64 // goroutines without work
}

func newCrew() *crew { return &crew{work: make(chan func()), over: make(chan struct{})} }

// run runs f on a goroutine that waits for work, or else on another one.
func (c *crew) run(f func()) {
	select {
	case c.work <- f:
	default:
		go c.loop(f)
	}
}

// loop does work until there is no more of it.
func (c *crew) loop(f func()) {
	for f != nil {
		f()
		f = c.next()
	}
}

// next waits for work; nil: the goroutine has to end.
func (c *crew) next() func() {
	defer c.kept.Add(-1)
	if c.kept.Add(1) > crewKept {
		return nil
	}
	select {
	case f := <-c.work:
		return f
	case <-c.over:
		return nil
	}
}

// end lets the goroutines without work end. Those that still have some end after it.
func (c *crew) end() { c.once.Do(func() { close(c.over) }) }
