package logging

import (
	"fmt"
	"log/syslog"
	"strings"

	"github.com/coreos/go-systemd/v22/journal"
)

// openSyslog connects to the local syslog daemon (/dev/log, or what stands for it), as facility daemon with the tag
// async-worker. It is for systems without a journal; a daemon that was restarted is connected to again. Lines are as
// a plain journalctl shows them, in the format of RFC 3164 that every such daemon reads. Empty arguments mean the
// local socket.
func openSyslog(network, address string) (sender, error) {
	w, err := syslog.Dial(network, address, syslog.LOG_DAEMON|syslog.LOG_INFO, "async-worker")
	if err != nil {
		return nil, fmt.Errorf("log to syslog: its socket is not there (is a syslog daemon running?); set "+
			"LOG_FORMAT=auto: %w", err)
	}
	return func(line string, p journal.Priority, _ map[string]string) error {
		return tell(w, strings.ReplaceAll(line, "\n", `\n`), p)
	}, nil
}

// tell writes a line under the priority, which the journal has from syslog.
func tell(w *syslog.Writer, line string, p journal.Priority) error {
	switch p {
	case journal.PriErr:
		return w.Err(line)
	case journal.PriWarning:
		return w.Warning(line)
	case journal.PriDebug:
		return w.Debug(line)
	default:
		return w.Info(line)
	}
}
