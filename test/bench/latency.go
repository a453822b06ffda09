package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// The aim of the median from enqueue to start on queues that tell of new messages, and its samples.
const (
	startAim     = 15 * time.Millisecond
	startSamples = 200
)

// measureStarts prints how long it takes from a client's call to the start of the task on an idle worker, whose polls
// are up to 10 s apart.
func measureStarts(ctx context.Context, out io.Writer, o *opened) error {
	fmt.Fprintf(out, "\nFrom enqueue to start, jobs in Postgres, POLL_MAX_MS=10000, %d tasks one after the other:\n\n",
		startSamples)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "queue\tp50 ms\tp95 ms\tmost ms\taim of p50\t")
	for _, c := range []struct {
		queue string
		on    backend
	}{{"NATS", o.nats}, {"Postgres", o.pg}} {
		if !o.wanted(c.queue) {
			continue
		}
		waits, err := starts(ctx, c.on, o)
		if err != nil {
			return fmt.Errorf("%s: %w", c.queue, err)
		}
		ms := func(of int) float64 { return float64(waits[min(len(waits)*of/100, len(waits)-1)]) / 1e6 }
		fmt.Fprintf(t, "%s\t%.1f\t%.1f\t%.1f\t%d\t\n", c.queue, ms(50), ms(95), ms(100), startAim.Milliseconds())
	}
	return t.Flush()
}

// starts are the sorted times from enqueue to start.
func starts(ctx context.Context, on backend, o *opened) ([]time.Duration, error) {
	r, err := newRigOn(ctx, on, o.jobs, concurrency)
	if err != nil {
		return nil, err
	}
	if err := r.start(ctx, startSamples+1); err != nil {
		return nil, err
	}
	var waits []time.Duration
	for i := range startSamples {
		select {
		case <-time.After(time.Duration(20+i%50) * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		sent := time.Now()
		text := message(fmt.Sprint("start.", sent.UnixNano()), 0, i)
		if err := on.fill(ctx, normalQueue(), 1, func(int) string { return text }); err != nil {
			return nil, err
		}
		select {
		case at := <-r.counter.started:
			waits = append(waits, at.Sub(sent))
		case <-time.After(time.Minute):
			return nil, fmt.Errorf("an idle worker did not start a task within a minute")
		}
	}
	slices.Sort(waits)
	return waits, r.close()
}
