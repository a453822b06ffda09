package child

import (
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"time"
)

// What is in the pipe of an ended program is read even if this process was held up until after the deadline; only a
// pipe that another process holds open is an error.
func TestOutputAfterTheDeadline(t *testing.T) {
	t.Parallel()
	// A program that another test starts holds the pipe until its exec.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	o := newOutput(r, DefaultLimits, &group{})
	defer o.programEnded()
	buffer := make([]byte, 16)
	read := func() (string, error) {
		if err := r.SetReadDeadline(time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		n, err := o.Read(buffer)
		return string(buffer[:n]), err
	}
	if _, err := w.WriteString("the last words"); err != nil {
		t.Fatal(err)
	}
	if text, err := read(); text != "the last words" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	if text, err := read(); text != "" || !errors.Is(err, errLeft) {
		t.Errorf("of an open pipe: %q, %v", text, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if text, err := read(); text != "" || !errors.Is(err, io.EOF) {
		t.Errorf("of a closed pipe: %q, %v", text, err)
	}
}

// A process that outlives its leader and goes on writing is read until the context of the task ends, and no longer.
func TestAbandonedOutput(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = r.Close(), w.Close() }()
	g := &group{}
	o := newOutput(r, DefaultLimits, g)
	o.programEnded()
	buffer := make([]byte, 16)
	for range 3 {
		if _, err := w.WriteString("more"); err != nil {
			t.Fatal(err)
		}
		if n, err := o.Read(buffer); n != 4 || err != nil {
			t.Errorf("read %d, %v", n, err)
		}
	}
	o.abandon()
	if _, err := w.WriteString("more"); err != nil {
		t.Fatal(err)
	}
	if n, err := o.Read(buffer); n != 0 || !errors.Is(err, errLeft) || g.reason() != canceled {
		t.Errorf("after the context's end: read %d, %v, reason %q", n, err, g.reason())
	}
}
