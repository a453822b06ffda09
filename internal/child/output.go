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
)

var (
	errTooMuch = errors.New("the program wrote more than it may")
	errLeft    = errors.New("the output of the program was left open after its end")
)

// output is the reading end of a program's standard output. It counts bytes and the time that is
// spent waiting for the program.
type output struct {
	file  *os.File
	group *group

	left     int64         // bytes that may still come
	patience time.Duration // time that may still be waited
	silence  time.Duration // and until the next output; zero: as long
	quiet    time.Duration // how long there was none
	timer    *time.Timer
	ended    atomic.Bool

	mu      sync.Mutex // of waiting, between the reader and the program's end
	since   time.Time
	stopped bool
}

func newOutput(file *os.File, l Limits, g *group) *output {
	o := &output{file: file, group: g, left: l.Output, patience: l.Wait, silence: l.Silence}
	o.timer = time.AfterFunc(o.remaining(), func() { g.kill(o.limit()) })
	o.since = time.Now()
	return o
}

// consume has handle read everything, and throws away what it leaves.
func (o *output) consume(handle func(io.Reader) error) error {
	if handle == nil {
		handle = func(io.Reader) error { return nil }
	}
	o.pause()
	err := safely(handle, o)
	o.resume()
	if err != nil {
		o.group.kill(unwanted)
	}
	// The pipe is always read to its end: a program is never left blocked in a write.
	if _, e := io.Copy(io.Discard, readerOnly{o}); err == nil {
		err = e
	}
	o.resume() // a program that closed its output and stays is waited for, too
	return err
}

// safely turns a panic over what the program wrote into an error: in a goroutine of this package, where no caller
// could recover it, it would end the whole process.
func safely(handle func(io.Reader) error, r io.Reader) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in the reader of a program's output: %v\n%s", p, debug.Stack())
		}
	}()
	return handle(r)
}

// readerOnly hides everything but Read.
type readerOnly struct{ io.Reader }

func (o *output) Read(b []byte) (int, error) {
	o.resume()
	defer o.pause()
	if o.ended.Load() {
		_ = o.file.SetReadDeadline(time.Now().Add(afterExit))
	}
	n, err := o.file.Read(b)
	if n > 0 {
		o.heard()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errLeft
	}
	if o.left -= int64(n); o.left < 0 {
		o.group.kill(tooMuch)
		return 0, errTooMuch
	}
	return n, err
}

// heard begins a new silence.
func (o *output) heard() {
	o.pause()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.quiet = 0
}

// resume lets the time run: we wait for the program.
func (o *output) resume() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() && !o.stopped {
		o.since = time.Now()
		o.timer.Reset(o.remaining())
	}
}

// pause stops the time: the program waits for us.
func (o *output) pause() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.since.IsZero() {
		o.timer.Stop()
		waited := time.Since(o.since)
		o.patience -= waited
		o.quiet += waited
		o.since = time.Time{}
	}
}

// remaining is how long the program may still be waited for until it writes something.
func (o *output) remaining() time.Duration {
	left := o.patience
	if o.silence > 0 {
		left = min(left, o.silence-o.quiet)
	}
	return max(left, 1)
}

// limit is the one of the two that was reached.
func (o *output) limit() reason {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.silence > 0 && o.silence-o.quiet < o.patience {
		return tooQuiet
	}
	return tooLong
}

// programEnded stops the time for good, and ends a read that waits for a pipe which a stranger still
// holds. Bytes that are in the pipe are not lost, however slowly they are read: each later read has
// a deadline of its own.
func (o *output) programEnded() {
	o.mu.Lock()
	o.stopped = true
	o.timer.Stop()
	o.since = time.Time{}
	o.mu.Unlock()
	o.ended.Store(true)
	_ = o.file.SetReadDeadline(time.Now().Add(afterExit))
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
