// Package logging makes the program's logger: fields in the systemd journal if stderr is connected to it, compact text
// on a terminal, JSON lines elsewhere, and syslog on request. A record goes to exactly one of them, and carries the
// attributes of its context (event.With).
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

	"github.com/seed-7227ef26/async-worker/internal/event"
)

// Format is how records are written.
type Format string

// The formats, with the values of LOG_FORMAT.
const (
	Auto    Format = "auto"
	Journal Format = "journal"
	Text    Format = "text"
	JSON    Format = "json"
	Syslog  Format = "syslog" // the local syslog daemon; lines in the format of RFC 3164
)

// Options are how to log. The zero value logs from info on, in the format that suits stderr.
type Options struct {
	Level  slog.Leveler // nil: info
	Format Format       // empty: Auto
	Color  bool         // of Text

	send sender // nil: the journal's or syslog's socket; for tests
}

// Open returns a logger on w, normally os.Stderr. Auto chooses the format by what w is.
func Open(w io.Writer, o Options) (*slog.Logger, error) {
	if o.Level == nil {
		o.Level = slog.LevelInfo
	}
	if o.Format == "" || o.Format == Auto {
		o.Format = Detect(w)
	}
	h, err := handler(w, o)
	if err != nil {
		return nil, err
	}
	return slog.New(event.Handler{Handler: h}), nil
}

func handler(w io.Writer, o Options) (slog.Handler, error) {
	switch o.Format {
	case Journal:
		if o.send == nil {
			if !journal.Enabled() {
				return nil, fmt.Errorf("log to the journal: its socket is not there; set LOG_FORMAT=auto")
			}
			o.send = journal.Send
		}
		return &journalHandler{level: o.Level, send: o.send, fallback: w, untold: []string{event.Key, "client_id"}}, nil
	case Text:
		return tint.NewTextHandler(Escaped(w), &tint.Options{
			Level: o.Level, TimeFormat: time.TimeOnly, NoColor: !o.Color, ReplaceAttr: plain,
		}), nil
	case JSON:
		return slog.NewJSONHandler(Escaped(w), &slog.HandlerOptions{Level: o.Level, ReplaceAttr: withUnits}), nil
	case Syslog:
		if o.send == nil {
			var err error
			if o.send, err = openSyslog("", ""); err != nil {
				return nil, err
			}
		}
		return &journalHandler{level: o.Level, send: o.send, fallback: w, untold: []string{event.Key}}, nil
	}
	return nil, fmt.Errorf("log: %q is not a format", o.Format)
}

// plain removes attributes that only programs need from text for people.
func plain(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == event.Key {
		return slog.Attr{}
	}
	return a
}

// withUnits writes a duration as "1m30s"; slog's JSON handler would write a number of nanoseconds.
func withUnits(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// Detect returns the format that suits w: Journal for the stream that systemd connected to the journal, Text for a
// terminal, JSON otherwise.
func Detect(w io.Writer) Format {
	f, ok := w.(*os.File)
	if !ok {
		return JSON
	}
	if f.Fd() == os.Stderr.Fd() {
		// A malformed JOURNAL_STREAM was not set by systemd.
		if is, err := journal.StderrIsJournalStream(); err == nil && is && journal.Enabled() {
			return Journal
		}
	}
	if term.IsTerminal(int(f.Fd())) {
		return Text
	}
	return JSON
}
