package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

const (
	killWorkers = 3
	killLease   = 5 * time.Second
	// maxRecovery bounds the 99th percentile of the time from the last kill of a held task to its end.
	maxRecovery = killLease + 15*time.Second
	// killIdle is for how long all tasks have been done when no worker will hold one any more.
	killIdle = 3 * time.Second
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
	fed    atomic.Bool     // all of them, and expected changes no more
	poison map[string]bool // tasks at which the model fails each time
}

// kill feeds tasks to three workers on each queue, of which one is killed every 0.2-2 s, while servers crash.
func kill(ctx context.Context, o options, r *report) error {
	for _, queue := range o.queues {
		if err := killOn(ctx, queue, o, r); err != nil {
			return fmt.Errorf("on %s: %w", queue, err)
		}
	}
	return nil
}

func killOn(ctx context.Context, queue string, o options, r *report) (err error) {
	g, err := o.servers(ctx, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	g.model.slow(o.seed, 100*time.Millisecond, 700*time.Millisecond)
	k := &killLoop{o: o, r: r, poison: map[string]bool{}}
	if k.file, err = o.built.of(ctx, "./cmd/async-worker"); err != nil {
		return err
	}
	bed, err := g.newBed(ctx, queue)
	if err != nil {
		return err
	}
	if k.tenant, err = g.newTenant(ctx, bed, postgresStore); err != nil {
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
	for _, c := range append(k.bed.crashes(),
		crashes{"restarts of Azurite", []float64{1.0 / 3}, k.azurite.Restart},
		crashes{"crashes of Postgres", []float64{2.0 / 3}, k.pg.Crash},
	) {
		group.Go(func() error { return k.crashServer(ctx, c) })
	}
	return group.Wait()
}

func (k *killLoop) crashServer(ctx context.Context, c crashes) error {
	began := time.Now()
	for _, part := range c.at {
		at := began.Add(time.Duration(part * float64(k.o.duration)))
		if err := pause(ctx, time.Until(at)); err != nil {
			return err
		}
		if err := c.crash(ctx); err != nil {
			return err
		}
		k.r.add(c.what, 1)
	}
	return nil
}

func (k *killLoop) name() string { return "kill/" + k.bed.name() }

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

// working reports whether all workers do.
func (k *killLoop) working() bool {
	return !slices.ContainsFunc(k.slots, func(s *slot) bool { return !s.working() })
}

func (k *killLoop) stopWorkers() {
	for _, s := range k.slots {
		s.end()
	}
	k.slots = nil
}

// killAtRandom kills a worker at random every 0.2-2 s. On a machine where a worker takes longer to start, none of a
// short period may ever hold a task; then one that does is killed at the end, unless all are done: judge says so.
func (k *killLoop) killAtRandom(ctx context.Context) error {
	rnd := seeded(k.o.seed, "kill")
	for end := time.Now().Add(k.o.duration); time.Now().Before(end); {
		if err := pause(ctx, 200*time.Millisecond+time.Duration(rnd.Int64N(int64(1800*time.Millisecond)))); err != nil {
			return err
		}
		if err := k.kill(ctx, k.slots[rnd.IntN(len(k.slots))]); err != nil {
			return err
		}
	}
	busy := time.Now()
	for end := busy.Add(k.o.patience(time.Minute)); !k.hit() && time.Now().Before(end) && time.Since(busy) < killIdle; {
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
		if !k.allDone(ctx) {
			busy = time.Now()
		}
		for _, s := range k.slots {
			if held, err := k.heldBy(ctx, s.pid()); err != nil || len(held) == 0 {
				continue // asked again
			}
			if err := k.kill(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// allDone reports whether all tasks were sent and are done, but for webhooks.
func (k *killLoop) allDone(ctx context.Context) bool {
	if !k.fed.Load() {
		return false
	}
	if left, err := k.undrained(ctx); err == nil && left == "" {
		return true
	}
	only, err := k.onlyWebhooksLeft(ctx)
	return err == nil && only
}

// hit reports whether a worker has been killed while it held a task.
func (k *killLoop) hit() bool {
	return slices.ContainsFunc(k.deaths, func(d death) bool { return len(d.tasks) > 0 })
}

// kill kills a worker and records what it held.
func (k *killLoop) kill(ctx context.Context, s *slot) error {
	pid, ok := s.kill()
	if !ok {
		return nil // it is being restarted
	}
	d := death{at: time.Now()}
	var err error
	if d.tasks, err = k.heldBy(ctx, pid); err != nil {
		return err
	}
	k.deaths = append(k.deaths, d)
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
	k.fed.Store(true)
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
	put := func() error { return k.put(ctx, k.ingest(id, blob, k.hooks.URL, payload)) }
	if _, malformed := payload["document_set"]; malformed {
		put = k.underNewIDs(&id, put)
	}
	for range copies {
		if err := retryWhileDown(ctx, put); err != nil {
			return err
		}
		k.sent++
	}
	k.expected = append(k.expected, expectation{id, []string{state}})
	return nil
}

// underNewIDs makes each repetition of put send another task. A put whose answer was lost may have been carried out, and
// each message that can't become a job has a dead letter of its own.
func (k *killLoop) underNewIDs(id *string, put func() error) func() error {
	first, tries := *id, 0
	return func() error {
		if tries++; tries > 1 {
			k.unsure = append(k.unsure, *id)
			*id = fmt.Sprintf("%s-%d", first, tries)
		}
		return put()
	}
}
