// Package nats is the queue back end on NATS JetStream. A queue is a subject of a work-queue stream with one durable
// pull consumer, from which any number of workers take messages.
//
// JetStream lets a stale acknowledgement delete a message that another worker has, and does not fail a stale renewal.
// So a lease ends here at its deadline, by the local monotonic clock, before it ends on the server; what remains (a
// request that was sent in time and arrives late) is what the fence of the store is for.
//
// Source: https://docs.nats.io/nats-concepts/jetstream, and ADR-13 and ADR-42 of
// https://github.com/nats-io/nats-architecture-and-design.
package nats

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-7227ef26/async-worker/internal/natsconn"
	"github.com/seed-7227ef26/async-worker/queue"
)

// Options qualify Open.
type Options struct {
	// Subjects maps the names of queues to subjects, all of one stream. A queue that is not listed has its name as
	// subject, and a stream of its own.
	Subjects map[string]string
	// Group begins the names of the durable consumers, as a queue group would: workers of one group share the messages.
	// Default "ocr-workers".
	Group string
	// Owner is noted in stream and consumers. A queue that belongs to another owner is refused: two tenants on one
	// subject would take each other's messages. Answers come to an inbox of the owner's own (natsconn.Inbox). Default:
	// none, nothing is refused, and the inbox is that of all users of the account.
	Owner string
	// Lease is for how long new queues hide a received message without a request of its own: the visibility that
	// Receive and Extend are usually given. Default 60 s.
	Lease time.Duration
	// Timeout is the timeout of each request. Default 5 s.
	Timeout time.Duration
	// OnRequest is called for every request with the operation (receive, send, peek, extend, release, delete, ensure,
	// depth) and its outcome (ok; refused; uncertain: no answer). It must not block. May be nil.
	OnRequest func(op, outcome string)
	// OnConnection is called when the connection is lost (up is false; err says why, and may be nil) and when it is
	// there again. It must not block. May be nil.
	OnConnection func(up bool, err error)
	// OnSharedInbox is called when a connection was made whose login may not subscribe to the owner's inbox: answers
	// come to that of all users of the account. It must not block. May be nil.
	OnSharedInbox func(err error)
	// OnRisk is called by Ensure for each setting by which a stream may lose messages, or refuse small ones, when it first
	// sees the stream. It must not block. May be nil.
	OnRisk func(risk string)
	// OnMessage is called when a message is published to a queue that is received from. A denied right to subscribe to
	// the queue's subject is not an error: OnMessage is not called, and OnDeaf is, once. They must not block; both may
	// be nil.
	OnMessage func()
	OnDeaf    func(err error)
}

// Defaults of Options.
const (
	DefaultGroup = "ocr-workers"

	defaultLease   = time.Minute
	defaultTimeout = 5 * time.Second
)

type service struct {
	Options
	login  Login
	opts   []nats.Option
	denial denials
	deaf   atomic.Bool // the right to subscribe to subjects is missing

	mu     sync.Mutex
	queues map[string]*natsQueue
	conn   *nats.Conn // nil: not connected yet
	js     jetstream.JetStream
	failed error // of the last attempt to connect again
	closed bool
	warned map[string]bool // by stream: OnRisk was called
}

// Open returns the service of a NATS server. It doesn't touch the network: the first request connects, and fails if
// that fails. A connection that is lost later is made again, for ever; until then each request fails.
func Open(login Login, o Options) (queue.Service, error) {
	if o.Group == "" {
		o.Group = DefaultGroup
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.OnRequest == nil {
		o.OnRequest = func(string, string) {}
	}
	if o.OnConnection == nil {
		o.OnConnection = func(bool, error) {}
	}
	if o.OnSharedInbox == nil {
		o.OnSharedInbox = func(error) {}
	}
	if o.OnRisk == nil {
		o.OnRisk = func(string) {}
	}
	if o.OnDeaf == nil {
		o.OnDeaf = func(error) {}
	}
	opts, err := login.options()
	if err != nil {
		return nil, err
	}
	s := &service{Options: o, login: login, queues: map[string]*natsQueue{}, warned: map[string]bool{}}
	s.opts = append(opts, s.connection()...)
	return s, nil
}

// connect returns the connection, and makes it at the first call, and when an error of the server that the client doesn't
// know has closed it for good. Each step of that takes at most the service's timeout.
func (s *service) connect() (*nats.Conn, jetstream.JetStream, error) {
	s.mu.Lock()
	conn, js, again, err := s.connectLocked()
	s.mu.Unlock()
	if again {
		s.OnConnection(true, nil)
	}
	return conn, js, err
}

// connectLocked is connect. again: the connection is another one than before.
func (s *service) connectLocked() (conn *nats.Conn, js jetstream.JetStream, again bool, err error) {
	switch {
	case s.closed:
		return nil, nil, false, nats.ErrConnectionClosed
	case s.conn != nil && !s.conn.IsClosed():
		return s.conn, s.js, false, nil
	}
	conn, shared, err := natsconn.Connect(s.login.URL, s.Owner, s.Timeout, s.opts...)
	if err != nil {
		return nil, nil, false, &connectError{err}
	}
	if shared != nil {
		s.OnSharedInbox(shared)
	}
	if js, err = jetstream.New(conn, jetstream.WithDefaultTimeout(s.Timeout)); err != nil {
		conn.Close()
		return nil, nil, false, err
	}
	if again = s.conn != nil; again {
		s.denial.clear()
		s.failed = nil
		for _, q := range s.queues {
			q.anew()
		}
	}
	s.conn, s.js = conn, js
	return conn, js, again, nil
}

// connectError is the failure of the first connection.
type connectError struct{ err error }

func (e *connectError) Error() string { return e.err.Error() }
func (e *connectError) Unwrap() error { return e.err }

// connection are the options of the client that differ from its defaults: it gives up after 60 attempts, keeps 8 MB of
// requests while it is not connected, and prints errors.
func (s *service) connection() []nats.Option {
	return []nats.Option{
		nats.Name("async-worker"),
		nats.Timeout(s.Timeout),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(time.Second), nats.ReconnectJitter(500*time.Millisecond, time.Second),
		nats.ReconnectBufSize(-1), // a request that can't be sent now fails now
		nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(2),
		nats.ConnectHandler(s.connected()),
		nats.DisconnectErrHandler(func(c *nats.Conn, err error) {
			if !c.IsClosed() {
				s.OnConnection(false, err)
			}
		}),
		nats.ClosedHandler(func(c *nats.Conn) {
			if s.lost(c) {
				s.OnConnection(false, c.LastError())
			}
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { s.failing(err) }),
		nats.ReconnectHandler(func(*nats.Conn) {
			s.denial.clear()
			s.failing(nil)
			s.OnConnection(true, nil)
		}),
		nats.ErrorHandler(func(c *nats.Conn, _ *nats.Subscription, err error) {
			if loginRefused(err) != nil && !c.IsConnected() { // the client tells of it here alone
				s.failing(err)
				return
			}
			if deaf := s.deaf.Load(); !s.refusedListener(err) {
				s.denial.note(err)
			} else if !deaf {
				s.OnDeaf(err)
			}
		}),
	}
}

// lost reports whether a connection that has closed was the service's, and still needed.
func (s *service) lost(c *nats.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.closed && s.conn == c
}

// connected tells of the first connection; a second one may be made at once, for the sake of its inbox.
func (s *service) connected() nats.ConnHandler {
	var once sync.Once
	return func(*nats.Conn) { once.Do(func() { s.OnConnection(true, nil) }) }
}

// Queue implements queue.Service.
func (s *service) Queue(name string) queue.Queue {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[name]
	if q == nil {
		q = &natsQueue{service: s, name: name, subject: s.subject(name), durable: s.durable(name)}
		s.queues[name] = q
	}
	return q
}

// failing notes why the connection can't be made again; nil: it was.
func (s *service) failing(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = err
}

// failure is why there is no connection; nil: there is one, or nobody knows.
func (s *service) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// Close implements queue.Service.
func (s *service) Close() error {
	s.mu.Lock()
	conn := s.conn
	s.closed = true
	s.mu.Unlock()
	if conn != nil {
		conn.Close()
	}
	return nil
}

// request runs one request with the service's timeout, and counts it.
func (s *service) request(ctx context.Context, op string, run func(context.Context, wire) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	conn, js, err := s.connect()
	if err == nil {
		bounded, cancel := context.WithTimeout(ctx, s.Timeout)
		defer cancel()
		err = run(bounded, wire{conn, js})
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // the client's error names its own
	}
	s.OnRequest(op, outcomeOf(err))
	return err
}

// wire is what a request is sent with.
type wire struct {
	*nats.Conn
	js jetstream.JetStream
}
