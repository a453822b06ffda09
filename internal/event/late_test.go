package event_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/event"
)

// TestLate: what is logged through it is what is logged without it.
func TestLate(t *testing.T) {
	t.Parallel()
	logged := func(wrap func(slog.Handler) slog.Handler) string {
		var out bytes.Buffer
		noTime := func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}
		log := slog.New(wrap(slog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: noTime, AddSource: true})))
		one := log.With("a", 1)
		for _, l := range []*slog.Logger{
			log, one, one.With("b", "x", "c", true), one.With("b", "y"), one.WithGroup("g").With("d", 2), one.With(),
		} {
			l.Info("said", "of", "all", slog.Group("h", "e", 3))
			l.Debug("not said")
		}
		_ = log.Handler().Enabled(context.Background(), slog.LevelDebug)
		return out.String()
	}
	want := logged(func(h slog.Handler) slog.Handler { return h })
	if got := logged(event.Late); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
