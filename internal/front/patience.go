package front

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A request may take long, as an upload or a stream does, if each side makes progress.

// patient is a connection to a worker that may be silent for AnswerLimit.
type patient struct{ net.Conn }

// Read implements net.Conn.
func (p *patient) Read(b []byte) (int, error) {
	if err := p.SetDeadline(time.Now().Add(AnswerLimit)); err != nil {
		return 0, err
	}
	return p.Conn.Read(b)
}

// Write implements net.Conn. It also gives a read that waits more time: the worker answers after it has the body. A
// worker that refuses a request answers and closes before it has the body. Then the rest is dropped, so that the answer
// is read: net/http would return the error of the write.
func (p *patient) Write(b []byte) (int, error) {
	if err := p.SetDeadline(time.Now().Add(AnswerLimit)); err != nil {
		return 0, err
	}
	n, err := p.Conn.Write(b)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return len(b), nil
	}
	return n, err
}

// slowBody is a client's body that keeps coming.
type slowBody struct {
	io.ReadCloser
	rc    *http.ResponseController
	limit time.Duration         // for the next bytes
	left  int64                 // bytes; negative: the client did not say how many
	ended atomic.Pointer[error] // why it ended too early; nil: it did not

	mu       sync.Mutex
	answered bool
	whole    bool // all of it was read
}

// Read implements io.Reader. After the last byte it does not ask the client's body again, as net/http does to learn
// that there is no more: the worker may have answered by then, which closes that body, and the error would end the
// connection to the worker in the middle of its response (golang/go#40747).
func (b *slowBody) Read(to []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	if err := b.wait(); err != nil {
		return 0, err
	}
	n, err := b.ReadCloser.Read(to)
	if b.left > 0 {
		b.left -= int64(n)
	}
	if b.left == 0 || errors.Is(err, io.EOF) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.whole = true
		_ = b.rc.SetReadDeadline(time.Time{}) // it fails only on a closed connection
	} else if err != nil && !errors.Is(err, http.ErrBodyReadAfterClose) {
		b.ended.Store(&err) // the deadline stays: net/http tries to read the rest before it sends the response
	}
	return n, err
}

// wait gives the client time for the next bytes.
func (b *slowBody) wait() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.answered {
		return nil
	}
	return b.rc.SetReadDeadline(time.Now().Add(b.limit))
}

// answer ends the patience with a client that has not sent all when the worker answers: net/http reads some of the rest
// before it sends the response, and waits for a read that has begun. A client that sends nothing more would keep its
// place for as long as it likes.
func (b *slowBody) answer() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answered = true
	if !b.whole {
		_ = b.rc.SetReadDeadline(time.Now().Add(restLimit)) // it fails only on a closed connection
	}
}

// slowWriter is a response whose client keeps reading.
type slowWriter struct {
	http.ResponseWriter
	rc *http.ResponseController
}

// WriteHeader implements http.ResponseWriter. Interim responses are left out: their headers, as Link of 103, are a worker's
// that nobody has confined.
func (w *slowWriter) WriteHeader(status int) {
	if status < http.StatusOK {
		return
	}
	_ = w.rc.SetWriteDeadline(time.Now().Add(writeLimit)) // it fails only on a closed connection
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *slowWriter) Write(b []byte) (int, error) {
	if err := w.rc.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return 0, err
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *slowWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
