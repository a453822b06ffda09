package httpd

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
)

// Limits of each listener.
const (
	// maxServed is how many requests are served at a time, except for probes, streams and those of strangers.
	maxServed = 96
	// maxStreams is how many responses may stream events at a time.
	maxStreams = 640
	forProbes  = 32 // connections
	// Of strangers a third as many requests are served as of others.
	partOfStrangers = 3
)

// kind is a sort of request, with a room of its own.
type kind int

const (
	request kind = iota
	stream
	probe
	stranger
)

// roomOf is how many of each kind are served at a time. Probes may use all connections.
func roomOf(cfg Config) map[kind]int {
	requests, streams := cmp.Or(cfg.Requests, maxServed), cmp.Or(cfg.Streams, maxStreams)
	strangers := max(requests/partOfStrangers, 1)
	return map[kind]int{
		request: requests, stream: streams, stranger: strangers, probe: requests + streams + strangers + forProbes,
	}
}

// errFull rejects a connection while as many as there is room for are being served.
var errFull = errors.New("httpd: too many connections")

// conns keeps a listener's connections within its room. A new connection replaces the oldest that is not being served:
// connections held open, idle or in the middle of a header, keep nobody out.
type conns struct {
	net.Listener
	room map[kind]int

	mu     sync.Mutex
	open   []*conn // oldest first; a connection moves to the end after a response
	served map[kind]int
}

// conn is a connection; serving: a request has been read and not yet answered.
type conn struct {
	net.Conn
	of      *conns
	serving bool // guarded by of.mu
}

// Accept implements net.Listener.
func (c *conns) Accept() (net.Conn, error) {
	for {
		raw, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		added, err := c.add(raw)
		if errors.Is(err, errFull) {
			_ = raw.Close() // the client sees the rejection
			continue
		}
		return added, err
	}
}

func (c *conns) add(raw net.Conn) (net.Conn, error) {
	c.mu.Lock()
	var out *conn
	if len(c.open) >= c.room[probe] {
		for i, o := range c.open {
			if !o.serving {
				out = o
				c.open = append(c.open[:i], c.open[i+1:]...)
				break
			}
		}
		if out == nil {
			c.mu.Unlock()
			return nil, errFull
		}
	}
	added := &conn{Conn: raw, of: c}
	c.open = append(c.open, added)
	c.mu.Unlock()
	if out != nil {
		_ = out.Conn.Close() // no request is being served on it
	}
	return added, nil
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.of.mu.Lock()
	c.of.remove(c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// remove takes a connection off the list. The caller holds mu.
func (c *conns) remove(gone *conn) {
	for i, o := range c.open {
		if o == gone {
			c.open = append(c.open[:i], c.open[i+1:]...)
			return
		}
	}
}

// begin marks a connection as serving, and reports whether there is room for its request.
func (c *conns) begin(on *conn, of kind) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.served[of] >= c.room[of] {
		return false
	}
	on.serving = true
	if c.served == nil {
		c.served = map[kind]int{}
	}
	c.served[of]++
	return true
}

// end releases the room, and makes the connection the youngest of the waiting ones.
func (c *conns) end(on *conn, of kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	on.serving = false
	c.served[of]--
	for i, o := range c.open {
		if o == on {
			c.open = append(append(c.open[:i], c.open[i+1:]...), on)
			return
		}
	}
}

type connKey struct{}

// withConn is http.Server.ConnContext.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// kindOf tells streams by what their clients accept.
func (s *Server) kindOf(r *http.Request) kind {
	switch {
	case s.open(r):
		return probe
	case s.strangers != nil && s.strangers(r):
		return stranger
	case strings.Contains(r.Header.Get("Accept"), "text/event-stream"):
		return stream
	}
	return request
}

// limit serves as many requests of each kind at a time as there is room for. Streams end with ctx.
func (c *conns) limit(ctx context.Context, next http.Handler, kindOf func(*http.Request) kind) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		on, ok := r.Context().Value(connKey{}).(*conn)
		if !ok { // from another listener
			next.ServeHTTP(w, r)
			return
		}
		of := kindOf(r)
		if of == probe {
			w.Header().Set("Connection", "close")
		}
		if !c.begin(on, of) {
			refuseFull(w, r)
			return
		}
		defer c.end(on, of)
		if of == stream && r.Method == http.MethodGet { // others have a response that is not one of events alone
			until, cancel := context.WithCancelCause(r.Context())
			defer cancel(nil)
			defer context.AfterFunc(ctx, func() { cancel(ErrStopping) })()
			r = r.WithContext(until)
		}
		next.ServeHTTP(w, r)
	})
}
