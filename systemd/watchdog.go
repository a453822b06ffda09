package systemd

import (
	"context"
	"log/slog"
	"time"
)

// Supervision feeds the manager's watchdog while the daemon makes progress. It stops feeding a stuck daemon: the
// manager aborts it (SIGABRT: Go prints all goroutines) and starts it again.
type Supervision struct {
	// Every is the interval between checks; see Notifier.WatchdogInterval.
	Every time.Duration
	// Alive returns nil or what is stuck. It must check the work's progress, not only that it runs.
	Alive func() error
	// Feed feeds the watchdog; Notifier.Watchdog.
	Feed func() error
	// Log gets one record when the daemon gets stuck, and one when it makes progress again.
	Log *slog.Logger
}

// Run checks at once and then at each interval, until ctx is done. Without an interval it returns at once.
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
			s.Log.Error("the worker is stuck; unless it makes progress soon, systemd aborts it with all goroutines in "+
				"the journal, and starts it again",
				"error", err)
		case err == nil && stuck:
			s.Log.Warn("the worker makes progress again")
		}
		if stuck = err != nil; !stuck {
			err := s.Feed()
			if err != nil && !deaf {
				s.Log.Warn("can't feed systemd's watchdog", "error", err)
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
