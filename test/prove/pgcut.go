package main

import (
	"context"
	"net"
)

// hangUp ends all connections; calls that hang return. It is called with p.mu held.
func (p *pgProxy) hangUp() {
	for c := range p.conns {
		_ = c.Close()
	}
	if p.hung != nil {
		close(p.hung)
		p.hung = nil
	}
}

// cut makes the database unreachable: connections are ended and refused, or they hang. It returns how many calls of
// a function lose their answer.
func (p *pgProxy) cut(how failing, function string) (cutOff int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.sessions {
		if s.open == function {
			cutOff++
		}
	}
	if how == hangs {
		p.hung = make(chan struct{})
		return cutOff
	}
	_ = p.listener.Close()
	p.hangUp()
	return cutOff
}

// mend ends an outage. Connections that hung are ended: the server doesn't know them.
func (p *pgProxy) mend() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hung != nil {
		p.hangUp()
		return nil
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", p.addr)
	if err != nil {
		return err
	}
	p.listener = l
	p.done.Go(func() { p.accept(l) })
	return nil
}

// pass waits while connections hang, and records which function the transaction under way calls.
func (s *pgSession) pass(open func() string) error {
	s.proxy.mu.Lock()
	hung := s.proxy.hung
	if hung == nil {
		s.open = open()
	}
	s.proxy.mu.Unlock()
	if hung == nil {
		return nil
	}
	<-hung
	return errFault
}
