// Package httpd is the worker's HTTP server: on a Unix socket, for root, the worker's user and operators, and
// optionally on a TCP address, for this machine or for clients with the token. It serves any handler. It also has
// health probes and a client.
package httpd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Config says what is served, and where.
type Config struct {
	// Socket is the path of the Unix socket; its folder exists. Empty: none.
	Socket string
	// Group is the group of people who may use the socket, in addition to root and the worker's own user and group.
	// Empty, or unknown on this machine: nobody else.
	Group string
	// Front is the group of the proxy that forwards other people's requests (internal/front). Its requests over the socket,
	// and all with the header X-Forwarded-For, are authorized as those over TCP: nobody is known by the kernel's word.
	// Empty, or unknown on this machine: only the header counts.
	Front string
	// Addr is a TCP address, HOST:PORT. Empty: none.
	Addr string
	// Token is required over TCP, as "Authorization: Bearer TOKEN", except for requests that are Open. Empty: on a loopback
	// address none is needed, and only requests to this machine's own names are served; on another nobody has it.
	Token string
	// Open reports which requests need no token: probes. A part of the connections is reserved for them, and their
	// connections are closed after the response. Nil: none.
	Open func(*http.Request) bool
	// Own reports which requests the Handler authorizes by itself: over TCP they need no Token, and may name any host. Nil:
	// none.
	Own func(*http.Request) bool
	// Strangers reports which requests anybody may make, and may then keep waiting: pages that say how to sign in, forms. They
	// have a room of their own, so that they take no place of who has a token. Nil: none.
	Strangers func(*http.Request) bool
	// Handler serves the requests. Over the socket it gets every request.
	Handler http.Handler
	Log     *slog.Logger
	// Requests and Streams are how many of each are served at a time, per listener; zero: 96 and 640.
	Requests, Streams int
}

// Limits of one request and of all. A handler that streams lifts writeLimit from its response with
// http.ResponseController.
const (
	headerLimit = 5 * time.Second
	readLimit   = 15 * time.Second
	writeLimit  = 30 * time.Second
	idleLimit   = 10 * time.Second
	maxHeader   = 16 << 10
	stopGrace   = 2 * time.Second // half of it passes before requests that are no streams are canceled
)

// ErrStopping is the cause of a request's context that ended because the server stops.
var ErrStopping = errors.New("the server is stopping")

// Server listens from the start, and serves once Run is called.
type Server struct {
	log       *slog.Logger
	open      func(*http.Request) bool
	strangers func(*http.Request) bool // nil: none
	room      map[kind]int
	listeners []listener
	closed    sync.Once
}

// listener is a net.Listener with its handler.
type listener struct {
	net.Listener
	handler http.Handler
}

// AddrError reports that HTTP_ADDR can't be listened on: it is in use, not an address of this machine, or not
// permitted.
type AddrError struct {
	Addr string
	err  error
}

func (e *AddrError) Error() string { return "listen on HTTP_ADDR: " + e.err.Error() }
func (e *AddrError) Unwrap() error { return e.err }

// Listen opens the socket and the address. Requests wait until Run is called. Without either the Server serves nobody.
func Listen(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Open == nil {
		cfg.Open = func(*http.Request) bool { return false }
	}
	s := &Server{log: cfg.Log, open: cfg.Open, strangers: cfg.Strangers, room: roomOf(cfg)}
	if cfg.Socket != "" {
		l, err := listenSocket(ctx, cfg.Socket, cfg.Group, cfg.Front)
		if err != nil {
			return nil, err
		}
		s.listeners = append(s.listeners, listener{l, newReception(cfg)})
	}
	if cfg.Addr != "" {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Addr)
		if err != nil {
			s.Close()
			return nil, &AddrError{cfg.Addr, err}
		}
		if ownName(cfg.Addr) {
			cfg.Addr = l.Addr().String() // what localhost is here
		}
		s.listeners = append(s.listeners, listener{l, NewGuard(cfg)})
	}
	return s, nil
}

// Addrs returns the addresses that the server listens on, the socket first.
func (s *Server) Addrs() []net.Addr {
	var all []net.Addr
	for _, l := range s.listeners {
		all = append(all, l.Addr())
	}
	return all
}

// Run serves until ctx is done, then gives running requests a moment to end. It returns the error that stopped it; nil
// after ctx is done.
func (s *Server) Run(ctx context.Context) error {
	defer s.Close()
	requests, cancelRequests := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancelRequests(ErrStopping)
	ended := make(chan error, len(s.listeners))
	var servers []*http.Server
	for _, l := range s.listeners {
		limited := &conns{Listener: l.Listener, room: s.room}
		server := s.serverOf(requests, limited.limit(ctx, l.handler, s.kindOf))
		servers = append(servers, server)
		go func() { ended <- server.Serve(limited) }()
	}
	var err error
	running := len(servers)
	if running > 0 {
		select {
		case err = <-ended:
			running--
		case <-ctx.Done():
		}
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	defer time.AfterFunc(stopGrace/2, func() { cancelRequests(ErrStopping) }).Stop()
	for _, server := range servers {
		if server.Shutdown(grace) != nil { // a request did not end in time
			_ = server.Close() // the error adds nothing
		}
	}
	for range running {
		err = errors.Join(err, ignoreClosed(<-ended))
	}
	return ignoreClosed(err)
}

// serverOf returns a server with limits for a request. Requests end with ctx.
func (s *Server) serverOf(ctx context.Context, h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerLimit, ReadTimeout: readLimit, WriteTimeout: writeLimit, IdleTimeout: idleLimit,
		MaxHeaderBytes: maxHeader,
		BaseContext:    func(net.Listener) context.Context { return ctx },
		ConnContext:    withConn,
		ErrorLog:       slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
}

// Close closes the listeners. Run does so too.
func (s *Server) Close() {
	s.closed.Do(func() {
		for _, l := range s.listeners {
			_ = l.Close() // it has stopped listening even on an error
		}
	})
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
