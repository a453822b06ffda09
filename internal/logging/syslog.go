package logging

import (
	"fmt"
	"log/syslog"
	"strings"

	"github.com/coreos/go-systemd/v22/journal"
)

// openSyslog connects to the local syslog daemon (/dev/log or its equivalent) with the facility daemon and the tag
// async-worker, for systems without a journal. It reconnects to a restarted daemon. Lines are like those of a plain
// journalctl, in the format of RFC 3164, which every such daemon reads. Empty arguments mean the local socket.
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

// tell writes a line with the priority, which the journal has from syslog.
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
