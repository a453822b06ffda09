package app

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/schedule"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// Schedules checks the tenant's schedules.
func (t *Tenant) Schedules() schedule.Checker {
	return schedule.Checker{ClientID: t.Config.ClientID, Check: CheckTask}
}

// submitter records tasks and sends them.
func (t *Tenant) submitter(maxAttempts func(task.Type) int) engine.Submitter {
	return engine.Submitter{Store: t.Store, Queues: t.Queues, Bucket: t.Bucket, MaxAttempts: maxAttempts}
}

// fireSchedules fires the tenant's schedules until ctx is done, and warns of a clock that differs from the database's.
func (w *Worker) fireSchedules(ctx context.Context) {
	(&schedule.Runner{
		Checker: w.tenant.Schedules(), Store: w.tenant.Store, Submit: w.tenant.submitter(w.maxAttempts),
		Log:     w.tenant.log,
		Observe: w.tenant.metrics.Firing, Clock: (&clockWatch{log: w.tenant.log}).see, Wake: w.schedules,
	}).Run(ctx)
}

// wakeSchedules makes the schedules be looked at now.
func (w *Worker) wakeSchedules() {
	select {
	case w.schedules <- struct{}{}:
	default: // a look is due already
	}
}
