package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// result is the medians of several rounds.
type result struct {
	bare, worker float64 // tasks a second
	ratio        float64 // worker to bare, of the same round
	cpu          time.Duration
	roundTrips   float64
	heartbeats   int64
	receives     perQueue // of the last round
	bareReceives float64
}

// compare alternates the bare loop and the worker over n messages each.
func compare(ctx context.Context, connection string, jobs store.Jobs, n int) (result, error) {
	var bare, worker, ratio, cpu []float64
	var r result
	for round := range rounds {
		took, receives, err := bareRound(ctx, connection, n)
		if err != nil {
			return r, err
		}
		f, err := workerRound(ctx, connection, jobs, n, round)
		if err != nil {
			return r, err
		}
		b, w := float64(n)/took.Seconds(), float64(n)/f.took.Seconds()
		bare, worker, ratio = append(bare, b), append(worker, w), append(ratio, w/b)
		cpu = append(cpu, float64(f.cpu)/float64(n))
		r.receives, r.bareReceives = f.receives, float64(receives)/float64(n)
		r.roundTrips, r.heartbeats = max(r.roundTrips, f.roundTrips), r.heartbeats+f.heartbeats
	}
	r.bare, r.worker, r.ratio, r.cpu = median(bare), median(worker), median(ratio), time.Duration(median(cpu))
	return r, nil
}

func bareRound(ctx context.Context, connection string, n int) (took time.Duration, receives int, err error) {
	q, err := bareQueue(connection, "bare")
	if err != nil {
		return 0, 0, err
	}
	if _, err := q.Create(ctx, nil); err != nil {
		return 0, 0, err
	}
	if err := fill(ctx, q, n, func(i int) string { return message("bare", 0, i) }); err != nil {
		return 0, 0, err
	}
	return bareLoop(ctx, q, n)
}

func workerRound(ctx context.Context, connection string, jobs store.Jobs, n, round int) (figures, error) {
	r, err := newRig(ctx, connection, jobs, concurrency)
	if err != nil {
		return figures{}, err
	}
	q, err := bareQueue(connection, task.QueueNames(client).Normal)
	if err != nil {
		return figures{}, err
	}
	series := fmt.Sprintf("%p.%d", jobs, time.Now().UnixNano())
	if err := fill(ctx, q, n, func(i int) string { return message(series[2:], round, i) }); err != nil {
		return figures{}, err
	}
	return r.measure(ctx, n)
}

func message(series string, round, i int) string {
	return fmt.Sprintf(`{"task_id":"%s.%d.%d","task_type":"noop","payload":{"i":%d}}`, series, round, i, i)
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// table prints results.
type table struct{ w *tabwriter.Writer }

func newTable(out io.Writer) table {
	t := table{tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)}
	fmt.Fprintln(t.w, "queue\tstore\ttasks\tbare/s\tworker/s\tratio\tCPU ms/task\tstore round "+
		"trips/task\theartbeats\treceives/task high+normal+low (bare)\t")
	return t
}

func (t table) row(queue, store string, tasks int, r result) {
	fmt.Fprintf(t.w, "%s\t%s\t%d\t%.0f\t%.0f\t%.2f\t%.2f\t%.2f (at most 2)\t%d\t%.2f+%.2f+%.2f (%.2f)\t\n", queue,
		store, tasks, r.bare, r.worker, r.ratio,
		float64(r.cpu)/float64(time.Millisecond), r.roundTrips, r.heartbeats,
		r.receives.high, r.receives.normal, r.receives.low, r.bareReceives)
}

func (t table) flush() { _ = t.w.Flush() }
