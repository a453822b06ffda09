package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// throughRound is the number of tasks of a round from insert to completion.
const throughRound = 2000

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
	all := []*passing{
		{name: "async-worker, aw_queue_send", run: func() (figures, error) { return through(ctx, o.pg, o.jobs, sendOne) }},
		{name: "async-worker, aw_enqueue", run: func() (figures, error) { return through(ctx, o.pg, o.jobs, enqueueOne) }},
	}
	for _, c := range []struct{ mode, as string }{
		{"batched", "as it is by default"}, {"single", "each job in its transaction"},
	} {
		w, err := startThrough(ctx, program, o.server, c.mode)
		if err != nil {
			return err
		}
		defer stopping(&err, w.close)
		all = append(all, &passing{name: "River, completes " + c.as, run: w.through})
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
	fmt.Fprintf(out, "\nFrom insert to completion on Postgres, %d clients that insert one task at a time, concurrency "+
		"%d, %d tasks; the median of %d rounds. Aim: at least River's rate.\n\n", senders, besideTasks, throughRound,
		rounds)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\ttasks/s\tratio of aw_enqueue to it\t")
	ours := append([]float64(nil), all[1].rate...)
	for _, p := range all {
		ratio := make([]float64, len(ours))
		for i := range ours {
			ratio[i] = ours[i] / p.rate[i]
		}
		fmt.Fprintf(t, "%s\t%.0f\t%.2f\t\n", p.name, median(p.rate), median(ratio))
	}
	return t.Flush()
}

func startThrough(ctx context.Context, program string, pg *stack.Postgres, mode string) (*riverWorker, error) {
	database := "river_through_" + mode
	if err := ensureDatabase(ctx, pg, database); err != nil {
		return nil, err
	}
	return startRiver(ctx, program, pg.URL(database), mode, throughRound, time.Millisecond)
}

// through lets the engine work while clients insert tasks.
func through(
	ctx context.Context, on *pgBackend, jobs store.Store, insert func(context.Context, *pgBackend, string) error,
) (figures, error) {
	r, err := newRigOn(ctx, on, jobs, besideTasks)
	if err != nil {
		return figures{}, err
	}
	series := fmt.Sprint("through.", time.Now().UnixNano())
	group, inserting := errgroup.WithContext(ctx)
	group.SetLimit(senders + 1)
	group.Go(func() error { // SetLimit counts it
		for i := range throughRound {
			group.Go(func() error { return insert(inserting, on, message(series, 0, i)) })
		}
		return nil
	})
	f, err := r.measure(ctx, throughRound)
	if insertErr := group.Wait(); insertErr != nil {
		return f, insertErr
	}
	return f, err
}

func sendOne(ctx context.Context, on *pgBackend, text string) error {
	return on.send(ctx, normalQueue(), text)
}

func enqueueOne(ctx context.Context, on *pgBackend, text string) error {
	_, err := on.pool.Exec(ctx, "select aw_enqueue($1::jsonb)", text)
	return err
}
