package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// judge waits until all is done, prints the figures, and checks.
func (k *killLoop) judge(ctx context.Context) error {
	began := time.Now()
	for deadline := began.Add(k.o.patience(3 * time.Minute)); ; {
		err := k.drainOrHooks(ctx, time.Until(deadline), nil, k.working)
		if errors.Is(err, errOnlyHooks) {
			// The claims of dead workers last for minutes; nothing waits for them.
			k.stopWorkers()
			if err := errors.Join(k.expireClaims(ctx), k.startWorkers(ctx)); err != nil {
				return err
			}
			continue
		}
		if errors.Is(err, errNotDrained) {
			k.r.violated(k.name(), []string{"I1 " + err.Error()}, "")
			break
		}
		if err != nil {
			return err
		}
		break
	}
	k.r.ran()
	if err := k.figures(ctx); err != nil {
		return err
	}
	found, err := k.check(ctx, k.r, len(k.deaths))
	k.r.violated(k.name(), found, "")
	k.r.printf("%s: tasks %d in %d messages, kills %d, drained %v after the last one; lost and doubled: see violations",
		k.name(), len(k.expected), k.sent, len(k.deaths), time.Since(began).Round(time.Second))
	return err
}

// figures are the times from each kill to the end of each task that was held.
func (k *killLoop) figures(ctx context.Context) error {
	rows, err := k.db.Query(ctx, `select id, completed_at from jobs where client_id = $1 and completed_at is not null`,
		k.client)
	if err != nil {
		return err
	}
	ended := map[string]time.Time{}
	var id string
	var at time.Time
	if _, err := pgx.ForEachRow(rows, []any{&id, &at}, func() error { ended[id] = at; return nil }); err != nil {
		return err
	}
	var took []time.Duration
	last := map[string]time.Duration{} // by task, from the last kill that it met
	for _, d := range k.deaths {
		for _, task := range d.tasks {
			if at, ok := ended[task]; ok && !k.poison[task] { // poison is retried for a while
				took = append(took, at.Sub(d.at))
				last[task] = at.Sub(d.at)
			}
		}
	}
	k.r.add("tasks", len(k.expected))
	k.r.add("poison tasks", len(k.poison))
	k.r.add("kills", len(k.deaths))
	k.r.add("held tasks recovered", len(took))
	if len(took) == 0 {
		return errors.New("no worker was killed while it held a task")
	}
	k.percentiles("from each kill to the end of each task that was held", took)
	// A task that is killed again waits for another lease, so only the time from its last kill is bounded.
	p99 := k.percentiles("the same from the last kill that a task met", slices.Collect(maps.Values(last)))
	if p99 > maxRecovery && !k.o.untimed && len(last) >= 100 { // of fewer it is the worst one
		slowest := slices.MaxFunc(slices.Collect(maps.Keys(last)), func(a, b string) int { return cmp.Compare(last[a], last[b]) })
		k.r.violated(k.name(), []string{
			fmt.Sprintf("a held task is recovered in time after its last kill: p99 %v, at most %v", p99, maxRecovery),
		}, "the events of "+slowest+":\n"+k.events(ctx, slowest))
	}
	return nil
}

// percentiles prints the percentiles of times, and returns the 99th.
func (k *killLoop) percentiles(what string, took []time.Duration) (p99 time.Duration) {
	slices.Sort(took)
	ms := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	p99 = took[len(took)*99/100]
	k.r.printf("%s: recovery, %s (%d): p50 %v, p99 %v, longest %v; lease %v, p99 at most %v", k.name(), what, len(took),
		ms(took[len(took)/2]), ms(p99), ms(took[len(took)-1]), killLease, maxRecovery)
	return p99
}
