// Package systemd tells the service manager how the daemon is: ready, stopping, its status line, and
// that a drain needs more time. Without a manager (no NOTIFY_SOCKET) every call does nothing.
package systemd

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sys/unix"
)

// Notifier speaks sd_notify(3). The zero Notifier is ready to use, and safe for concurrent use.
type Notifier struct{}

// Present says whether there is a manager that listens. Asking what to tell it can be spared without one.
func (Notifier) Present() bool { return os.Getenv("NOTIFY_SOCKET") != "" }

// Ready says that the daemon serves; status is what `systemctl status` shows.
func (n Notifier) Ready(status string) error {
	return n.send(daemon.SdNotifyReady, "STATUS="+oneLine(status))
}

// Reloading says that the daemon begins to read its settings again; Ready ends that. It is what Type=notify-reload
// wants (systemd 253 and newer), and does no harm under Type=notify.
func (n Notifier) Reloading() error {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return fmt.Errorf("read the monotonic clock: %w", err)
	}
	return n.send(daemon.SdNotifyReloading, fmt.Sprintf("MONOTONIC_USEC=%d", now.Nano()/1000))
}

// Status replaces the line that `systemctl status` shows.
func (n Notifier) Status(format string, args ...any) error {
	return n.send("STATUS=" + oneLine(fmt.Sprintf(format, args...)))
}

// Stopping says that the daemon is shutting down.
func (n Notifier) Stopping(status string) error {
	return n.send(daemon.SdNotifyStopping, "STATUS="+oneLine(status))
}

// ExtendTimeout asks the manager to wait at least d more from now before it kills a daemon that
// starts or stops; ask again before d is over. It outlasts TimeoutStopSec.
func (n Notifier) ExtendTimeout(d time.Duration) error {
	return n.send(fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", d.Microseconds()))
}

// Watchdog says that the daemon is alive. Call it from what has seen the work loops move, never from
// a bare ticker.
func (n Notifier) Watchdog() error { return n.send(daemon.SdNotifyWatchdog) }

// WatchdogInterval is how often Watchdog must be called at least (half of WatchdogSec); zero: never.
func (n Notifier) WatchdogInterval() (time.Duration, error) {
	d, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return 0, fmt.Errorf("read the watchdog's interval: %w", err)
	}
	return d / 2, nil
}

func (Notifier) send(lines ...string) error {
	if _, err := daemon.SdNotify(false, strings.Join(lines, "\n")); err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	return nil
}

// oneLine keeps a status from smuggling in another assignment.
func oneLine(s string) string { return strings.ReplaceAll(s, "\n", " ") }
