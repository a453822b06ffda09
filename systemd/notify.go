// Package systemd reports the daemon's state to the service manager: ready, stopping, its status line, and that a drain
// needs more time. Without a manager (no NOTIFY_SOCKET) every call does nothing.
package systemd

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sys/unix"
)

// Notifier implements sd_notify(3). The zero Notifier is ready to use, and safe for concurrent use.
type Notifier struct{}

// Present reports whether a manager listens. Without one, callers need not collect a status.
func (Notifier) Present() bool { return os.Getenv("NOTIFY_SOCKET") != "" }

// Ready reports that the daemon serves; status is what `systemctl status` shows.
func (n Notifier) Ready(status string) error {
	return n.send(daemon.SdNotifyReady, "STATUS="+oneLine(status))
}

// Reloading reports that the daemon begins to read its settings again; Ready ends that. Type=notify-reload needs it
// (systemd 253 and newer); Type=notify ignores it.
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

// Stopping reports that the daemon is shutting down.
func (n Notifier) Stopping(status string) error {
	return n.send(daemon.SdNotifyStopping, "STATUS="+oneLine(status))
}

// ExtendTimeout asks the manager to wait at least d from now before it kills a daemon that starts or stops. It extends
// TimeoutStopSec; call it again before d has passed.
func (n Notifier) ExtendTimeout(d time.Duration) error {
	return n.send(fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", d.Microseconds()))
}

// Watchdog reports that the daemon is alive. Call it only after the work loops have made progress, never from a bare
// ticker.
func (n Notifier) Watchdog() error { return n.send(daemon.SdNotifyWatchdog) }

// WatchdogInterval is the interval at which Watchdog must be called (half of WatchdogSec); zero: never.
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

// oneLine prevents a status from adding another assignment.
func oneLine(s string) string { return strings.ReplaceAll(s, "\n", " ") }
