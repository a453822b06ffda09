package httpd

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
)

// Limits of each listener.
const (
	maxConns = 128 // at a time
	// maxServed is how many requests other than probes are served at a time; the rest of maxConns is for probes.
	maxServed = maxConns - 32
)

// errFull rejects a connection while maxConns are being served.
var errFull = errors.New("httpd: too many connections")

// conns keeps a listener's connections within maxConns. A new connection replaces the oldest that is not being served:
// connections held open, idle or in the middle of a header, keep nobody out.
type conns struct {
	net.Listener

	mu     sync.Mutex
	open   []*conn // oldest first; a connection moves to the end after a response
	served int     // requests being served, without probes
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
	if len(c.open) >= maxConns {
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
func (c *conns) begin(on *conn, probe bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !probe && c.served >= maxServed {
		return false
	}
	on.serving = true
	if !probe {
		c.served++
	}
	return true
}

// end releases the room, and makes the connection the youngest of the waiting ones.
func (c *conns) end(on *conn, probe bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	on.serving = false
	if !probe {
		c.served--
	}
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

// limit serves at most maxServed requests at a time, and probes in addition.
func (c *conns) limit(next http.Handler, probe func(*http.Request) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		on, ok := r.Context().Value(connKey{}).(*conn)
		if !ok { // from another listener
			next.ServeHTTP(w, r)
			return
		}
		open := probe(r)
		if open {
			w.Header().Set("Connection", "close")
		}
		if !c.begin(on, open) {
			w.Header().Set("Connection", "close")
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests at a time", http.StatusServiceUnavailable)
			return
		}
		defer c.end(on, open)
		next.ServeHTTP(w, r)
	})
}
