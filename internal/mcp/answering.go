package mcp

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// answering is a transport whose input ends only when all calls that were read from it have been answered. The SDK drops
// the answers to those that it is at when the input ends, so a script that pipes calls into the server would get none.
type answering struct{ sdk.Transport }

// Connect implements sdk.Transport.
func (t *answering) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &answeringConn{
		Connection: c, calls: map[jsonrpc.ID]bool{}, answered: make(chan struct{}), closed: make(chan struct{}),
	}, nil
}

type answeringConn struct {
	sdk.Connection

	mu       sync.Mutex
	calls    map[jsonrpc.ID]bool // read, and not yet answered
	ended    bool                // so has the input
	answered chan struct{}       // closed when ended, and no call is left
	once     sync.Once
	closed   chan struct{}
}

// Read implements sdk.Connection.
func (c *answeringConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && err == nil && r.IsCall() {
		c.mu.Lock()
		c.calls[r.ID] = true
		c.mu.Unlock()
	}
	if !errors.Is(err, io.EOF) {
		return m, err
	}
	c.mu.Lock()
	c.ended = true
	left := len(c.calls)
	c.mu.Unlock()
	if left > 0 {
		bounded, cancel := context.WithTimeout(ctx, 2*CallLimit)
		defer cancel()
		select {
		case <-c.answered:
		case <-c.closed:
		case <-bounded.Done():
		}
	}
	return m, err
}

// Write implements sdk.Connection.
func (c *answeringConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	r, ok := m.(*jsonrpc.Response)
	if !ok {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls[r.ID] {
		delete(c.calls, r.ID)
		if c.ended && len(c.calls) == 0 {
			close(c.answered)
		}
	}
	return err
}

// Close implements sdk.Connection.
func (c *answeringConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
