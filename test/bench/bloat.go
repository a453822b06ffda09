package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/queue"
)

// bloatOptions are what goes through the queue on Postgres.
type bloatOptions struct{ messages int }

func (o *bloatOptions) flags() {
	flag.IntVar(&o.messages, "messages", 1_000_000, "bloat: number of messages, at least 10000")
}

// The queue's own depth while the messages go through, and what is hidden for long beside them, as retries are.
const (
	bloatWaiting = 4 * queue.MaxBatch
	bloatHidden  = 200
	bloatText    = `{"task_id":"a","task_type":"ingest","payload":{}}`
)

// measureBloat puts messages through a queue on Postgres while a transaction is open that keeps VACUUM from removing
// any dead row, and prints the size of its tables and the time of a claim as it goes. Both should be at the end what
// they were at the start.
func measureBloat(ctx context.Context, out io.Writer, o bloatOptions) (err error) {
	if o.messages < 10_000 {
		return fmt.Errorf("-messages %d: at least 10000", o.messages)
	}
	pg, err := stack.StartPostgres(ctx, stack.PostgresOptions{})
	if err != nil {
		return err
	}
	defer stopping(&err, pg.Stop)
	jobs, err := openJobs(ctx, pg, concurrency)
	if err != nil {
		return err
	}
	defer jobs.Close()
	on, err := openPG(ctx, pg.URL("bench"), false)
	if err != nil {
		return err
	}
	defer stopping(&err, on.close)
	long, err := pgx.Connect(ctx, pg.URL("bench"))
	if err != nil {
		return err
	}
	defer long.Close(context.WithoutCancel(ctx))
	if _, err := long.Exec(ctx, "begin isolation level repeatable read; select txid_current()"); err != nil {
		return err
	}
	service, err := on.open(ctx, concurrency, func() {})
	if err != nil {
		return err
	}
	defer stopping(&err, service.Close)
	b := &bloat{q: service.Queue(normalQueue()), on: on, out: out, most: int64(o.messages)}
	return b.run(ctx, pg.URL("bench"))
}

// bloat is one run.
type bloat struct {
	q          queue.Queue
	on         *pgBackend
	out        io.Writer
	most       int64
	sent, done atomic.Int64

	mu   sync.Mutex
	took []time.Duration // of claims since the last line
	rows []bloatRow
}

// bloatRow is a tenth of the run.
type bloatRow struct {
	done     int64
	size     int64 // of the tables and their indexes, in bytes
	p50, p99 time.Duration
	bare     time.Duration // p50 of a statement that reads nothing, beside the claims
	rate     float64
}

func (b *bloat) run(ctx context.Context, url string) error {
	if err := b.q.Ensure(ctx); err != nil {
		return err
	}
	for range bloatHidden {
		if _, err := b.q.Send(ctx, "later", queue.SendOptions{Delay: 24 * time.Hour}); err != nil {
			return err
		}
	}
	waiting := make(chan struct{}, bloatWaiting)
	group, ctx := errgroup.WithContext(ctx)
	for range 2 {
		group.Go(func() error { return b.send(ctx, waiting) })
		group.Go(func() error { return b.receive(ctx, waiting) })
	}
	group.Go(func() error { return b.watch(ctx, url) })
	if err := group.Wait(); err != nil {
		return err
	}
	return b.print()
}

func (b *bloat) send(ctx context.Context, waiting chan<- struct{}) error {
	for b.sent.Add(1) <= b.most {
		select {
		case waiting <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := b.on.send(ctx, normalQueue(), bloatText); err != nil {
			return err
		}
	}
	return nil
}

func (b *bloat) receive(ctx context.Context, waiting <-chan struct{}) error {
	for b.done.Load() < b.most {
		began := time.Now()
		got, err := b.q.Receive(ctx, 8, time.Minute)
		if err != nil {
			return err
		}
		if len(got) > 0 {
			b.mu.Lock()
			b.took = append(b.took, time.Since(began))
			b.mu.Unlock()
		}
		for _, m := range got {
			if err := m.Lease.Delete(ctx); err != nil {
				return err
			}
			<-waiting
		}
		b.done.Add(int64(len(got)))
	}
	return nil
}

// watch notes a row after each tenth.
func (b *bloat) watch(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	last, since := int64(0), time.Now()
	var bare []time.Duration
	for next := b.most / 10; next <= b.most; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		began := time.Now()
		if _, err := conn.Exec(ctx, "select 1"); err != nil {
			return err
		}
		bare = append(bare, time.Since(began))
		done := b.done.Load()
		if done < next {
			continue
		}
		r := bloatRow{done: done, rate: float64(done-last) / time.Since(since).Seconds()}
		if err := conn.QueryRow(ctx, `select sum(pg_total_relation_size(c.oid))::bigint
			from pg_class c where relname like 'aw\_queue\_messages\__'`).Scan(&r.size); err != nil {
			return err
		}
		b.mu.Lock()
		slices.Sort(b.took)
		r.p50, r.p99 = b.took[len(b.took)/2], b.took[len(b.took)*99/100]
		b.took = b.took[:0]
		b.mu.Unlock()
		slices.Sort(bare)
		r.bare = bare[len(bare)/2]
		bare = bare[:0]
		b.rows = append(b.rows, r)
		last, since, next = done, time.Now(), done/(b.most/10)*(b.most/10)+b.most/10
	}
	return nil
}

func (b *bloat) print() error {
	fmt.Fprintf(b.out, "%d messages through a queue on Postgres, beside an open transaction and %d hidden messages:\n\n",
		b.most, bloatHidden)
	t := tabwriter.NewWriter(b.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "messages\ttables MB\tclaim p50 ms\tp99 ms\tselect 1 p50 ms\tclaim in it\tmessages/s\t")
	for _, r := range b.rows {
		fmt.Fprintf(t, "%d\t%.1f\t%.2f\t%.2f\t%.2f\t%.1f\t%.0f\t\n", r.done, float64(r.size)/(1<<20), float64(r.p50)/1e6,
			float64(r.p99)/1e6, float64(r.bare)/1e6, float64(r.p50)/float64(r.bare), r.rate)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	first, last := b.rows[0], b.rows[len(b.rows)-1]
	fmt.Fprintf(b.out, "\nThe last tenth compared with the first: claim p50 %.2f (beside that of select 1: %.2f), size %.2f times. "+
		"Aim: all about 1.\n", float64(last.p50)/float64(first.p50),
		float64(last.p50)/float64(last.bare)*float64(first.bare)/float64(first.p50), float64(last.size)/float64(first.size))
	return nil
}
