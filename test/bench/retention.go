package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/upkeep"
)

// retentionOptions are how much there is to remove.
type retentionOptions struct{ events int }

func (o *retentionOptions) flags() {
	flag.IntVar(&o.events, "events", 5_000_000, "retention: number of old events, at least 10000")
}

const (
	retentionPerJob = 10 // events
	retentionKeep   = 24 * time.Hour
	retentionFill   = 20_000 // jobs in a transaction
)

// measureRetention removes old events, deliveries and jobs while the worker does no-op tasks on the same Postgres, as
// the daemon does: the same batches, and the same rests between them.
func measureRetention(ctx context.Context, out io.Writer, o retentionOptions) (err error) {
	if o.events < 10_000 {
		return fmt.Errorf("-events %d: at least 10000", o.events)
	}
	stub, stopStub, err := startStub(ctx)
	if err != nil {
		return err
	}
	defer stopStub()
	pg, err := stack.StartPostgres(ctx, stack.PostgresOptions{Settings: []string{
		"shared_buffers=256MB", "fsync=on", "full_page_writes=on", "synchronous_commit=on", "max_wal_size=4GB",
	}})
	if err != nil {
		return err
	}
	defer stopping(&err, pg.Stop)
	jobs, err := openJobs(ctx, pg, besideTasks)
	if err != nil {
		return err
	}
	r := &retention{out: out, jobs: jobs, tasks: &ourWorker{stub: stub, jobs: jobs}, by: map[string]*removal{}}
	defer stopping(&err, r.tasks.close)
	if r.conn, err = pgx.Connect(ctx, pg.URL("bench")); err != nil {
		return err
	}
	defer r.conn.Close(context.WithoutCancel(ctx))
	if err := r.fill(ctx, o.events/retentionPerJob); err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	return r.run(ctx)
}

// retention is one run.
type retention struct {
	out   io.Writer
	conn  *pgx.Conn
	jobs  store.Store
	tasks *ourWorker

	mu    sync.Mutex
	by    map[string]*removal // by chore
	alone float64             // rows a second of wall time, without tasks beside it
}

// removal is what a chore removed.
type removal struct {
	rows int
	took []time.Duration // of the batches
}

// fill adds jobs that ended months ago, each with its events and a delivered webhook.
func (r *retention) fill(ctx context.Context, n int) error {
	began := time.Now()
	// Neither triggers nor foreign keys: they would take most of the time.
	if _, err := r.conn.Exec(ctx, "set session_replication_role = replica; set synchronous_commit = off"); err != nil {
		return err
	}
	for from := 0; from < n; from += retentionFill {
		to := min(from+retentionFill, n) - 1
		for _, sql := range []string{
			`insert into jobs (client_id, id, type, status, stage, progress, attempts, payload, fingerprint, event_seq,
				created_at, updated_at, started_at, completed_at, result)
			select $1, 'old-' || i, 'noop', 'succeeded', 'completed', 100, 1, '{"filename": "a.pdf"}', 'f', $4::int,
				t as a, t as b, t as c, t as d, '{"pages": 7}'
			from (select i, now() - interval '200 days' + i * interval '1 second' as t from generate_series($2::int, $3::int) i) x
			where $4::int > 0`,
			`insert into job_events (client_id, job_id, seq, id, at, stage, progress, attempt, message)
			select $1, 'old-' || i, s, gen_random_uuid(), now() - interval '200 days' + i * interval '1 second', 'working',
				s, 1, 'page ' || s
			from generate_series($2::int, $3::int) i, generate_series(1, $4::int) s`,
			`insert into webhook_deliveries (client_id, id, job_id, event, url, body, status, attempts, created_at, delivered_at)
			select $1, 'msg_' || i, 'old-' || i, 'task.completed', 'https://hooks.example.com/', repeat('x', 400), 'delivered', 1,
				t as a, t as b
			from (select i, now() - interval '200 days' + i * interval '1 second' as t from generate_series($2::int, $3::int) i) x
			where $4::int > 0`,
		} {
			if _, err := r.conn.Exec(ctx, sql, client, from, to, retentionPerJob); err != nil {
				return err
			}
		}
	}
	if _, err := r.conn.Exec(ctx, "vacuum analyze jobs, job_events, webhook_deliveries"); err != nil {
		return err
	}
	size, err := r.size(ctx)
	fmt.Fprintf(r.out, "%d jobs that ended 200 days ago, with %d events and a delivered webhook each: %.0f MB, filled in %v.\n\n",
		n, retentionPerJob, size, time.Since(began).Round(time.Second))
	return err
}

// size is that of the tables and their indexes, in MB.
func (r *retention) size(ctx context.Context) (mb float64, err error) {
	err = r.conn.QueryRow(ctx, `select sum(pg_total_relation_size(t::regclass))::float8 / 1048576
		from unnest(array['jobs', 'job_events', 'webhook_deliveries']) t`).Scan(&mb)
	return mb, err
}

// chores are the daemon's, with their times taken. A round follows the one before at once.
func (r *retention) chores() []upkeep.Chore {
	all := []upkeep.Chore{
		upkeep.Events(r.jobs, retentionKeep, func(int) {}), upkeep.Deliveries(r.jobs, retentionKeep),
		upkeep.Jobs(r.jobs, retentionKeep),
	}
	for i, c := range all {
		all[i].Every = 10 * time.Millisecond
		all[i].Do = func(ctx context.Context) (int, bool, error) {
			began := time.Now()
			n, more, err := c.Do(ctx)
			r.note(c.Name, n, time.Since(began))
			return n, more, err
		}
	}
	return all
}

func (r *retention) note(chore string, rows int, took time.Duration) {
	if rows == 0 { // nothing was left, or nothing could go yet
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by[chore] == nil {
		r.by[chore] = &removal{}
	}
	r.by[chore].rows += rows
	r.by[chore].took = append(r.by[chore].took, took)
}

// removing runs the chores until the returned function is called.
func (r *retention) removing(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		upkeep.Run(ctx, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})), r.chores()...)
	}()
	return func() { cancel(); <-done }
}

// round does a round of tasks, and returns tasks a second.
func (r *retention) round(ctx context.Context) (float64, error) {
	if err := r.tasks.fill(ctx); err != nil {
		return 0, err
	}
	f, err := r.tasks.work(ctx)
	return besideRound / f.took.Seconds(), err
}

func (r *retention) run(ctx context.Context) error {
	if _, err := r.round(ctx); err != nil { // warm
		return err
	}
	var without, with, ratio []float64
	for range rounds {
		bare, err := r.round(ctx)
		if err != nil {
			return err
		}
		stop := r.removing(ctx)
		beside, err := r.round(ctx)
		stop()
		if err != nil {
			return err
		}
		without, with, ratio = append(without, bare), append(with, beside), append(ratio, beside/bare)
	}
	if err := r.rest(ctx); err != nil {
		return err
	}
	r.print()
	fmt.Fprintf(r.out, "\nNo-op tasks, concurrency %d, rounds of %d: %.0f/s without, %.0f/s while old rows are removed; ratio "+
		"%.2f (medians of %d rounds).\n", besideTasks, besideRound, median(without), median(with), median(ratio), rounds)
	size, err := r.size(ctx)
	if err == nil {
		_, err = r.conn.Exec(ctx, "vacuum jobs, job_events, webhook_deliveries")
	}
	fmt.Fprintf(r.out, "The tables have %.0f MB afterwards; new rows take the place of the removed ones.\n", size)
	return err
}

// rest removes all that is left, without tasks beside it.
func (r *retention) rest(ctx context.Context) error {
	left := func() (some bool, err error) { // by their indexes: to count them would cost more than to remove them
		err = r.conn.QueryRow(ctx, `select exists (select from jobs where completed_at < now() - interval '100 days')
			or exists (select from webhook_deliveries where created_at < now() - interval '100 days')`).Scan(&some)
		return some, err
	}
	before := r.removed()
	began := time.Now()
	stop := r.removing(ctx)
	defer stop()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		some, err := left()
		if err != nil {
			return err
		}
		if !some {
			r.alone = float64(r.removed()-before) / time.Since(began).Seconds()
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (r *retention) removed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, one := range r.by {
		n += one.rows
	}
	return n
}

func (r *retention) print() {
	fmt.Fprint(r.out, "A batch is one statement and one transaction: no lock is held for longer than it takes.\n\n")
	t := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\trows\tbatches\trows/s of work\tstatement p50 ms\tp99 ms\tlongest ms\t")
	for name, one := range r.by {
		var sum time.Duration
		for _, d := range one.took {
			sum += d
		}
		slices.Sort(one.took)
		at := func(i int) float64 { return one.took[min(i, len(one.took)-1)].Seconds() * 1e3 }
		fmt.Fprintf(t, "%s\t%d\t%d\t%.0f\t%.1f\t%.1f\t%.1f\t\n", name, one.rows, len(one.took),
			float64(one.rows)/sum.Seconds(), at(len(one.took)/2), at(len(one.took)*99/100), at(len(one.took)))
	}
	_ = t.Flush()
	fmt.Fprintf(r.out, "\n%.0f rows/s are removed with the rests between batches, without tasks beside it.\n", r.alone)
}
