package azure

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// A service's time to answer counts from the last write: what the kernel takes beyond what it can send would be sent in
// that time, and an upload over a slow line would be given up although it goes on.
func TestUnsentIsBounded(t *testing.T) {
	t.Parallel()
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		_ = c.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
		return err
	}}
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := impatient(1, 300*time.Millisecond).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const most = 512 << 10 // an eighth of what the kernel takes by default
	taken := 0
	for err == nil && taken < most {
		var n int
		n, err = c.Write(make([]byte, 32<<10))
		taken += n
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after %d bytes: %v, want a timeout", taken, err)
	}
}
