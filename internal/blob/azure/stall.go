package azure

import (
	"context"
	"net"
	"net/http"
	"time"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
)

// impatient returns a transport that gives up a request when the service takes none of its bytes for stall, or sends no
// header within stall after the last one. The answer's body is the reader's concern.
func impatient(concurrency int, stall time.Duration) *http.Transport {
	t := storage.Transport(concurrency)
	t.ResponseHeaderTimeout = stall
	dial := t.DialContext
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &stallConn{c, stall}, nil
	}
	return t
}

// stallConn is a connection of which each Write ends in time.
type stallConn struct {
	net.Conn
	stall time.Duration
}

func (c *stallConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.stall)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
