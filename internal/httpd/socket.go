package httpd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"
)

const (
	// socketMode admits only the worker's user and group.
	socketMode = 0o660
	// peersMode lets everybody connect; peers authorizes the clients. The worker can't give the file to another group,
	// because it is not a member of any.
	peersMode = 0o666
	// maxSocketPath is the longest path of a Unix socket (unix(7): 108 bytes with the final zero).
	maxSocketPath = 107
)

// listenSocket creates the socket. It removes the socket of a dead worker; a socket with a listener is an error.
// Members of the groups that this machine has may connect, too.
func listenSocket(ctx context.Context, path string, groups ...string) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("listen on %s: the path has %d bytes, the limit is %d; use a shorter folder as "+
			"RUNTIME_DIRECTORY", path, len(path), maxSocketPath)
	}
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on the socket: %w", err)
	}
	mode := fs.FileMode(socketMode)
	if gids := groupIDs(groups...); len(gids) > 0 {
		mode, l = peersMode, newPeers(l, mayAsk(gids...))
	}
	if err := os.Chmod(path, mode); err != nil {
		return nil, errors.Join(fmt.Errorf("set the socket's mode: %w", err), l.Close())
	}
	return l, nil
}

// removeStale removes a socket that nobody listens on.
func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for an old socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("listen on %s: the path exists and is not a socket; remove it", path)
	}
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", path)
	if err == nil {
		_ = conn.Close()
		return fmt.Errorf("listen on %s: another worker listens there; stop it, or give this one a "+
			"RUNTIME_DIRECTORY of its own", path)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("check for a listener on an old socket: %w", err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove an old socket: %w", err)
	}
	return nil
}
