package main

import (
	"bufio"
	"net"
	"sync"
	"time"
)

// natsProxy is a proxy for nats-server. All requests of a client share one connection: a fault that ends it takes the
// answers of all requests under way.
type natsProxy struct {
	*tcpProxy
	faults *faultPlan
}

func newNATSProxy(target string, s *faultPlan) (*natsProxy, error) {
	t, err := newTCPProxy(target)
	if err != nil {
		return nil, err
	}
	p := &natsProxy{tcpProxy: t, faults: s}
	t.start(p.serve)
	return p, nil
}

// cut makes the server unreachable. No begin is a request to it.
func (p *natsProxy) cut(how failing) (begins int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fail(how)
	return 0
}

func (p *natsProxy) serve(client, server net.Conn) {
	s := &natsSession{proxy: p, client: client, server: server, inboxes: map[string]string{}, awaited: map[string]fault{}}
	var both sync.WaitGroup
	for _, forward := range []func() error{s.requests, s.answers} {
		both.Go(func() {
			_ = forward() // the client sees the connection end
			_ = client.Close()
			_ = server.Close()
		})
	}
	both.Wait()
}

// natsSession is one connection.
type natsSession struct {
	proxy          *natsProxy
	client, server net.Conn

	mu      sync.Mutex
	inboxes map[string]string // id of a subscription → what it subscribes to
	awaited map[string]fault  // inbox → what happens to the answer that comes there
}

// requests forwards what the client sends.
func (s *natsSession) requests() error {
	from := bufio.NewReaderSize(s.client, maxNATSLine)
	for {
		f, err := readNATS(from)
		if err != nil {
			return err
		}
		m := s.proxy.faults.next(natsClass(f))
		if m == cutBefore {
			return errFault
		}
		s.note(f, m)
		if err := s.proxy.pass(func() {}); err != nil {
			return err
		}
		if _, err := s.server.Write(f.raw); err != nil {
			return err
		}
	}
}

func (s *natsSession) note(f natsFrame, m fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.op == "SUB" {
		s.inboxes[f.sid] = f.subject
	}
	if m != passOn {
		s.awaited[f.reply] = m
	}
}

// answers forwards what the server sends. An answer shows that its request was carried out: a dropped one ends the
// connection.
func (s *natsSession) answers() error {
	from := bufio.NewReaderSize(s.server, maxNATSLine)
	for {
		f, err := readNATS(from)
		if err != nil {
			return err
		}
		switch s.planned(f) {
		case dropAnswer:
			return errFault
		case delayed:
			time.Sleep(delayedAnswer)
		case passOn, cutBefore:
		}
		if err := s.proxy.pass(func() {}); err != nil {
			return err
		}
		if _, err := s.client.Write(f.raw); err != nil {
			return err
		}
	}
}

// planned is what happens to a message of the server. A request's answer comes to its inbox. A delivered message
// keeps the subject that it was published to: the subscription tells the inbox.
func (s *natsSession) planned(f natsFrame) fault {
	if f.op != "MSG" && f.op != "HMSG" {
		return passOn
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, inbox := range []string{f.subject, s.inboxes[f.sid]} {
		if m, ok := s.awaited[inbox]; ok {
			delete(s.awaited, inbox)
			return m
		}
	}
	return passOn
}
