package stack

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
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
// the process.
func reserve(port int) error {
	mark, err := net.Listen("unix", fmt.Sprintf("@async-worker-port-%d", port))
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return errors.Join(err, mark.Close())
	}
	reserved.mu.Lock()
	defer reserved.mu.Unlock()
	reserved.held = append(reserved.held, mark)
	return l.Close()
}
