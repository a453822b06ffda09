// Package pipetest has a listener within the process, for servers of tests in a [testing/synctest] bubble: a goroutine
// that waits for a real socket would keep the bubble's time from passing.
package pipetest

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
)

// Network takes connections to one server. The zero value has no listener, and refuses them.
type Network struct {
	mu  sync.Mutex
	now *listener // nil: the server is down
}

// Listen returns a listener that has the given host as its address. The earlier listener, if any, gets no more
// connections.
func (n *Network) Listen(host string) net.Listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.now = &listener{of: n, host: host, conns: make(chan net.Conn), closed: make(chan struct{})}
	return n.now
}

// Dial connects to the listener. It fails with ECONNREFUSED while there is none.
func (n *Network) Dial(ctx context.Context) (net.Conn, error) {
	n.mu.Lock()
	l := n.now
	n.mu.Unlock()
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	if l == nil {
		return nil, refused
	}
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, errors.Join(refused, ours.Close(), theirs.Close())
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), ours.Close(), theirs.Close())
	}
}

type listener struct {
	of     *Network
	host   string
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.of.mu.Lock()
		defer l.of.mu.Unlock()
		if l.of.now == l {
			l.of.now = nil
		}
	})
	return nil
}

func (l *listener) Addr() net.Addr { return address(l.host) }

type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }
