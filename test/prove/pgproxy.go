package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"regexp"
	"time"
)

// pgProxy is a proxy for Postgres. It reads the wire protocol, version 3, as far as needed to know which function a
// client calls, and when the server has carried the call out. Its clients don't use TLS. Source:
// https://www.postgresql.org/docs/current/protocol-message-formats.html
type pgProxy struct {
	*tcpProxy
	faults *faultPlan
	// lethal reports whether a call ends the server before it is carried out; nil: none does.
	lethal func(call string, group []byte) bool

	sessions map[*pgSession]bool // guarded by mu
}

// newPGProxy returns the proxy and databaseURL with its address in it. A call's class is its function's name unless it
// is one of a queue.
func newPGProxy(databaseURL string, s *faultPlan) (*pgProxy, string, error) {
	u, err := url.Parse(databaseURL)
	if err != nil {
		return nil, "", err
	}
	t, err := newTCPProxy(u.Host)
	if err != nil {
		return nil, "", err
	}
	p := &pgProxy{tcpProxy: t, faults: s, sessions: map[*pgSession]bool{}}
	t.start(p.serve)
	u.Host = p.addr
	return p, u.String(), nil
}

func (p *pgProxy) serve(client, server net.Conn) {
	s := &pgSession{
		proxy: p, faults: p.faults, client: client, fromClient: bufio.NewReader(client),
		server: server, fromServer: bufio.NewReader(server), statements: map[string]string{},
	}
	p.mu.Lock()
	p.sessions[s] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.sessions, s)
	}()
	_ = s.run() // the client sees the connection end
}

// cut makes the database unreachable. It returns how many begins lose their answer.
func (p *pgProxy) cut(how failing) (begins int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.sessions {
		begins += s.begins
	}
	p.fail(how)
	return begins
}

// pgSession is one connection. Client and server alternate: the client sends messages up to a Sync, the server
// answers up to ReadyForQuery.
type pgSession struct {
	proxy                  *pgProxy
	faults                 *faultPlan
	client, server         net.Conn
	fromClient, fromServer *bufio.Reader
	statements             map[string]string // name → function it calls
	begins                 int               // in the transaction under way; guarded by proxy.mu
}

// The types of messages that matter here. R and Z come from the server.
const (
	msgParse, msgBind, msgExecute, msgQuery, msgSync, msgTerminate = 'P', 'B', 'E', 'Q', 'S', 'X'
	msgAuth, msgReady                                              = 'R', 'Z'
)

// idleStatus in a ReadyForQuery means that no transaction is open.
const idleStatus = 'I'

func (s *pgSession) run() error {
	startup, err := frame(s.fromClient, false)
	if err != nil {
		return err
	}
	if _, err := s.server.Write(startup); err != nil {
		return err
	}
	if err := s.answer(false); err != nil { // a cancel request has none, and ends here
		return err
	}
	for {
		group, call, err := s.group()
		if err != nil {
			return err
		}
		if s.proxy.lethal != nil && s.proxy.lethal(call, group) {
			return errFault
		}
		m := s.faults.next(callClass(call, group))
		if m == cutBefore {
			return errFault
		}
		if err := s.proxy.pass(func() { s.begins += beginsIn(call, group) }); err != nil {
			return err
		}
		if _, err := s.server.Write(group); err != nil {
			return err
		}
		if m == delayed {
			time.Sleep(delayedAnswer)
		}
		if err := s.answer(m == dropAnswer); err != nil {
			return err
		}
	}
}

// group reads the client's messages up to a Sync, and returns the function that they call.
func (s *pgSession) group() (group []byte, call string, err error) {
	bound := ""
	for {
		f, err := frame(s.fromClient, true)
		if err != nil {
			return nil, "", err
		}
		group = append(group, f...)
		switch fields := bytes.SplitN(f[5:], []byte{0}, 3); f[0] {
		case msgParse:
			s.statements[string(fields[0])] = functionIn(fields[1])
		case msgBind:
			bound = s.statements[string(fields[1])]
		case msgExecute:
			if bound != "" {
				call = bound
			}
		case msgTerminate:
			_, _ = s.server.Write(group)
			return nil, "", io.EOF
		case msgSync, msgQuery:
			return group, call, nil
		}
	}
}

// answer forwards the server's answer, up to ReadyForQuery; a dropped one is read and discarded.
func (s *pgSession) answer(drop bool) error {
	for {
		f, err := frame(s.fromServer, true)
		if err != nil {
			return err
		}
		if drop {
			if f[0] == msgReady { // it is carried out and committed
				return errFault
			}
			continue
		}
		if err := s.proxy.pass(func() {}); err != nil {
			return err
		}
		if _, err := s.client.Write(f); err != nil {
			return err
		}
		if f[0] == msgReady && len(f) == 6 && f[5] == idleStatus {
			_ = s.proxy.pass(func() { s.begins = 0 })
		}
		if f[0] == msgReady {
			return nil
		}
		if f[0] == msgAuth && asksBack(binary.BigEndian.Uint32(f[5:])) {
			password, err := frame(s.fromClient, true)
			if err != nil {
				return err
			}
			if _, err := s.server.Write(password); err != nil {
				return err
			}
		}
	}
}

// asksBack reports whether an authentication request wants an answer: clear text, MD5, SASL and its continuation.
func asksBack(code uint32) bool { return code == 3 || code == 5 || code == 10 || code == 11 }

// frame reads one message with its header. Only the first one of a client has no type.
func frame(r *bufio.Reader, typed bool) ([]byte, error) {
	head := make([]byte, 4, 64)
	if typed {
		head = head[:5]
	}
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[len(head)-4:])
	if length < 4 || length > 64<<20 {
		return nil, errors.New("not the protocol of Postgres")
	}
	f := append(head, make([]byte, length-4)...)
	_, err := io.ReadFull(r, f[len(head):])
	return f, err
}

var functionName = regexp.MustCompile(`\baw_([a-z_]+)\(`)

// functionIn is our function that a statement calls, without its aw_, "" for none.
func functionIn(sql []byte) string {
	m := functionName.FindSubmatch(sql)
	if m == nil {
		return ""
	}
	return string(m[1])
}
