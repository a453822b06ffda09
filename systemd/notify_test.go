package systemd_test

import (
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/systemd"
)

// manager is systemd's end: a datagram socket.
func manager(t *testing.T) func() string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify.sock")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return func() string {
		t.Helper()
		buf := make([]byte, 4096)
		n, err := conn.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
}

func TestNotifications(t *testing.T) {
	read := manager(t)
	var n systemd.Notifier
	if !n.Present() {
		t.Error("the manager is not seen")
	}
	for _, c := range []struct {
		call func() error
		want string
	}{
		{func() error { return n.Ready("serving\nMAINPID=1") }, "READY=1\nSTATUS=serving MAINPID=1"},
		{func() error { return n.Status("%d of %d slots", 1, 4) }, "STATUS=1 of 4 slots"},
		{func() error { return n.Stopping("draining") }, "STOPPING=1\nSTATUS=draining"},
		{func() error { return n.ExtendTimeout(30 * time.Second) }, "EXTEND_TIMEOUT_USEC=30000000"},
		{n.Watchdog, "WATCHDOG=1"},
	} {
		if err := c.call(); err != nil {
			t.Fatal(err)
		}
		if got := read(); got != c.want {
			t.Errorf("sent %q, want %q", got, c.want)
		}
	}
}

// A reload is reported with the time of the monotonic clock, in one message.
func TestReloading(t *testing.T) {
	read := manager(t)
	if err := (systemd.Notifier{}).Reloading(); err != nil {
		t.Fatal(err)
	}
	first, usec, _ := strings.Cut(read(), "\nMONOTONIC_USEC=")
	if n, err := strconv.ParseInt(usec, 10, 64); first != "RELOADING=1" || err != nil || n <= 0 {
		t.Errorf("sent %q and %q", first, usec)
	}
}

func TestWithoutManager(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	t.Setenv("WATCHDOG_USEC", "")
	var n systemd.Notifier
	if err := n.Ready("x"); err != nil || n.Present() {
		t.Errorf("present: %t, %v", n.Present(), err)
	}
	if d, err := n.WatchdogInterval(); d != 0 || err != nil {
		t.Errorf("%v, %v", d, err)
	}
}
