package devstack

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// exitedError means that a part of the stack exited by itself.
type exitedError struct {
	name, log, tail string
	err             error // how it exited; nil: with 0
}

func (e *exitedError) Error() string {
	how := "with exit code 0"
	if e.err != nil {
		how = "(" + e.err.Error() + ")"
	}
	return fmt.Sprintf("%s exited unexpectedly %s, so everything is stopped; its log is %s and ends with:\n%s", e.name,
		how, e.log, e.tail)
}

func (e *exitedError) Unwrap() error { return e.err }

// parts are the running parts, in the order of their start. They stop in reverse order.
type parts struct {
	home   *home
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	started  []part
	stopping chan struct{} // closed when the parts are being stopped
	watchers sync.WaitGroup
}

type part struct {
	name string
	stop func() error
}

// newParts returns a context that ends when a part exits, with an *exitedError as its cause.
func newParts(ctx context.Context, h *home) (context.Context, *parts) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &parts{home: h, cancel: cancel, stopping: make(chan struct{})}
}

// add registers a part to stop.
func (p *parts) add(name string, stop func() error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started = append(p.started, part{name, stop})
}

// process is a watched child.
type process interface {
	Done() <-chan struct{}
	Err() error   // how it ended; after Done
	Tail() string // the end of its output
}

// watch adds a process, and cancels the context when it exits by itself.
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

// stop stops all parts, the last started first.
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
