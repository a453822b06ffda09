// Package azurestub is a small, fast in-process server of the Azure Queue protocol. A benchmark against it measures the
// worker, not the emulator, whose receive and delete get slower as a queue grows. It accepts any signature and keeps
// everything in memory. It passes queue/queuetest through queue/azure, which shows that it implements the protocol.
package azurestub

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Account is the account's name in the stub's paths.
const Account = "stubaccount"

// Stub is a queue service. Make it with New or Start; it is safe for concurrent use.
type Stub struct {
	mu     sync.Mutex
	queues map[string]*queue

	server *http.Server
	done   chan struct{}
	addr   string
}

// New returns a stub that does not listen: it is an http.Handler.
func New() *Stub { return &Stub{queues: map[string]*queue{}} }

// Start returns a stub that serves on a free loopback port until Close.
func Start() (*Stub, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the queue stub: %w", err)
	}
	s := New()
	s.addr, s.done = listener.Addr().String(), make(chan struct{})
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		_ = s.server.Serve(listener) // ErrServerClosed
	}()
	return s, nil
}

// ConnectionString returns the connection string of a started stub. Any base64 is accepted as a key.
func (s *Stub) ConnectionString() string {
	return fmt.Sprintf("DefaultEndpointsProtocol=http;AccountName=%s;AccountKey=c3R1Yg==;QueueEndpoint=http://%s/%s;BlobEndpoint=http://%s/%s;",
		Account, s.addr, Account, s.addr, Account)
}

// Close stops a started stub and closes its connections.
func (s *Stub) Close() error {
	err := s.server.Close()
	<-s.done
	return err
}
