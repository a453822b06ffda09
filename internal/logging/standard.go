package logging

import (
	"context"
	"log/slog"
	"strings"
)

// maxForeign bounds a line from a library, in bytes.
const maxForeign = 400

// RedirectStandard redirects what libraries write to the log package, such as net/http's clients, to the logger.
func RedirectStandard(to *slog.Logger) {
	slog.SetLogLoggerLevel(slog.LevelWarn)
	slog.SetDefault(slog.New(Foreign(to.Handler()))) //nolint:forbidigo // the log package can't be redirected otherwise
}

// Foreign turns lines that a library writes into records, for slog.NewLogLogger.
func Foreign(to slog.Handler) slog.Handler { return foreign{to} }

type foreign struct{ slog.Handler }

// Handle implements slog.Handler.
func (f foreign) Handle(ctx context.Context, r slog.Record) error {
	line := strings.Join(strings.Fields(r.Message), " ")
	// net/http quotes unsolicited data of a connection, which may be from a document.
	line, _, _ = strings.Cut(line, " starting with ")
	ours := slog.NewRecord(r.Time, r.Level, "a library reports", r.PC)
	ours.AddAttrs(slog.String("text", strings.ToValidUTF8(line[:min(len(line), maxForeign)], "")))
	return f.Handler.Handle(ctx, ours)
}
