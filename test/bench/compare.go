package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/queue"
)

// result is the medians of several rounds.
type result struct {
	bare, worker float64 // tasks a second
	ratio        float64 // worker to bare, of the same round
	queue        float64 // the worker's own client of the queue alone, to bare
	cpu          time.Duration
	roundTrips   float64
	heartbeats   int64
	receives     perQueue // of the last round
	bareReceives float64
}

// compare alternates the bare loop and the worker over n messages each.
func compare(ctx context.Context, on backend, jobs store.Jobs, n int) (result, error) {
	var bare, worker, ratio, own, cpu []float64
	var r result
	for round := range rounds {
		took, receives, err := bareRound(ctx, on, n)
		if err != nil {
			return r, err
		}
		ours, err := queueRound(ctx, on, n)
		if err != nil {
			return r, err
		}
		f, err := workerRound(ctx, on, jobs, n, round)
		if err != nil {
			return r, err
		}
		b, w := float64(n)/took.Seconds(), float64(n)/f.took.Seconds()
		bare, worker, ratio = append(bare, b), append(worker, w), append(ratio, w/b)
		own = append(own, took.Seconds()/ours.Seconds())
		cpu = append(cpu, float64(f.cpu)/float64(n))
		r.receives, r.bareReceives = f.receives, float64(receives)/float64(n)
		r.roundTrips, r.heartbeats = max(r.roundTrips, f.roundTrips), r.heartbeats+f.heartbeats
	}
	r.bare, r.worker, r.ratio, r.cpu = median(bare), median(worker), median(ratio), time.Duration(median(cpu))
	r.queue = median(own)
	return r, nil
}

func bareRound(ctx context.Context, on backend, n int) (took time.Duration, receives int, err error) {
	if err := on.ensureBare(ctx); err != nil {
		return 0, 0, err
	}
	if err := on.fill(ctx, bareName, n, func(i int) string { return message("bare", 0, i) }); err != nil {
		return 0, 0, err
	}
	return on.bare(ctx, bareName, n)
}

// queueRound is bareRound with the worker's own client of the queue, without the engine.
func queueRound(ctx context.Context, on backend, n int) (time.Duration, error) {
	listening, deafen := context.WithCancel(ctx)
	defer deafen()
	service, err := on.open(listening, concurrency, func() {})
	if err != nil {
		return 0, err
	}
	defer service.Close()
	q := service.Queue(normalQueue())
	if err := q.Ensure(ctx); err != nil {
		return 0, err
	}
	if err := on.fill(ctx, normalQueue(), n, func(i int) string { return message("queue", 0, i) }); err != nil {
		return 0, err
	}
	started, running := time.Now(), newSlots()
	for got := 0; got < n; {
		messages, err := q.Receive(ctx, min(running.free(), queue.MaxBatch), time.Minute)
		if err != nil {
			return 0, err
		}
		got += len(messages)
		for _, m := range messages {
			running.run(func() error { return m.Lease.Delete(ctx) })
		}
	}
	err = running.wait()
	return time.Since(started), err
}

func workerRound(ctx context.Context, on backend, jobs store.Jobs, n, round int) (figures, error) {
	r, err := newRigOn(ctx, on, jobs, concurrency)
	if err != nil {
		return figures{}, err
	}
	series := fmt.Sprintf("%p.%d", jobs, time.Now().UnixNano())
	if err := on.fill(ctx, normalQueue(), n, func(i int) string { return message(series[2:], round, i) }); err != nil {
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
	fmt.Fprintln(t.w, "queue\tstore\ttasks\tbare/s\tworker/s\tratio\taim\tits queue client alone\tCPU ms/task\tstore "+
		"round "+
		"trips/task\theartbeats\treceives/task high+normal+low (bare)\t")
	return t
}

func (t table) row(queue, store string, tasks int, aim float64, r result) {
	aimed := "-"
	if aim > 0 {
		aimed = fmt.Sprintf("%.2f", aim)
	}
	fmt.Fprintf(t.w, "%s\t%s\t%d\t%.0f\t%.0f\t%.2f\t%s\t%.2f\t%.2f\t%.2f (at most 2)\t%d\t"+
		"%.2f+%.2f+%.2f (%.2f)\t\n", queue, store, tasks, r.bare, r.worker, r.ratio, aimed, r.queue,
		float64(r.cpu)/float64(time.Millisecond), r.roundTrips, r.heartbeats,
		r.receives.high, r.receives.normal, r.receives.low, r.bareReceives)
}

func (t table) flush() { _ = t.w.Flush() }
