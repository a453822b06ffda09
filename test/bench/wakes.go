package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// The aim of the 95th percentile from a wake to the start of the task, its samples, and the tasks before them, which
// open connections.
const (
	wakeAim     = 50 * time.Millisecond
	wakeSamples = 100
	wakeWarmUp  = 5
)

// measureWakes prints how long an idle worker on Azure takes to start a task whose sender wakes it, as the API, the
// commands and POST /v1/wake do: from the message being on the queue, in this process and through the database.
func measureWakes(ctx context.Context, out io.Writer, o *opened) error {
	r, err := newRig(ctx, o.azurite, o.jobs, concurrency)
	if err != nil {
		return err
	}
	if err := r.start(ctx, 2*(wakeSamples+wakeWarmUp)+1); err != nil {
		return err
	}
	listening, stop := context.WithCancel(ctx)
	defer stop()
	heard := make(chan struct{}, 1)
	go postgres.KeepListening(listening, o.pgURL, postgres.TasksChannel(client), func() {
		r.wake()
		select {
		case heard <- struct{}{}:
		default:
		}
	}, func(error) {})
	select {
	case <-heard: // connected
	case <-time.After(time.Minute):
		return fmt.Errorf("no notifications from the database within a minute")
	}
	fmt.Fprintf(out, "\nFrom wake to start on an idle queue (POLL_MAX_MS=10000), %d tasks one after the other:\n", wakeSamples)
	for _, c := range []struct {
		by   string
		wake func() error
	}{
		{"the same process", func() error { r.wake(); return nil }},
		{"another, by NOTIFY", func() error { return o.jobs.WakeWorkers(ctx) }},
	} {
		waits, err := r.wakes(ctx, o.azurite, c.wake)
		if err != nil {
			return fmt.Errorf("%s: %w", c.by, err)
		}
		ms := func(of int) float64 { return float64(waits[min(len(waits)*of/100, len(waits)-1)]) / 1e6 }
		fmt.Fprintf(out, "  %-20s p50 %.1f ms, p95 %.1f ms (aim %d), most %.1f ms\n", c.by, ms(50), ms(95),
			wakeAim.Milliseconds(), ms(100))
	}
	return r.close()
}

// wakes are the sorted times from wake to start.
func (r *rig) wakes(ctx context.Context, connection string, wake func() error) ([]time.Duration, error) {
	q, err := bareQueue(connection, task.QueueNames(client).Normal)
	if err != nil {
		return nil, err
	}
	var waits []time.Duration
	for i := range wakeSamples + wakeWarmUp {
		select {
		case <-time.After(time.Duration(200+i%50) * time.Millisecond): // the worker is between two polls
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		text := message(fmt.Sprint("wake.", time.Now().UnixNano()), 0, i)
		if err := fill(ctx, q, 1, func(int) string { return text }); err != nil {
			return nil, err
		}
		sent := time.Now()
		if err := wake(); err != nil {
			return nil, err
		}
		select {
		case at := <-r.counter.started:
			if i >= wakeWarmUp {
				waits = append(waits, at.Sub(sent))
			}
		case <-time.After(time.Minute):
			return nil, fmt.Errorf("an idle worker did not start a task within a minute")
		}
	}
	slices.Sort(waits)
	return waits, nil
}
