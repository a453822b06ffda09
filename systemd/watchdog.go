package systemd

import (
	"context"
	"log/slog"
	"time"
)

// Supervision feeds the manager's watchdog for as long as somebody who has looked says that the daemon moves.
// A daemon that stands still is fed no more: the manager aborts it (SIGABRT: Go prints all goroutines) and starts
// it again.
type Supervision struct {
	// Every is how often to look; see Notifier.WatchdogInterval.
	Every time.Duration
	// Alive says what stands still; nil: nothing. It must have seen the work move, not only itself.
	Alive func() error
	// Feed tells the manager; Notifier.Watchdog.
	Feed func() error
	// Log is told once when the daemon begins to stand still, and when it moves again.
	Log *slog.Logger
}

// Run looks at once and then Every so often, until ctx is done. Without an interval it returns at once.
func (s Supervision) Run(ctx context.Context) {
	if s.Every <= 0 {
		return
	}
	ticker := time.NewTicker(s.Every)
	defer ticker.Stop()
	for stuck, deaf := false, false; ; {
		err := s.Alive()
		switch {
		case err != nil && !stuck:
			s.Log.Error("the worker stands still; unless it moves soon, systemd aborts it with all goroutines in "+
				"the journal, and starts it again",
				"error", err)
		case err == nil && stuck:
			s.Log.Warn("the worker moves again")
		}
		if stuck = err != nil; !stuck {
			err := s.Feed()
			if err != nil && !deaf {
				s.Log.Warn("systemd's watchdog was not told", "error", err)
			}
			deaf = err != nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
