package httpd

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
)

// ForwardedFor is the header by which a proxy tells for whom it sends a request.
const ForwardedFor = "X-Forwarded-For"

// reception serves a Unix socket: it trusts those who may use it themselves, and authorizes what a proxy forwards.
type reception struct {
	own, forwarded http.Handler
	may            func(net.Conn) bool // the peers that are not a proxy
}

func newReception(cfg Config) *reception {
	own := trust(cfg.Handler)
	cfg.Addr = "" // others are at its other end: without a token nobody has it
	return &reception{own: own, forwarded: NewGuard(cfg), may: mayAsk(groupIDs(cfg.Group)...)}
}

// ServeHTTP implements http.Handler.
func (d *reception) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	on, ok := r.Context().Value(connKey{}).(*conn)
	if _, sent := r.Header[ForwardedFor]; sent || !ok || !d.may(on.Conn) {
		d.forwarded.ServeHTTP(w, r)
		return
	}
	d.own.ServeHTTP(w, r)
}

// DialOwner connects to a Unix socket, and checks that the process that listens is the owner of the socket's folder: a
// link in the folder must not lead to the socket of somebody else.
func DialOwner(ctx context.Context, path string) (net.Conn, error) {
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	owner, ok := folder.Sys().(*syscall.Stat_t)
	peer, _, err := peerOf(c)
	if err != nil || !ok || peer.Uid != owner.Uid {
		_ = c.Close() // the error says more
		return nil, fmt.Errorf("connect to %s: its listener is not the owner of the folder", path)
	}
	return c, nil
}
