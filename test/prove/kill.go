package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

const (
	killWorkers = 3
	killLease   = 5 * time.Second
	// maxRecovery bounds the 99th percentile of the time from a kill to the end of the tasks that were held.
	maxRecovery = killLease + 15*time.Second
)

// death is one kill -9 and what the worker held at that moment.
type death struct {
	at    time.Time
	tasks []string
}

// killLoop is one run of the kind.
type killLoop struct {
	*tenant
	o      options
	r      *report
	file   string
	slots  []*slot
	deaths []death
	sent   int             // messages
	poison map[string]bool // tasks at which the model fails each time
}

// kill feeds tasks to three workers, of which one is killed every 0.2-2 s. Azurite restarts after a third of the
// time, Postgres crashes after two thirds.
func kill(ctx context.Context, o options, r *report) (err error) {
	g, err := newServers(ctx, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	g.model.slow(o.seed, 100*time.Millisecond, 700*time.Millisecond)
	k := &killLoop{o: o, r: r, poison: map[string]bool{}}
	if k.file, err = g.build(ctx, "./cmd/async-worker"); err != nil {
		return err
	}
	if k.tenant, err = g.newTenant(ctx, postgresStore); err != nil {
		return err
	}
	if err := k.startWorkers(ctx); err != nil {
		return err
	}
	defer k.stopWorkers()
	if err := k.killAndRestart(ctx); err != nil {
		return err
	}
	return k.judge(ctx)
}

// killAndRestart is the period in which workers are killed.
func (k *killLoop) killAndRestart(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return k.feed(ctx) })
	group.Go(func() error { return k.killAtRandom(ctx) })
	group.Go(func() error {
		if err := pause(ctx, k.o.duration/3); err != nil {
			return err
		}
		k.r.add("restarts of Azurite", 1)
		return k.azurite.Restart(ctx)
	})
	group.Go(func() error {
		if err := pause(ctx, k.o.duration*2/3); err != nil {
			return err
		}
		k.r.add("crashes of Postgres", 1)
		return k.pg.Crash(ctx)
	})
	return group.Wait()
}

// startWorkers starts two workers with a direct connection and one behind PostgREST.
func (k *killLoop) startWorkers(ctx context.Context) error {
	for i := range killWorkers {
		t := *k.tenant
		if i == killWorkers-1 {
			t.store = supabaseStore
		}
		env, err := t.environment(t.direct(), "WORKER_CONCURRENCY=4", "RETRY_MAX_ATTEMPTS=10",
			fmt.Sprintf("WORKER_LEASE_TTL_SEC=%d", int(killLease.Seconds())))
		if err != nil {
			return err
		}
		s := &slot{file: k.file, env: env, quit: make(chan struct{})}
		k.slots = append(k.slots, s)
		s.done.Go(func() { s.supervise(ctx) })
	}
	return nil
}

func (k *killLoop) stopWorkers() {
	for _, s := range k.slots {
		s.end()
	}
	k.slots = nil
}

// killAtRandom kills a worker at random every 0.2-2 s, and records what it held.
func (k *killLoop) killAtRandom(ctx context.Context) error {
	rnd := seeded(k.o.seed, "kill")
	for end := time.Now().Add(k.o.duration); time.Now().Before(end); {
		if err := pause(ctx, 200*time.Millisecond+time.Duration(rnd.Int64N(int64(1800*time.Millisecond)))); err != nil {
			return err
		}
		pid, ok := k.slots[rnd.IntN(len(k.slots))].kill()
		if !ok {
			continue // it is being restarted
		}
		d := death{at: time.Now()}
		var err error
		if d.tasks, err = k.heldBy(ctx, pid); err != nil {
			return err
		}
		k.deaths = append(k.deaths, d)
	}
	return nil
}

// heldBy lists what the worker of a process held when it died. The database may be down for a moment.
func (k *killLoop) heldBy(ctx context.Context, pid int) (ids []string, err error) {
	err = retryWhileDown(ctx, func() error {
		rows, err := k.db.Query(ctx, `select id from jobs where client_id = $1 and status = 'running'
			and lease_expires_at is not null and worker like '%/' || $2::text || '-%'`, k.client, fmt.Sprint(pid))
		if err != nil {
			return err
		}
		ids, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return ids, err
}

// killPoison: at one task of this many the model fails each time.
const killPoison = 250

// feed sends the tasks over nine tenths of the time: most are documents, some fail permanently, some are sent
// twice, and at some the model fails each time.
func (k *killLoop) feed(ctx context.Context) error {
	rnd := seeded(k.o.seed, "feed")
	tick := time.NewTicker(max(k.o.duration*9/10/time.Duration(k.o.tasks), time.Millisecond))
	defer tick.Stop()
	for i := range k.o.tasks {
		if err := k.one(ctx, fmt.Sprintf("task-%05d", i+1), rnd); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (k *killLoop) one(ctx context.Context, id string, rnd *rand.Rand) error {
	state, payload, copies, saw := "succeeded", map[string]any{}, 1, "ships"
	if len(k.expected)%killPoison == killPoison/2 {
		state, saw, k.poison[id] = "failed", poisonWord+" fish", true
	}
	switch rnd.IntN(25) {
	case 0:
		payload["blob"], state, copies = "missing.md", "failed", 2
	case 1:
		payload["document_set"], state = nil, "failed"
	case 2, 3:
		copies = 2
	}
	blob := id + ".md"
	if err := retryWhileDown(ctx, func() error {
		return k.upload(ctx, blob, fmt.Sprintf("# Entry %s\n\nThe watch of %s saw %d %s.\n", id, id, rnd.IntN(1000),
			saw))
	}); err != nil {
		return err
	}
	text := k.ingest(id, blob, k.hooks.URL, payload)
	for range copies {
		if err := retryWhileDown(ctx, func() error { return k.put(ctx, text) }); err != nil {
			return err
		}
		k.sent++
	}
	k.expected = append(k.expected, expectation{id, []string{state}})
	return nil
}

// judge waits until all is done, prints the figures, and checks.
func (k *killLoop) judge(ctx context.Context) error {
	began := time.Now()
	for deadline := began.Add(3 * time.Minute); ; {
		err := k.drainOrHooks(ctx, time.Until(deadline), nil)
		if errors.Is(err, errOnlyHooks) {
			// The claims of dead workers last for minutes; nothing waits for them.
			k.stopWorkers()
			if err := errors.Join(k.expireClaims(ctx), k.startWorkers(ctx)); err != nil {
				return err
			}
			continue
		}
		if errors.Is(err, errNotDrained) {
			k.r.violated("kill", []string{"I1 " + err.Error()}, "")
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
	k.r.violated("kill", found, "")
	k.r.printf("tasks %d in %d messages, kills %d, drained %v after the last one; lost and doubled: see violations",
		len(k.expected), k.sent, len(k.deaths), time.Since(began).Round(time.Second))
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
	p99 := k.percentiles("from each kill to the end of each task that was held", took)
	k.percentiles("the same from the last kill that a task met", slices.Collect(maps.Values(last)))
	if p99 > maxRecovery && len(took) >= 100 { // of fewer it is the worst one
		k.r.violated("kill", []string{
			fmt.Sprintf("a held task is recovered in time: p99 %v, at most %v", p99, maxRecovery),
		}, "")
	}
	return nil
}

// percentiles prints the percentiles of times, and returns the 99th.
func (k *killLoop) percentiles(what string, took []time.Duration) (p99 time.Duration) {
	slices.Sort(took)
	ms := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	p99 = took[len(took)*99/100]
	k.r.printf("recovery, %s (%d): p50 %v, p99 %v, longest %v; lease %v, p99 at most %v", what, len(took),
		ms(took[len(took)/2]), ms(p99), ms(took[len(took)-1]), killLease, maxRecovery)
	return p99
}
