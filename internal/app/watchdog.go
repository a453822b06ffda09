package app

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/event"
	"github.com/seed-7227ef26/async-worker/systemd"
)

// Alive returns nil while the worker makes progress, or what is stuck, which only a restart fixes. A worker that waits
// for an outage to end is alive.
func (w *Worker) Alive() error { return w.engine.Alive() }

// feedWatchdog feeds systemd's watchdog while the worker makes progress. Without WatchdogSec it does nothing.
func (w *Worker) feedWatchdog(ctx context.Context) {
	var n systemd.Notifier
	every, err := n.WatchdogInterval()
	if err != nil {
		w.tenant.log.Warn("the watchdog is not fed", "error", err)
	}
	systemd.Supervision{
		Every: every, Alive: w.Alive, Feed: n.Watchdog, Log: w.tenant.log.With(event.Key, event.Stuck),
	}.Run(ctx)
}
