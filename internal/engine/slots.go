package engine

import (
	"context"
	"sync"
	"time"
)

// slots counts running tasks. A message is received only into a free slot, so nothing waits inside the worker while its
// lease runs.
type slots struct {
	mu        sync.Mutex
	total     int
	used      int
	receiving int           // of those: taken for a receive in flight
	freed     chan struct{} // signaled, capacity 1, when a slot is given back
}

func newSlots(total int) *slots {
	return &slots{total: total, freed: make(chan struct{}, 1)}
}

// take waits for a free slot, then until enough are free, for at most within, and takes up to most of them. It returns
// 0 when ctx is done. While it waits it reports to the watchdog.
func (s *slots) take(ctx context.Context, most, enough int, within time.Duration, t *section) int {
	var late <-chan time.Time
	for ctx.Err() == nil {
		t.within(reportEvery)
		n, free := s.tryTake(most, enough)
		if n > 0 {
			return n
		}
		if free && late == nil {
			timer := time.NewTimer(within)
			defer timer.Stop()
			late = timer.C
		}
		again := time.NewTimer(reportEvery)
		select {
		case <-s.freed:
		case <-late:
			enough = 1
		case <-again.C:
		case <-ctx.Done():
		}
		again.Stop()
	}
	return 0
}

// tryTake takes up to most slots when enough are free; otherwise it reports whether any is.
func (s *slots) tryTake(most, enough int) (taken int, free bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.total - s.used
	if n < max(1, min(enough, most)) {
		return 0, n > 0
	}
	n = min(n, most)
	s.used += n
	s.receiving += n
	return n, true
}

// begun records that a task runs in a taken slot.
func (s *slots) begun() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.receiving--
}

// giveUnused gives back n slots that no message came for.
func (s *slots) giveUnused(n int) {
	s.giveBack(n, n)
}

// give gives n slots back.
func (s *slots) give(n int) { s.giveBack(n, 0) }

func (s *slots) giveBack(n, unused int) {
	if n == 0 {
		return
	}
	s.mu.Lock()
	s.used -= n
	s.receiving -= unused
	s.mu.Unlock()
	select {
	case s.freed <- struct{}{}:
	default:
	}
}

// occupy takes one more slot until a channel is closed, even when none is free: for work that continues after its slot
// was given back.
func (s *slots) occupy(until <-chan struct{}) {
	s.mu.Lock()
	s.used++
	s.mu.Unlock()
	go func() {
		<-until
		s.give(1)
	}()
}

// resize changes how many slots there are. Taken ones stay taken.
func (s *slots) resize(total int) {
	s.mu.Lock()
	s.total = total
	s.mu.Unlock()
	select {
	case s.freed <- struct{}{}:
	default:
	}
}

// running is the number of slots in which a task runs.
func (s *slots) running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used - s.receiving
}
