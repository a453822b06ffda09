package stack

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
	"time"
)

// reserved are held until the process ends: a server that is stopped and started again finds its port free.
var reserved struct { //nolint:gochecknoglobals // as long as the process
	mu   sync.Mutex
	held []net.Listener
}

// FreePort returns a loopback TCP port that is free and that no other process gets from FreePort while this one runs. It is
// below those that the kernel itself gives to connections and to listeners on port 0 (from 32768 on Linux, unless it is
// set otherwise), so that none of them takes it meanwhile.
func FreePort() (int, error) {
	const first, last, tries = 20_000, 32_767, 100
	var errs error
	for range tries {
		port := first + rand.IntN(last-first+1)
		err := reserve(port)
		if err == nil {
			return port, nil
		}
		errs = err
	}
	return 0, fmt.Errorf("no free port after %d tries: %w", tries, errs)
}

// reserve takes a port by a socket in the kernel's abstract namespace, see unix(7): it leaves no file, and is gone with
// the process. It does not try to listen: a process that another goroutine is just starting would have that listener
// too, and for a moment longer.
func reserve(port int) error {
	mark, err := net.Listen("unix", fmt.Sprintf("@async-worker-port-%d", port))
	if err != nil {
		return err
	}
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err == nil {
		return errors.Join(fmt.Errorf("a server listens on port %d", port), conn.Close(), mark.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return errors.Join(err, mark.Close())
	}
	reserved.mu.Lock()
	defer reserved.mu.Unlock()
	reserved.held = append(reserved.held, mark)
	return nil
}

// ListenAgain listens on a loopback address whose listener was closed just before. It waits, at most 10 s, while a
// process that is being started still has the old one, as each does from its fork until its program begins.
func ListenAgain(ctx context.Context, address string) (net.Listener, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err == nil || !errors.Is(err, syscall.EADDRINUSE) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(time.Millisecond):
		}
	}
}
