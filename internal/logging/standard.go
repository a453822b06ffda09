package logging

import (
	"context"
	"log/slog"
	"strings"
)

// maxForeign bounds a line of somebody else's, in bytes.
const maxForeign = 400

// TakeStandard leads to the logger what libraries write to the log package, as net/http's clients do.
func TakeStandard(to *slog.Logger) {
	slog.SetLogLoggerLevel(slog.LevelWarn)
	slog.SetDefault(slog.New(Foreign(to.Handler()))) //nolint:forbidigo // the log package has no other way in
}

// Foreign makes records of lines that a library writes, for slog.NewLogLogger.
func Foreign(to slog.Handler) slog.Handler { return foreign{to} }

type foreign struct{ slog.Handler }

// Handle implements slog.Handler.
func (f foreign) Handle(ctx context.Context, r slog.Record) error {
	line := strings.Join(strings.Fields(r.Message), " ")
	// net/http repeats what came unasked on a connection: it may be of a document.
	line, _, _ = strings.Cut(line, " starting with ")
	ours := slog.NewRecord(r.Time, r.Level, "a library reports", r.PC)
	ours.AddAttrs(slog.String("text", strings.ToValidUTF8(line[:min(len(line), maxForeign)], "")))
	return f.Handler.Handle(ctx, ours)
}
