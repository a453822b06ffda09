// Package natstest runs nats-server with JetStream inside of a test.
package natstest

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Patience is for a connection and for each request: on a busy machine the client's own 2 and 5 seconds are too few.
const Patience = time.Minute

// Connect connects a client of the test's own, until the test ends.
func Connect(t testing.TB, url string, opts ...nats.Option) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(url, append(opts, nats.Timeout(Patience))...)
	if err != nil {
		t.Fatalf("connect to nats-server: %v", err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(Patience))
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// Server is a running nats-server. It stops with its test.
type Server struct {
	t    testing.TB
	opts server.Options
	s    *server.Server
}

// Start starts a server on a free port of the loopback interface, with its files in a folder of the test. edit changes
// its options; it may be nil.
func Start(t testing.TB, edit func(*server.Options)) *Server {
	t.Helper()
	o := server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
	}
	if edit != nil {
		edit(&o)
	}
	s := &Server{t: t, opts: o}
	t.Cleanup(s.Stop)
	s.Restart()
	return s
}

// URL is where clients connect, without credentials.
func (s *Server) URL() string { return s.s.ClientURL() }

// Stop shuts the server down; its messages stay.
func (s *Server) Stop() {
	if s.s != nil {
		s.s.Shutdown()
		s.s.WaitForShutdown()
		s.s = nil
	}
}

// Restart stops the server if it runs, and starts it on the same port with the same files.
func (s *Server) Restart() {
	s.t.Helper()
	s.Stop()
	opts := s.opts // the server writes into it
	running, err := server.NewServer(&opts)
	if err != nil {
		s.t.Fatalf("make a nats-server: %v", err)
	}
	running.Start()
	if !running.ReadyForConnections(30 * time.Second) {
		running.Shutdown()
		s.t.Fatal("nats-server is not ready after 30 s")
	}
	s.s = running
	s.opts.Port = opts.Port
}

// Reload changes options of the running server, as its signal does.
func (s *Server) Reload(edit func(*server.Options)) {
	s.t.Helper()
	edit(&s.opts)
	opts := s.opts
	if err := s.s.ReloadOptions(&opts); err != nil {
		s.t.Fatalf("reload nats-server: %v", err)
	}
}

// StartDenying starts a server with users whose password is their name, and who may not publish to some subjects.
func StartDenying(t testing.TB, denied map[string]string) *Server {
	t.Helper()
	return Start(t, func(o *server.Options) {
		for name, subject := range denied {
			o.Users = append(o.Users, &server.User{Username: name, Password: name, Permissions: &server.Permissions{
				Publish: &server.SubjectPermission{Deny: []string{subject}},
			}})
		}
	})
}

// URLOf is where a user connects.
func (s *Server) URLOf(user string) string {
	return strings.Replace(s.URL(), "://", "://"+user+":"+user+"@", 1)
}
