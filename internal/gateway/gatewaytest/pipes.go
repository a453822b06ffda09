package gatewaytest

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
)

// pipes are in-process connections.
type pipes struct {
	mu  sync.Mutex
	now *pipeListener // nil: not listening
}

func (p *pipes) listen() net.Listener {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = &pipeListener{of: p, conns: make(chan net.Conn), closed: make(chan struct{})}
	return p.now
}

// dial fails while the server is down.
func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	p.mu.Lock()
	l := p.now
	p.mu.Unlock()
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

type pipeListener struct {
	of     *pipes
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
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

func (l *pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "tcp" }
func (pipeAddr) String() string  { return "gateway.invalid" }
