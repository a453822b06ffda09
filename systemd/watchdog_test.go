package systemd_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/systemd"
)

// The watchdog is fed while the daemon makes progress, and not while it is stuck.
func TestSupervision(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		begun := time.Now()
		var fed []time.Duration
		s := systemd.Supervision{
			Every: 15 * time.Second,
			Alive: func() error {
				if d := time.Since(begun); 40*time.Second < d && d < 80*time.Second {
					return errors.New("the loop is stuck")
				}
				return nil
			},
			Feed: func() error { fed = append(fed, time.Since(begun)); return nil },
			Log:  slog.New(slog.NewTextHandler(&log, nil)),
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
		defer cancel()
		s.Run(ctx)
		var want []time.Duration
		for _, at := range []int{0, 15, 30, 90} {
			want = append(want, time.Duration(at)*time.Second)
		}
		if !slices.Equal(fed, want) {
			t.Errorf("fed at %v, want %v", fed, want)
		}
		if n := strings.Count(log.String(), "level=ERROR"); n != 1 ||
			!strings.Contains(log.String(), "the loop is stuck") {
			t.Errorf("the log is %s", &log)
		}
		if !strings.Contains(log.String(), "makes progress again") {
			t.Errorf("the log is %s", &log)
		}
	})
}

func TestNoWatchdogIsFedNothing(t *testing.T) {
	t.Parallel()
	systemd.Supervision{Feed: func() error { t.Error("it was fed"); return nil }}.Run(t.Context()) // returns
}
