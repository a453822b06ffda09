// Package stack starts the real parts of the local stack (Azurite, PostgREST, PGlite, a private
// Postgres) as child processes on free loopback ports: for make run and for tests.
package stack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Process is a running child and its process group.
type Process struct {
	Name string
	cmd  *exec.Cmd
	done chan struct{}
	err  error // of Wait; valid once done is closed
	tail *tailBuffer
}

// Command is what to start.
type Command struct {
	Name string // for messages, e.g. "azurite"
	Path string
	Args []string
	Dir  string
	Env  []string                    // nil: ours
	User *syscall.Credential         // nil: ours
	Log  io.Writer                   // gets its output as well; may be nil
	Stop syscall.Signal              // asks it to end; zero: SIGTERM
	Up   func(context.Context) error // returns nil once it can be used; tried until it does
}

// Start runs the command in its own process group and waits until it is up. If it exits before that, the error has the
// end of its output. The child dies with this process, even when that is killed.
func Start(ctx context.Context, c Command) (*Process, error) {
	p := &Process{Name: c.Name, done: make(chan struct{}), tail: &tailBuffer{max: 4 << 10}}
	out := io.Writer(p.tail)
	if c.Log != nil {
		out = io.MultiWriter(p.tail, c.Log)
	}
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.Dir, c.Env, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: c.User}
	cmd.WaitDelay = 5 * time.Second
	stop := c.Stop
	if stop == 0 {
		stop = syscall.SIGTERM
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Name, err)
	}
	p.cmd = cmd
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := p.awaitUp(ctx, c.Up); err != nil {
		return nil, errors.Join(err, p.Stop(stop, 5*time.Second))
	}
	return p, nil
}

func (p *Process) awaitUp(ctx context.Context, up func(context.Context) error) error {
	if up == nil {
		return nil
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := up(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s exited before it was up (%w); its output ends with:\n%s", p.Name, p.err, p.tail)
		case <-ctx.Done():
			return fmt.Errorf("%s did not come up (%w): %w; its output ends with:\n%s", p.Name, context.Cause(ctx), err,
				p.tail)
		case <-tick.C:
		}
	}
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err is how the process ended; call it after Done.
func (p *Process) Err() error { return p.err }

// Tail is the end of its output.
func (p *Process) Tail() string { return p.tail.String() }

// Pid is the process's id, and that of its group.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Stop sends signal to the process group, waits for grace, and then kills what is left of it.
func (p *Process) Stop(signal syscall.Signal, grace time.Duration) error {
	_ = syscall.Kill(-p.Pid(), signal) // ESRCH: it is gone
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		_ = syscall.Kill(-p.Pid(), syscall.SIGKILL) // children that outlived it
		return nil
	case <-timer.C:
	}
	if err := syscall.Kill(-p.Pid(), syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("kill %s: %w", p.Name, err)
	}
	<-p.done
	return nil
}

// ProveEnv is set for the tests that `make prove` runs: they are thorough then, and take minutes.
const ProveEnv = "ASYNC_WORKER_PROVE"

// Root is the project's folder: the nearest one above the working directory with our go.mod.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if b, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil &&
			bytes.Contains(b, []byte("/async-worker\n")) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("not inside the async-worker project: no go.mod above the working directory")
		}
		dir = parent
	}
}

// tailBuffer keeps the last max bytes written to it.
type tailBuffer struct {
	mu  sync.Mutex
	max int
	buf []byte
}

func (t *tailBuffer) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - t.max; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(b), nil
}

func (t *tailBuffer) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
