package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// failing is the way in which a service fails.
type failing string

const (
	works   failing = ""
	refuses failing = "refuses" // connections
	hangs   failing = "hangs"   // requests and connections get no answer
	is503   failing = "503"     // every request gets this status
	is401   failing = "401"     // likewise: the key was revoked
)

// faultyServer is an HTTP server that can be made to fail, and to work again.
type faultyServer struct {
	server *httptest.Server
	more   sync.WaitGroup // of listeners after the first

	mu     sync.Mutex
	how    failing
	mended chan struct{} // closed when the failure ends
	closed chan struct{}
	begins int // in requests under way
}

func newFaultyServer(h func(http.ResponseWriter, *http.Request)) *faultyServer {
	server := httptest.NewUnstartedServer(http.HandlerFunc(h))
	if l, err := listenAgain(); err == nil { // else on the port that it has
		_ = server.Listener.Close()
		server.Listener = l
	}
	server.Start()
	return &faultyServer{server: server, closed: make(chan struct{})}
}

// cut makes the service fail. It returns how many begins lose their answer.
func (d *faultyServer) cut(how failing) (begins int) {
	d.mu.Lock()
	d.how, d.mended = how, make(chan struct{})
	begins = d.begins
	d.mu.Unlock()
	if how == refuses {
		_ = d.server.Listener.Close()
		d.server.CloseClientConnections()
	}
	return begins
}

// mend makes it work again. Requests that hung go on if their client still waits.
func (d *faultyServer) mend() error {
	d.mu.Lock()
	was := d.how
	d.how = works
	close(d.mended)
	d.mu.Unlock()
	if was != refuses {
		return nil
	}
	l, err := stack.ListenAgain(context.Background(), d.server.Listener.Addr().String())
	if err != nil {
		return err
	}
	d.more.Go(func() { _ = d.server.Config.Serve(l) }) // until close
	return nil
}

func (d *faultyServer) close() {
	close(d.closed)
	d.server.CloseClientConnections()
	d.server.Close()
	_ = d.server.Config.Close()
	d.more.Wait()
}

// enter counts the begins of a request until leave is called.
func (d *faultyServer) enter(begins int) (leave func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begins += begins
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.begins -= begins
	}
}

// pass reports whether a request, or its answer, may go on. Otherwise the client has got the failure.
func (d *faultyServer) pass(w http.ResponseWriter, r *http.Request) bool {
	d.mu.Lock()
	how, mended := d.how, d.mended
	d.mu.Unlock()
	switch how {
	case refuses:
		hangUp(w)
	case is503:
		http.Error(w, "out of order", http.StatusServiceUnavailable)
	case is401:
		http.Error(w, "the key was revoked", http.StatusUnauthorized)
	case hangs:
		select {
		case <-mended:
			return true
		case <-r.Context().Done():
		case <-d.closed:
		}
	case works:
		return true
	}
	return false
}
