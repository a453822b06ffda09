package event

import (
	"context"
	"log/slog"
	"slices"
)

// Late gives h the attributes of a logger only with a record that is written. A handler formats them as soon as it gets
// them, which is in vain for a logger that is made for one task and mostly writes nothing.
func Late(h slog.Handler) slog.Handler { return late{next: h} }

type late struct {
	next  slog.Handler
	attrs []slog.Attr
}

// Enabled implements slog.Handler.
func (l late) Enabled(ctx context.Context, level slog.Level) bool { return l.next.Enabled(ctx, level) }

// Handle implements slog.Handler.
func (l late) Handle(ctx context.Context, r slog.Record) error {
	if len(l.attrs) == 0 {
		return l.next.Handle(ctx, r)
	}
	whole := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	whole.AddAttrs(l.attrs...)
	r.Attrs(func(a slog.Attr) bool {
		whole.AddAttrs(a)
		return true
	})
	return l.next.Handle(ctx, whole)
}

// WithAttrs implements slog.Handler.
func (l late) WithAttrs(attrs []slog.Attr) slog.Handler {
	return late{l.next, append(slices.Clip(l.attrs), attrs...)}
}

// WithGroup implements slog.Handler.
func (l late) WithGroup(name string) slog.Handler {
	return late{next: l.next.WithAttrs(l.attrs).WithGroup(name)}
}
