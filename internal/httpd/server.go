// Package httpd is the worker's web server: on a Unix socket, whose file's mode says who may ask, and, if wanted, on a
// TCP address, for this machine alone or for who has the token. It serves whatever handler it is given; probes of
// health are in it, and the client for its Unix socket and address.
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
	// Group is that of people who may use the socket, beside root and the worker's own user and group. Empty, or not on
	// this machine: no more than these.
	Group string
	// Addr is a TCP address, HOST:PORT. Empty: none.
	Addr string
	// Token is asked for over TCP, as "Authorization: Bearer TOKEN", but for what is Open. Empty: none is, and only
	// requests to this machine's own names are answered.
	Token string
	// Open says which requests need no token: probes. They have room of their own when many ask at a time, and their
	// connections are closed behind the answer. Nil: none.
	Open func(*http.Request) bool
	// Handler is what is served. Over the socket it gets every request.
	Handler http.Handler
	Log     *slog.Logger
}

// Bounds of one request and of all. Whoever serves a stream lifts writeLimit from its answer with
// http.ResponseController.
const (
	headerLimit = 5 * time.Second
	readLimit   = 15 * time.Second
	writeLimit  = 30 * time.Second
	idleLimit   = 10 * time.Second
	maxHeader   = 16 << 10
	stopGrace   = 2 * time.Second
)

// Server listens, and serves once Run is called.
type Server struct {
	log    *slog.Logger
	open   func(*http.Request) bool
	doors  []door
	closed sync.Once
}

// door is one listener and what is served there.
type door struct {
	net.Listener
	handler http.Handler
}

// AddrError is that HTTP_ADDR can't be listened on: it is taken, not this machine's, or not for this user.
type AddrError struct {
	Addr string
	err  error
}

func (e *AddrError) Error() string { return "listen on HTTP_ADDR: " + e.err.Error() }
func (e *AddrError) Unwrap() error { return e.err }

// Listen takes the socket and the address. Requests wait until Run is called. Without either it returns a Server that
// serves nobody.
func Listen(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Open == nil {
		cfg.Open = func(*http.Request) bool { return false }
	}
	s := &Server{log: cfg.Log, open: cfg.Open}
	if cfg.Socket != "" {
		l, err := listenSocket(ctx, cfg.Socket, cfg.Group)
		if err != nil {
			return nil, err
		}
		s.doors = append(s.doors, door{l, trust(cfg.Handler)})
	}
	if cfg.Addr != "" {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Addr)
		if err != nil {
			s.Close()
			return nil, &AddrError{cfg.Addr, err}
		}
		s.doors = append(s.doors, door{l, NewGuard(cfg)})
	}
	return s, nil
}

// Addrs are what the server listens on, the socket first.
func (s *Server) Addrs() []net.Addr {
	var all []net.Addr
	for _, d := range s.doors {
		all = append(all, d.Addr())
	}
	return all
}

// Run serves until ctx is done, and then lets requests end for a moment. It returns why it could not go on; nil: it was
// told to stop.
func (s *Server) Run(ctx context.Context) error {
	defer s.Close()
	ended := make(chan error, len(s.doors))
	var servers []*http.Server
	for _, d := range s.doors {
		limited := &conns{Listener: d.Listener}
		server := s.serverOf(ctx, limited.limit(d.handler, s.open))
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
	for _, server := range servers {
		if server.Shutdown(grace) != nil { // somebody is slow
			_ = server.Close() // its connections are cut, which is no news to anybody here
		}
	}
	for range running {
		err = errors.Join(err, ignoreClosed(<-ended))
	}
	return ignoreClosed(err)
}

// serverOf bounds what a request may take. Requests end with ctx.
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

// Close gives the socket and the address back. Run does so too.
func (s *Server) Close() {
	s.closed.Do(func() {
		for _, d := range s.doors {
			_ = d.Close() // it listens no more, whatever the answer
		}
	})
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
