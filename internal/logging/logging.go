// Package logging makes the program's one logger: fields in the systemd journal when stderr is
// connected to it, compact text on a terminal, JSON lines elsewhere. A record goes to exactly one of
// them.
package logging

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/coreos/go-systemd/v22/journal"
	"github.com/lmittmann/tint"
	"golang.org/x/term"
)

// Format is how records are written.
type Format string

// The formats; the texts are those of the setting LOG_FORMAT.
const (
	Auto    Format = "auto"
	Journal Format = "journal"
	Text    Format = "text"
	JSON    Format = "json"
)

// Options say how to log. The zero value logs from info on, in the format that suits stderr.
type Options struct {
	Level  slog.Leveler // nil: info
	Format Format       // empty: Auto
	Color  bool         // of Text

	send sender // nil: the journal's socket; for tests
}

// Open returns a logger on w, normally os.Stderr. Auto looks at what w is.
func Open(w io.Writer, o Options) (*slog.Logger, error) {
	if o.Level == nil {
		o.Level = slog.LevelInfo
	}
	if o.Format == "" || o.Format == Auto {
		o.Format = Detect(w)
	}
	switch o.Format {
	case Journal:
		if o.send == nil {
			if !journal.Enabled() {
				return nil, fmt.Errorf("log to the journal: its socket is not there; set LOG_FORMAT=auto")
			}
			o.send = journal.Send
		}
		return slog.New(&journalHandler{level: o.Level, send: o.send, fallback: w}), nil
	case Text:
		return slog.New(tint.NewTextHandler(w, &tint.Options{Level: o.Level, TimeFormat: time.TimeOnly, NoColor: !o.Color})), nil
	case JSON:
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: o.Level})), nil
	}
	return nil, fmt.Errorf("log: %q is not a format", o.Format)
}

// Detect returns the format that suits w: Journal when it is the stream that systemd connected to the
// journal, Text on a terminal, JSON otherwise.
func Detect(w io.Writer) Format {
	f, ok := w.(*os.File)
	if !ok {
		return JSON
	}
	if f.Fd() == os.Stderr.Fd() {
		// A malformed JOURNAL_STREAM means that nobody connected us: not worth more than JSON.
		if is, err := journal.StderrIsJournalStream(); err == nil && is && journal.Enabled() {
			return Journal
		}
	}
	if term.IsTerminal(int(f.Fd())) {
		return Text
	}
	return JSON
}
