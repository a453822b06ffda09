package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
)

// throughRound is the number of tasks of a round from insert to completion.
const throughRound = 2000

// throughMany is how many tasks a client inserts at once, where it does.
const throughMany = 50

// passing is a worker that gets its tasks while it works.
type passing struct {
	name string
	run  func() (figures, error)
	rate []float64
}

// compareThrough compares the rate from insert to completion on Postgres with that of River, which has its jobs there
// as well: clients insert one task in each transaction while the worker works.
func compareThrough(ctx context.Context, out io.Writer, o *opened) (err error) {
	if !o.wanted("Postgres") {
		return nil
	}
	dir, err := os.MkdirTemp("", "async-worker-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := buildRiver(ctx, dir)
	if err != nil {
		return err
	}
	ours := func(name string, insert inserter, many int) *passing {
		return &passing{name: "async-worker, " + name, run: func() (figures, error) {
			return through(ctx, o.pg, o.jobs, insert, many)
		}}
	}
	all := []*passing{
		ours("aw_queue_send", sendOne, 1), ours("aw_enqueue", enqueueOne, 1),
		ours(fmt.Sprintf("aw_enqueue_all, %d tasks each", throughMany), enqueueMany, throughMany),
	}
	for _, c := range []struct {
		mode, as string
		insert   int
	}{
		{"batched", "River, completes in batches after the job", 1},
		{"single", "River, completes each job in its transaction", 1},
		{"batched", fmt.Sprintf("River, InsertManyFast, %d jobs each, completes in batches", throughMany), throughMany},
	} {
		w, err := startThrough(ctx, program, o.server, c.mode, c.insert)
		if err != nil {
			return err
		}
		defer stopping(&err, w.close)
		all = append(all, &passing{name: c.as, run: w.through})
	}
	for round := range rounds + 1 {
		for _, p := range all {
			f, err := p.run()
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			if round > 0 { // the first one warms up
				p.rate = append(p.rate, throughRound/f.took.Seconds())
			}
		}
	}
	var durable string
	err = o.pg.pool.QueryRow(ctx, `select string_agg(name || '=' || setting, ' ' order by name) from pg_settings
		where name in ('fsync', 'synchronous_commit', 'full_page_writes')`).Scan(&durable)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nFrom insert to completion on Postgres (%s), %d clients that insert, a connection each, concurrency "+
		"%d, %d tasks; the worker has up to %d connections for jobs and %d for queues, River %d. The median of %d rounds. "+
		"Aim: at least River's rate.\n\n", durable, senders, besideTasks, throughRound, postgres.PoolFor(concurrency),
		queueConns, besideTasks+2, rounds)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\ttasks/s\tratio of aw_enqueue to it\tof aw_enqueue_all\t")
	one, many := slices.Clone(all[1].rate), slices.Clone(all[2].rate)
	for _, p := range all {
		var ones, manys []float64
		for i := range one {
			ones, manys = append(ones, one[i]/p.rate[i]), append(manys, many[i]/p.rate[i])
		}
		fmt.Fprintf(t, "%s\t%.0f\t%.2f\t%.2f\t\n", p.name, median(p.rate), median(ones), median(manys))
	}
	return t.Flush()
}

func startThrough(ctx context.Context, program string, pg *stack.Postgres, mode string, insert int) (*riverWorker, error) {
	database := fmt.Sprint("river_through_", mode, "_", insert)
	if err := ensureDatabase(ctx, pg, database); err != nil {
		return nil, err
	}
	return startRiver(ctx, program, pg.URL(database), mode, throughRound, insert, time.Millisecond)
}

// inserter inserts tasks in one transaction.
type inserter func(ctx context.Context, on *pgBackend, texts []string) error

// through lets the engine work while clients insert tasks, many in each transaction.
func through(ctx context.Context, on *pgBackend, jobs store.Store, insert inserter, many int) (figures, error) {
	r, err := newRigOn(ctx, on, jobs, besideTasks)
	if err != nil {
		return figures{}, err
	}
	series := fmt.Sprint("through.", time.Now().UnixNano())
	group, inserting := errgroup.WithContext(ctx)
	group.SetLimit(senders + 1)
	group.Go(func() error { // SetLimit counts it
		for first := 0; first < throughRound; first += many {
			var texts []string
			for i := first; i < min(first+many, throughRound); i++ {
				texts = append(texts, message(series, 0, i))
			}
			group.Go(func() error { return insert(inserting, on, texts) })
		}
		return nil
	})
	f, err := r.measure(ctx, throughRound)
	if insertErr := group.Wait(); insertErr != nil {
		return f, insertErr
	}
	return f, err
}

func sendOne(ctx context.Context, on *pgBackend, texts []string) error {
	return on.send(ctx, normalQueue(), texts[0])
}

func enqueueOne(ctx context.Context, on *pgBackend, texts []string) error {
	_, err := on.pool.Exec(ctx, "select aw_enqueue($1::jsonb)", texts[0])
	return err
}

func enqueueMany(ctx context.Context, on *pgBackend, texts []string) error {
	_, err := on.pool.Exec(ctx, "select aw_enqueue_all($1::jsonb)", `{"tasks":[`+strings.Join(texts, ",")+`]}`)
	return err
}
