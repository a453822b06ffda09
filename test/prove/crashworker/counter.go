package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/queue"
)

// exitCode is that of a process killed by SIGKILL, as a shell reports it.
const exitCode = 137

// counter numbers the calls of each kind, writes them to the trace, and ends the process at the point.
type counter struct {
	options
	mu    sync.Mutex
	calls map[string]int
	file  *os.File
}

func newCounter(o options) (*counter, error) {
	c := &counter{options: o, calls: map[string]int{}}
	if o.trace == "" {
		return c, nil
	}
	var err error
	c.file, err = os.OpenFile(o.trace, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return c, err
}

func (c *counter) close() {
	if c.file != nil {
		_ = c.file.Close()
	}
}

// next numbers a call and returns its name.
func (c *counter) next(label string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[label]++
	return fmt.Sprintf("%s#%d", label, c.calls[label])
}

// reach records a point, and ends or stops the process if it is the one.
func (c *counter) reach(point, note string) {
	c.mu.Lock()
	if c.file != nil {
		fmt.Fprintf(c.file, "%s %s\n", point, note)
	}
	hit := point == c.point
	c.mu.Unlock()
	switch {
	case hit && c.stop:
		c.freeze()
	case hit:
		os.Exit(exitCode)
	}
}

// freeze stops the process until it gets SIGCONT. A stop takes effect a moment after the signal, and the call must
// not be made meanwhile.
func (c *counter) freeze() {
	woken := make(chan os.Signal, 1)
	signal.Notify(woken, syscall.SIGCONT)
	defer signal.Stop(woken)
	if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
		os.Exit(1)
	}
	<-woken
}

// call is one call of a back end: a point before it and one after it, whatever its result.
func call[T any](c *counter, label string, f func() (T, error)) (T, error) {
	name := c.next(label)
	c.reach(name+":before", "")
	v, err := f()
	c.reach(name+":after", verdict(err))
	return v, err
}

func call0(c *counter, label string, f func() error) error {
	_, err := call(c, label, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// verdict is the result of a call, in one word.
func verdict(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, store.ErrFenced):
		return "fenced"
	case errors.Is(err, queue.ErrLeaseLost):
		return "lease-lost"
	}
	return "error"
}
