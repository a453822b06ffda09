package engine

import (
	"sync"
	"time"
)

// pressure slows the engine down while the store (or what a message needs before it can be begun)
// is out of order: each failure in a row doubles the wait, one success ends it.
type pressure struct {
	most time.Duration

	mu    sync.Mutex
	wait  time.Duration
	since time.Time // the first failure in a row; zero: there is none
}

// stumbled notes a failure and returns how long its message should wait.
func (p *pressure) stumbled() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wait == 0 {
		p.since = time.Now()
	}
	p.wait = min(max(2*p.wait, time.Second), max(p.most, time.Second))
	return p.wait
}

// recovered notes a success.
func (p *pressure) recovered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wait = 0
}

// now is how long polling should wait at least.
func (p *pressure) now() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wait
}

// health says since when the store has been failing; nil: it is not.
func (p *pressure) health() *StoreHealth {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wait == 0 {
		return nil
	}
	return &StoreHealth{Since: p.since, Wait: p.wait}
}
