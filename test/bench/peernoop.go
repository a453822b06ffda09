package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
)

const peerNoops = 400

// noops compares no-op tasks on Azurite, and how soon an idle worker starts one.
func (b *peerBench) noops(ctx context.Context) (err error) {
	azurite, err := stack.StartAzurite(ctx, stack.AzuriteOptions{})
	if err != nil {
		return err
	}
	defer stopping(&err, azurite.Stop)
	on := azureBackend{azurite.ConnectionString}
	ours := b.ours("noop", fmt.Sprintf("async-worker: each task's begin and completion are commits in Postgres, over up to %d "+
		"connections; its message is deleted after them", postgres.PoolFor(concurrency)))
	celery := b.peer("celery", "Celery, kombu's azurestoragequeues, threads, no result backend: a message is deleted when "+
		"it is received, so a crash loses the tasks that it holds", "celery_noop.py", "work")
	c := contest{entrants: []*entrant{ours, celery}}
	var bare []float64
	c.begin = func(ctx context.Context, e *entrant, round int) (peerTask, error) {
		t := peerTask{Queues: azurite.ConnectionString, Tasks: peerNoops, Name: fmt.Sprintf("noop_%d_%d", indexOf(c.entrants, e), round)}
		if !e.ours {
			t.Name = strings.ReplaceAll(t.Name, "_", "-") // of a queue
			return t, nil
		}
		took, _, err := bareRound(ctx, on, peerNoops)
		if err != nil {
			return t, err
		}
		bare = append(bare, took.Seconds())
		t.Database, err = b.database(ctx, t.Name, true)
		return t, err
	}
	if err := b.turns(ctx, c); err != nil {
		return err
	}
	for _, e := range c.measured() {
		e.results = []string{rangeOf(rates(e)).format(0)}
	}
	fmt.Fprintf(b.out, "\n%d no-op tasks on Azurite, 32 at a time; a bare loop of receive and delete takes %s s.\n", peerNoops,
		rangeOf(bare).format(2))
	c.print(b.out, "tasks/s")
	return b.pickUp(ctx, azurite, celery)
}

func rates(e *entrant) []float64 {
	all := make([]float64, len(e.runs))
	for i, r := range e.runs {
		all[i] = peerNoops / r.took.Seconds()
	}
	return all
}
