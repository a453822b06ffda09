package main

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"time"
)

// slot runs a worker, and starts another one whenever it ends.
type slot struct {
	file string
	env  []string
	quit chan struct{}
	done sync.WaitGroup

	mu      sync.Mutex
	current *process
}

func (s *slot) supervise(ctx context.Context) {
	for {
		p, err := start(ctx, s.file, s.env, "run")
		if err != nil {
			return // the context is done
		}
		s.set(p)
		select {
		case <-p.Done():
			s.set(nil)
		case <-s.quit:
			_ = p.end() // on purpose; killed when it took too long
			return
		}
		if p.code() != 137 && pause(ctx, 300*time.Millisecond) != nil { // it could not start: a service was down
			return
		}
	}
}

func (s *slot) set(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = p
}

// kill kills the worker with -9 and returns its process id.
func (s *slot) kill() (pid int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return 0, false
	}
	pid = s.current.Pid()
	return pid, syscall.Kill(-pid, syscall.SIGKILL) == nil
}

// pid is the worker's process id; 0 while none runs.
func (s *slot) pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return 0
	}
	return s.current.Pid()
}

func (s *slot) working() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current != nil && s.current.working()
}

// end drains the worker, and starts no other.
func (s *slot) end() {
	close(s.quit)
	s.done.Wait()
}

// retryWhileDown retries while a service is being restarted, for five minutes at least.
func retryWhileDown(ctx context.Context, f func() error) (err error) {
	for range 1000 {
		if err = f(); err == nil {
			return nil
		}
		if e := pause(ctx, 300*time.Millisecond); e != nil {
			return errors.Join(err, e)
		}
	}
	return err
}

// pause waits, unless ctx ends before.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
