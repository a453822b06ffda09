package devstack

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
)

// readyListener receives sd_notify(3) messages and waits for READY=1.
type readyListener struct {
	address string // for NOTIFY_SOCKET
	conn    *net.UnixConn
	readied chan struct{} // closed by READY=1
}

// listenReady listens on a socket in Linux's abstract namespace, so that no file is left and no path is too long.
func listenReady() (*readyListener, error) {
	l := &readyListener{address: "@async-worker-dev-" + rand.Text(), readied: make(chan struct{})}
	var err error
	if l.conn, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: l.address, Net: "unixgram"}); err != nil {
		return nil, fmt.Errorf("listen for the worker's readiness: %w", err)
	}
	go l.read()
	return l, nil
}

// read also drains later messages, until close.
func (l *readyListener) read() {
	buf := make([]byte, 4096)
	for said := false; ; {
		n, err := l.conn.Read(buf)
		if err != nil {
			return // closed
		}
		if !said && slices.Contains(strings.Split(string(buf[:n]), "\n"), "READY=1") {
			close(l.readied)
			said = true
		}
	}
}

func (l *readyListener) close() { _ = l.conn.Close() }

// ready returns nil once the daemon is ready.
func (l *readyListener) ready(context.Context) error {
	select {
	case <-l.readied:
		return nil
	default:
		return errors.New("it has not reported that it is ready")
	}
}
