package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/memory"
)

// opened are the services of one run of the queue part.
type opened struct {
	stub, azurite string // connection strings
	nats, pgmq    backend
	pg            *pgBackend
	pgURL         string
	server        *stack.Postgres
	jobs          store.Store
	closers       []func() error
	only          string // measure this queue; empty: all
}

func (o *opened) close() (err error) {
	for i := len(o.closers) - 1; i >= 0; i-- {
		stopping(&err, o.closers[i])
	}
	return err
}

// wanted reports whether a queue is to be measured.
func (o *opened) wanted(queue string) bool { return o.only == "" || strings.EqualFold(o.only, queue) }

// openAll starts the services that a worker may have as its queue.
func openAll(ctx context.Context, stub, only string) (o *opened, err error) {
	o = &opened{stub: stub, only: only}
	defer func() {
		if err != nil {
			_ = o.close()
		}
	}()
	azurite, err := stack.StartAzurite(ctx, stack.AzuriteOptions{})
	if err != nil {
		return o, err
	}
	o.closers, o.azurite = append(o.closers, azurite.Stop), azurite.ConnectionString
	if o.server, err = stack.StartPostgres(ctx, stack.PostgresOptions{}); err != nil {
		return o, err
	}
	o.closers = append(o.closers, o.server.Stop)
	if o.jobs, err = openJobs(ctx, o.server, concurrency); err != nil {
		return o, err
	}
	o.closers = append(o.closers, func() error { o.jobs.Close(); return nil })
	nats, err := startNATS(ctx)
	if err != nil {
		return o, err
	}
	o.nats, o.closers = nats, append(o.closers, nats.close)
	o.pgURL = o.server.URL("bench")
	if o.pg, err = openPG(ctx, o.pgURL, false); err != nil {
		return o, err
	}
	o.closers = append(o.closers, o.pg.close)
	pgmq, err := openPG(ctx, o.pgURL, true)
	if err != nil {
		return o, err
	}
	o.pgmq, o.closers = pgmq, append(o.closers, pgmq.close)
	return o, nil
}

// natsAim is the least ratio of the worker's rate on NATS to that of a bare loop.
const natsAim = 0.9

func compareAll(ctx context.Context, out io.Writer, o *opened) error {
	fmt.Fprintf(out, "A no-op task, concurrency %d, and a bare client loop of receive and delete; the median of %d "+
		"rounds.\n\n", concurrency, rounds)
	table, measured := newTable(out), 0
	for _, c := range []struct {
		queue, store string
		on           backend
		jobs         store.Jobs
		tasks        int
		aim          float64
	}{
		{"stub", "memory", azureBackend{o.stub}, memory.New(), 4000, 0},
		{"stub", "Postgres", azureBackend{o.stub}, o.jobs, 2000, 0},
		{"Azurite", "memory", azureBackend{o.azurite}, memory.New(), 600, 0},
		{"Azurite", "Postgres", azureBackend{o.azurite}, o.jobs, 600, 0},
		{"NATS", "memory", o.nats, memory.New(), 8000, natsAim},
		{"NATS", "Postgres", o.nats, o.jobs, 4000, natsAim},
		{"Postgres", "memory", o.pg, memory.New(), 2000, 0},
		{"Postgres", "Postgres", o.pg, o.jobs, 2000, 0},
		{"pgmq", "Postgres", o.pgmq, o.jobs, 2000, 0},
	} {
		if !o.wanted(c.queue) {
			continue
		}
		r, err := compare(ctx, c.on, c.jobs, c.tasks)
		if err != nil {
			return fmt.Errorf("%s with %s: %w", c.queue, c.store, err)
		}
		measured++
		table.row(c.queue, c.store, c.tasks, c.aim, r)
	}
	if measured == 0 {
		return fmt.Errorf("there is no queue %q", o.only)
	}
	table.flush()
	return nil
}
