package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// idleSamples are few: with the default settings each may take POLL_MAX.
const idleSamples = 8

// measureIdle prints how long a message waits on the queue of an idle worker, for growing idle times: the worker's
// poll interval grows from POLL_MIN to POLL_MAX.
func measureIdle(ctx context.Context, out io.Writer, connection string, jobs store.Jobs) error {
	r, err := newRig(ctx, connection, jobs, concurrency)
	if err != nil {
		return err
	}
	if err := r.start(ctx, idleSamples+1); err != nil {
		return err
	}
	q, err := bareQueue(connection, task.QueueNames(client).Normal)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nFrom enqueue to start on an idle queue (POLL_MIN_MS=100, POLL_MAX_MS=10000), by how long it "+
		"was idle before:\n")
	var waits []time.Duration
	for i := range idleSamples {
		idle := time.Duration(i) * 500 * time.Millisecond
		select {
		case <-time.After(idle):
		case <-ctx.Done():
			return ctx.Err()
		}
		sent := time.Now()
		if err := fill(ctx, q, 1, func(int) string {
			return message(fmt.Sprint("idle.", sent.UnixNano()), 0,
				i)
		}); err != nil {
			return err
		}
		select {
		case at := <-r.counter.started:
			waits = append(waits, at.Sub(sent))
			fmt.Fprintf(out, "  idle %4.1f s: %6.0f ms\n", idle.Seconds(),
				float64(at.Sub(sent))/float64(time.Millisecond))
		case <-time.After(time.Minute):
			return fmt.Errorf("an idle worker did not start a task within a minute")
		}
	}
	slices.Sort(waits)
	fmt.Fprintf(out, "  median %.0f ms, most %.0f ms\n", float64(waits[len(waits)/2])/1e6,
		float64(waits[len(waits)-1])/1e6)
	return r.close()
}
