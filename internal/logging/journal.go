package logging

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/coreos/go-systemd/v22/journal"
)

type sender func(message string, priority journal.Priority, fields map[string]string) error

// journalHandler sends each record to the journal with its attributes as fields (task_id becomes TASK_ID, so that
// `journalctl TASK_ID=…` finds it), and repeats them as key=value after the message, since a plain journalctl shows
// only the message. It serves syslog too, which has no fields.
type journalHandler struct {
	level    slog.Leveler
	send     sender
	fallback io.Writer // gets the line if the journal fails
	untold   []string  // keys that are fields only, not in the message
	prefix   string    // of the open groups, e.g. "request."
	attrs    []attr    // of WithAttrs, in order
}

type attr struct{ key, value string }

func (h *journalHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level.Level() }

func (h *journalHandler) WithAttrs(as []slog.Attr) slog.Handler {
	next := *h
	next.attrs = slices.Clip(h.attrs)
	for _, a := range as {
		next.attrs = flatten(next.attrs, h.prefix, a)
	}
	return &next
}

func (h *journalHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	next := *h
	next.prefix += name + "."
	return &next
}

func (h *journalHandler) Handle(_ context.Context, r slog.Record) error {
	attrs := slices.Clip(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		attrs = flatten(attrs, h.prefix, a)
		return true
	})
	fields := map[string]string{"SYSLOG_IDENTIFIER": "async-worker"}
	var line strings.Builder
	line.WriteString(string(escape([]byte(r.Message))))
	for i, a := range attrs {
		if slices.ContainsFunc(attrs[i+1:], func(b attr) bool { return b.key == a.key }) {
			continue // repeated further on: the last one counts
		}
		fields[fieldName(a.key)] = a.value
		if slices.Contains(h.untold, a.key) {
			continue
		}
		line.WriteString(" " + a.key + "=" + string(escape([]byte(quoteIfNeeded(a.value)))))
	}
	p := priority(r.Level)
	if err := h.send(line.String(), p, fields); err != nil {
		// systemd would read the fallback, with the level in its notation.
		_, err = fmt.Fprintf(h.fallback, "<%d>%s\n", p, strings.ReplaceAll(line.String(), "\n", `\n`))
		return err
	}
	return nil
}

// flatten appends a (a group: its members) with dotted keys.
func flatten(to []attr, prefix string, a slog.Attr) []attr {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, member := range v.Group() {
			to = flatten(to, prefix, member)
		}
		return to
	}
	if a.Key == "" && v.Any() == nil {
		return to
	}
	return append(to, attr{prefix + a.Key, valueText(v)})
}

func valueText(v slog.Value) string {
	switch v.Kind() {
	case slog.KindTime:
		return v.Time().Format(time.RFC3339Nano)
	case slog.KindAny:
		switch x := v.Any().(type) {
		case error:
			return x.Error()
		case fmt.Stringer:
			return x.String()
		case json.Marshaler, map[string]any, []string, []any:
			if b, err := json.Marshal(x); err == nil {
				return string(b)
			}
		}
	}
	return v.String()
}

// reserved reports whether the journal or this handler uses a field's name.
func reserved(name string) bool {
	return name == "MESSAGE" || name == "PRIORITY" || name == "SYSLOG_IDENTIFIER"
}

// fieldName makes a name that the journal accepts: [A-Z][A-Z0-9_]*, at most 64 bytes.
func fieldName(key string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return r
		}
		return '_'
	}, key)
	name = strings.TrimLeft(name, "_")
	if name == "" || name[0] <= '9' || reserved(name) {
		name = "F_" + name
	}
	return name[:min(len(name), 64)]
}

func priority(l slog.Level) journal.Priority {
	switch {
	case l >= slog.LevelError:
		return journal.PriErr
	case l >= slog.LevelWarn:
		return journal.PriWarning
	case l >= slog.LevelInfo:
		return journal.PriInfo
	}
	return journal.PriDebug
}

// quoteIfNeeded quotes what would be read as something else. journalctl shows no line that has a control character.
func quoteIfNeeded(s string) string {
	if s == "" || strings.ContainsAny(s, " \"=") || strings.ContainsFunc(s, unicode.IsControl) {
		return strconv.Quote(s)
	}
	return s
}
