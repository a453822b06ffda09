package child

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

var (
	errTooMuch = errors.New("the program wrote more than it may")
	errLeft    = errors.New("the output of the program was left open after its end")
)

// output is the reading end of a program's standard output. It counts bytes and the time spent waiting for the
// program.
type output struct {
	file  *os.File
	group *group

	left        int64         // remaining bytes
	eof         bool          // all were read
	waitLeft    time.Duration // remaining time to wait
	idleTimeout time.Duration // longest time between two outputs; zero: unlimited
	idle        time.Duration // time since the last output
	timer       *time.Timer
	ended       atomic.Bool
	abandoned   atomic.Bool

	mu      sync.Mutex // of waiting, between the reader and the program's end
	since   time.Time
	stopped bool
}

func newOutput(file *os.File, l Limits, g *group) *output {
	o := &output{file: file, group: g, left: l.Output, waitLeft: l.Wait, idleTimeout: l.IdleTimeout}
	o.timer = time.AfterFunc(o.remaining(), func() { g.kill(o.limit()) })
	o.since = time.Now()
	return o
}

// consume has handle read the output, and discards the rest.
func (o *output) consume(handle func(io.Reader) error) error {
	if handle == nil {
		handle = func(io.Reader) error { return nil }
	}
	o.pause()
	err := safely(handle, o)
	o.resume()
	if err != nil && !o.eof { // at the end of the output the program ends by itself; how it does may tell why it was cut off
		o.group.kill(unwanted)
	}
	// The pipe is always read to its end, so that a program never blocks in a write.
	if _, e := io.Copy(io.Discard, readerOnly{o}); err == nil {
		err = e
	}
	o.resume() // also wait for a program that closed its output and still runs
	return err
}

// safely turns a panic over the program's output into an error. In a goroutine of this package no caller could
// recover it, and it would end the whole process.
func safely(handle func(io.Reader) error, r io.Reader) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in the reader of a program's output: %v\n%s", p, debug.Stack())
		}
	}()
	return handle(r)
}

// readerOnly hides all methods except Read.
type readerOnly struct{ io.Reader }

func (o *output) Read(b []byte) (int, error) {
	o.resume()
	defer o.pause()
	if o.abandoned.Load() {
		return 0, errLeft
	}
	if o.ended.Load() {
		_ = o.file.SetReadDeadline(time.Now().Add(afterExit))
	}
	n, err := o.file.Read(b)
	if n > 0 {
		o.heard()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		n, err = o.readWithoutWaiting(b)
	}
	o.eof = errors.Is(err, io.EOF)
	if o.left -= int64(n); o.left < 0 {
		o.group.kill(tooMuch)
		return 0, errTooMuch
	}
	return n, err
}

// readWithoutWaiting reads what is in the pipe after the deadline. On a busy machine the deadline may pass before this
// process runs again, although the pipe has bytes, or its end.
func (o *output) readWithoutWaiting(b []byte) (n int, err error) {
	raw, err := o.file.SyscallConn()
	if err != nil {
		return 0, err
	}
	_ = o.file.SetReadDeadline(time.Time{}) // it would be the first thing that the next read looks at
	if e := raw.Read(func(fd uintptr) bool {
		n, err = unix.Read(int(fd), b)
		for errors.Is(err, unix.EINTR) {
			n, err = unix.Read(int(fd), b)
		}
		return true
	}); e != nil {
		return 0, e
	}
	switch {
	case errors.Is(err, unix.EAGAIN):
		return 0, errLeft
	case err != nil:
		return 0, os.NewSyscallError("read", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// heard restarts the time since the last output.
func (o *output) heard() {
	o.pause()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.idle = 0
}

// resume starts the clock: the reader waits for the program.
func (o *output) resume() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() && !o.stopped {
		o.since = time.Now()
		o.timer.Reset(o.remaining())
	}
}

// pause stops the clock: the program waits for the reader.
func (o *output) pause() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.since.IsZero() {
		o.timer.Stop()
		waited := time.Since(o.since)
		o.waitLeft -= waited
		o.idle += waited
		o.since = time.Time{}
	}
}

// remaining returns how long to wait for the program's next output.
func (o *output) remaining() time.Duration {
	left := o.waitLeft
	if o.idleTimeout > 0 {
		left = min(left, o.idleTimeout-o.idle)
	}
	return max(left, 1)
}

// limit returns which of the two limits was reached.
func (o *output) limit() reason {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.idleTimeout > 0 && o.idleTimeout-o.idle < o.waitLeft {
		return idle
	}
	return tooLong
}

// programEnded stops the clock for good, and ends a read of a pipe that another process still holds. Bytes in
// the pipe are not lost, however slowly they are read: each later read has a new deadline.
func (o *output) programEnded() {
	o.mu.Lock()
	o.stopped = true
	o.timer.Stop()
	o.since = time.Time{}
	o.mu.Unlock()
	o.ended.Store(true)
	_ = o.file.SetReadDeadline(time.Now().Add(afterExit))
}

// abandon ends the reading after the program's end, when its caller's context is over: another process that holds the
// pipe, out of the reach of group.kill, may write a byte now and then for as long as it likes.
func (o *output) abandon() {
	o.group.note(canceled)
	o.abandoned.Store(true)
	_ = o.file.SetReadDeadline(time.Unix(1, 0))
}

// tail keeps the last max bytes written to it.
type tail struct {
	max int
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(b)
	b = b[max(0, len(b)-t.max):]
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - t.max; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return n, nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.buf), "\uFFFD"))
}
