package event

import (
	"context"
	"log/slog"
	"slices"
)

type key struct{}

// With returns a context whose records have attrs, in addition to those of ctx: the fields of the task whose
// work is done in it. A slog.LogValuer among them is asked at each record.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	return context.WithValue(ctx, key{}, append(slices.Clip(From(ctx)), attrs...))
}

// From returns the attributes that records of ctx bear.
func From(ctx context.Context) []slog.Attr {
	attrs, _ := ctx.Value(key{}).([]slog.Attr)
	return attrs
}

// Handler adds to each record what its context says (With).
type Handler struct{ slog.Handler }

// Handle adds the context's attributes to the record.
func (h Handler) Handle(ctx context.Context, r slog.Record) error {
	if attrs := From(ctx); len(attrs) > 0 {
		r = r.Clone()
		r.AddAttrs(attrs...)
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs keeps the handler a Handler.
func (h Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return Handler{h.Handler.WithAttrs(attrs)}
}

// WithGroup keeps the handler a Handler.
func (h Handler) WithGroup(name string) slog.Handler { return Handler{h.Handler.WithGroup(name)} }
