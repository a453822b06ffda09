package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store/memory"
)

// The evenness of the distribution is measured with this many workers and tasks.
const (
	evenWorkers = 5
	evenTasks   = 10_000
	evenSlots   = 8 // of each worker
)

// measureEvenness prints how many tasks each of several equal workers got.
func measureEvenness(ctx context.Context, out io.Writer, o *opened) error {
	fmt.Fprintf(out, "\n%d tasks on %d workers with %d slots each:\n", evenTasks, evenWorkers, evenSlots)
	for _, c := range []struct {
		queue string
		on    backend
	}{{"NATS", o.nats}, {"Postgres", o.pg}} {
		if !o.wanted(c.queue) {
			continue
		}
		got, err := spread(ctx, c.on)
		if err != nil {
			return fmt.Errorf("%s: %w", c.queue, err)
		}
		slices.Sort(got)
		fmt.Fprintf(out, "  %s: %v; the least has %.2f of an even share, the most %.2f\n", c.queue, got,
			share(got[0]), share(got[len(got)-1]))
	}
	return nil
}

func share(n int) float64 { return float64(n) * evenWorkers / evenTasks }

// spread runs the tasks and returns how many each worker had.
func spread(ctx context.Context, on backend) ([]int, error) {
	jobs := memory.New()
	var all []*rig
	for i := range evenWorkers {
		r, err := newRigOn(ctx, on, jobs, evenSlots)
		if err != nil {
			return nil, err
		}
		r.name = fmt.Sprint("bench-", i)
		all = append(all, r)
	}
	series := fmt.Sprint("even.", time.Now().UnixNano())
	if err := on.fill(ctx, normalQueue(), evenTasks, func(i int) string { return message(series, 0, i) }); err != nil {
		return nil, err
	}
	whole := &sharedCount{want: evenTasks, reached: make(chan struct{})}
	for _, r := range all {
		r.ended = whole.add
		if err := r.start(ctx, evenTasks+1); err != nil {
			return nil, err
		}
	}
	select {
	case <-whole.reached:
	case <-time.After(patience):
		return nil, fmt.Errorf("not all tasks ended within %v", patience)
	}
	var got []int
	for _, r := range all {
		if err := r.close(); err != nil {
			return nil, err
		}
		got = append(got, r.counter.got)
	}
	return got, nil
}

// sharedCount counts the tasks of several workers.
type sharedCount struct {
	mu        sync.Mutex
	got, want int
	reached   chan struct{}
}

func (s *sharedCount) add() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.got++; s.got == s.want {
		close(s.reached)
	}
}
