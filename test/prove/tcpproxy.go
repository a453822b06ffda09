package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// tcpProxy is what the proxies of protocols on plain connections share: connections, and how all of them fail.
type tcpProxy struct {
	target string // host:port
	addr   string // of its own
	serve  func(client, server net.Conn)

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	hung     chan struct{} // closed when nothing hangs any longer; nil: nothing hangs
	done     sync.WaitGroup
}

var errFault = errors.New("the connection was ended on purpose")

// newTCPProxy returns a proxy of a server, which listens; start makes it serve.
func newTCPProxy(target string) (*tcpProxy, error) {
	l, err := listenAgain()
	if err != nil {
		return nil, err
	}
	return &tcpProxy{target: target, addr: l.Addr().String(), listener: l, conns: map[net.Conn]bool{}}, nil
}

// listenAgain listens on a port that no other server gets when it is given up for an outage: the kernel chooses from
// others for those that name none.
func listenAgain() (net.Listener, error) {
	port, err := stack.FreePort()
	if err != nil {
		return nil, err
	}
	return new(net.ListenConfig).Listen(context.Background(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
}

// start calls serve for each connection, with one to the server. Both are closed when it returns.
func (p *tcpProxy) start(serve func(client, server net.Conn)) {
	p.serve = serve
	l := p.listener
	p.done.Go(func() { p.accept(l) })
}

func (p *tcpProxy) accept(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		p.done.Go(func() { p.connect(client) })
	}
}

func (p *tcpProxy) connect(client net.Conn) {
	defer client.Close()
	server, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		return // the client sees the connection end
	}
	defer server.Close()
	if !p.keep(client, server) {
		return
	}
	p.serve(client, server)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, client)
	delete(p.conns, server)
}

// keep adds connections to those that a failure ends. It refuses them if the proxy has been cut off or closed since
// they were accepted.
func (p *tcpProxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener == nil {
		return false
	}
	for _, c := range conns {
		p.conns[c] = true
	}
	return true
}

// hangUp ends all connections; what hangs returns. It is called with p.mu held.
func (p *tcpProxy) hangUp() {
	for c := range p.conns {
		_ = c.Close()
	}
	if p.hung != nil {
		close(p.hung)
		p.hung = nil
	}
}

// refuse stops listening. It is called with p.mu held.
func (p *tcpProxy) refuse() {
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
}

// fail makes the server unreachable: connections are ended and refused, or they hang. It is called with p.mu held.
func (p *tcpProxy) fail(how failing) {
	if how == hangs {
		p.hung = make(chan struct{})
		return
	}
	p.refuse()
	p.hangUp()
}

// mend ends an outage. Connections that hung are ended: the server doesn't know them.
func (p *tcpProxy) mend() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hung != nil {
		p.hangUp()
		return nil
	}
	l, err := stack.ListenAgain(context.Background(), p.addr)
	if err != nil {
		return err
	}
	p.listener = l
	p.done.Go(func() { p.accept(l) })
	return nil
}

// pass calls note, with p.mu held, unless connections hang. Then it waits until that ends, and they have to end too.
func (p *tcpProxy) pass(note func()) error {
	p.mu.Lock()
	hung := p.hung
	if hung == nil {
		note()
	}
	p.mu.Unlock()
	if hung == nil {
		return nil
	}
	<-hung
	return errFault
}

func (p *tcpProxy) close() {
	p.mu.Lock()
	p.refuse()
	p.hangUp()
	p.mu.Unlock()
	p.done.Wait()
}
