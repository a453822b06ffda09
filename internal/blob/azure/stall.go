package azure

import (
	"context"
	"net"
	"net/http"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
)

// maxUnsent is how many bytes of one connection, about, the kernel takes before it has sent them. Unlimited it takes
// megabytes, and a slow uplink would have sent the last of them only after the service's time to answer is over. There
// are two connections to an upload.
const maxUnsent = 64 << 10

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
		limitUnsent(c)
		return &stallConn{c, stall}, nil
	}
	return t
}

// limitUnsent does what the system can do: without the option an upload over a slow line may be given up.
func limitUnsent(c net.Conn) {
	tcp, ok := c.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := tcp.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, maxUnsent)
		})
	}
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
