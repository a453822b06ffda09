package llmtest

import (
	"io"
	"net/http"
	"sync"
)

// inProcess is a transport that calls the handler without a network. It blocks on channels only, so that tests can
// use virtual time.
type inProcess struct{ handler http.Handler }

// RoundTrip returns once the handler has written its header.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	reader, writer := io.Pipe()
	w := &answering{header: http.Header{}, body: writer, begun: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			switch err := recover(); {
			case err != nil && err != http.ErrAbortHandler: //nolint:errorlint // a value of a panic, as net/http compares it
				panic(err)
			case err != nil:
				_ = writer.CloseWithError(io.ErrUnexpectedEOF)
			default:
				_ = writer.CloseWithError(r.Context().Err()) // nil: the end of the body
			}
		}()
		p.handler.ServeHTTP(w, r)
		w.WriteHeader(http.StatusOK)
	}()
	select {
	case <-w.begun:
	case <-r.Context().Done():
	}
	if err := r.Context().Err(); err != nil {
		_ = reader.Close()
		return nil, err
	}
	go func() { // as a connection does
		select {
		case <-r.Context().Done():
			_ = reader.CloseWithError(r.Context().Err())
		case <-done:
		}
	}()
	return &http.Response{
		StatusCode: w.status, Status: http.StatusText(w.status), Header: w.sent, Body: reader, Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

// answering is the handler's side of a request.
type answering struct {
	header, sent http.Header
	body         *io.PipeWriter
	status       int
	once         sync.Once
	begun        chan struct{}
}

func (w *answering) Header() http.Header { return w.header }

func (w *answering) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.begun)
	})
}

func (w *answering) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

func (w *answering) Flush() { w.WriteHeader(http.StatusOK) }
