package httpd

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
)

// Bounds of connections and requests, of each listener.
const (
	maxConns = 128 // at a time
	// maxServed is how many requests are answered at a time, probes apart: the rest of maxConns is theirs.
	maxServed = maxConns - 32
)

// errFull refuses a connection while maxConns are being answered.
var errFull = errors.New("httpd: too many connections")

// conns keeps a listener's connections within maxConns. A new one takes the place of the oldest that is not being
// answered, so that whoever holds connections open, idle or in the middle of a header, keeps nobody out.
type conns struct {
	net.Listener

	mu     sync.Mutex
	open   []*conn // the oldest first; one whose request was answered goes to the end
	served int     // requests being answered, probes apart
}

// conn is a connection; serving says that a request of it has been read and is not answered yet.
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
			_ = raw.Close() // the caller sees that it was refused
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
		_ = out.Conn.Close() // nobody waits for an answer on it
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

// begin marks a connection as being answered, and says whether there is room for its request.
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

// end gives the room back, and makes the connection the youngest of those that wait.
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

// limit answers at most maxServed requests at a time, and probes beside them.
func (c *conns) limit(next http.Handler, probe func(*http.Request) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		on, ok := r.Context().Value(connKey{}).(*conn)
		if !ok { // not of this listener
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
