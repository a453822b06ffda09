package engine

import (
	"context"
	"sync"
)

// slots counts what runs at the same time. A message is received only into a slot that is free
// already, so nothing ever waits inside the worker while its lease runs.
type slots struct {
	mu    sync.Mutex
	total int
	used  int
	freed chan struct{} // signaled, capacity 1, when a slot is given back
}

func newSlots(total int) *slots {
	return &slots{total: total, freed: make(chan struct{}, 1)}
}

// take waits for a free slot and takes up to most of the free ones. It returns 0 when ctx is done.
func (s *slots) take(ctx context.Context, most int) int {
	for {
		if ctx.Err() != nil {
			return 0
		}
		s.mu.Lock()
		n := max(0, min(s.total-s.used, most))
		s.used += n
		s.mu.Unlock()
		if n > 0 {
			return n
		}
		select {
		case <-s.freed:
		case <-ctx.Done():
		}
	}
}

// give gives n slots back.
func (s *slots) give(n int) {
	if n == 0 {
		return
	}
	s.mu.Lock()
	s.used -= n
	s.mu.Unlock()
	select {
	case s.freed <- struct{}{}:
	default:
	}
}

// occupy takes one more slot until a channel is closed, even when none is free: for work that goes on after
// its slot was given back.
func (s *slots) occupy(until <-chan struct{}) {
	s.mu.Lock()
	s.used++
	s.mu.Unlock()
	go func() {
		<-until
		s.give(1)
	}()
}

func (s *slots) inUse() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}
