package devstack

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// exitedError says that a part of the stack ended although nobody asked it to.
type exitedError struct {
	name, log, tail string
	err             error // how it ended; nil: with 0
}

func (e *exitedError) Error() string {
	how := "with exit code 0"
	if e.err != nil {
		how = "(" + e.err.Error() + ")"
	}
	return fmt.Sprintf("%s ended by itself %s, so all is stopped; its log is %s, its last words:\n%s", e.name, how,
		e.log, e.tail)
}

func (e *exitedError) Unwrap() error { return e.err }

// parts are what runs, in the order of the starts. They end in the opposite order.
type parts struct {
	home   *home
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	started  []part
	stopping chan struct{} // closed when ends are asked for
	watchers sync.WaitGroup
}

type part struct {
	name string
	stop func() error
}

// newParts returns a context that ends when a part does, with an *endedError as its cause.
func newParts(ctx context.Context, h *home) (context.Context, *parts) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &parts{home: h, cancel: cancel, stopping: make(chan struct{})}
}

// add takes over the end of a part.
func (p *parts) add(name string, stop func() error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started = append(p.started, part{name, stop})
}

// process is a child as it is watched.
type process interface {
	Done() <-chan struct{}
	Err() error   // how it ended; after Done
	Tail() string // the end of its output
}

// watch adds a process, and notices when it ends by itself.
func (p *parts) watch(name string, child process, stop func() error) {
	p.add(name, stop)
	p.watchers.Go(func() {
		select {
		case <-p.stopping:
		case <-child.Done():
			p.cancel(&exitedError{name, p.home.rel(p.home.logPath(name)), child.Tail(), child.Err()})
		}
	})
}

// stop ends everything that runs, the last started first.
func (p *parts) stop(out *printer) error {
	close(p.stopping)
	p.watchers.Wait()
	p.cancel(nil)
	var errs []error
	for i := len(p.started) - 1; i >= 0; i-- {
		one := p.started[i]
		if err := one.stop(); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", one.name, err))
			continue
		}
		out.line("  %s stopped", one.name)
	}
	return errors.Join(errs...)
}
