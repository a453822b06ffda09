package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// process is a running worker with its log.
type process struct {
	*stack.Process
	log *tail
}

func start(ctx context.Context, file string, env []string, args ...string) (*process, error) {
	log := &tail{}
	p, err := stack.Start(ctx, stack.Command{Name: "worker", Path: file, Args: args, Env: env, Log: log})
	if err != nil {
		return nil, err
	}
	return &process{p, log}, nil
}

// code is the exit code once it has ended, 137 if it was killed.
func (p *process) code() int {
	if p.Err() == nil {
		return 0
	}
	exit, ok := errors.AsType[*exec.ExitError](p.Err())
	if !ok {
		return -1
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return exit.ExitCode()
}

// end sends SIGTERM, and kills it when draining takes too long: 20 s, and what a busy machine needs to release the tasks.
func (p *process) end() error { return p.Stop(syscall.SIGTERM, time.Minute) }

// kill ends it at once.
func (p *process) kill() error { return p.Stop(syscall.SIGKILL, 10*time.Second) }

// working reports whether it has started to work.
func (p *process) working() bool {
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	return p.log.working
}

// stopped reports whether a signal has stopped it.
func (p *process) stopped() bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid()))
	if err != nil {
		return false
	}
	// The state is the first field after the name in brackets.
	i := bytes.LastIndexByte(text, ')')
	return i >= 0 && len(text) > i+2 && text[i+2] == 'T'
}

// tail keeps the last 8 KB of a log, and whether it said that the worker works.
type tail struct {
	mu      sync.Mutex
	text    []byte
	working bool
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.working = t.working || bytes.Contains(t.text, []byte(" working worker="))
	if over := len(t.text) - 8<<10; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// command is a short-lived program of ours.
func command(ctx context.Context, file string, env []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, file)
	cmd.Env = env
	return cmd
}
