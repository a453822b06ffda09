// Command bench measures what the worker costs around a task: `make bench` runs it. Every speed stands
// beside that of a bare SDK loop of receive and delete over the same server in the same run, since
// machines differ and are noisy; the ratio is what counts. The task type is a no-op.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/memory"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// rounds are how often bare loop and worker take turns; the median ratio is printed.
const rounds = 3

func main() {
	if len(os.Args) > 1 && os.Args[1] == "stub" {
		os.Exit(serveStub(os.Stdout, os.Stdin))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) (err error) {
	stub, stopStub, err := startStub(ctx)
	if err != nil {
		return err
	}
	defer stopStub()
	azurite, err := stack.StartAzurite(ctx, stack.AzuriteOptions{})
	if err != nil {
		return err
	}
	defer stopping(&err, azurite.Stop)
	pg, err := stack.StartPostgres(ctx, stack.PostgresOptions{})
	if err != nil {
		return err
	}
	defer stopping(&err, pg.Stop)
	jobs, err := openJobs(ctx, pg)
	if err != nil {
		return err
	}
	defer jobs.Close()

	fmt.Fprintf(out, "A no-op task, concurrency %d, beside a bare SDK loop of receive and delete; the median of %d rounds.\n\n", concurrency, rounds)
	table := newTable(out)
	for _, c := range []struct {
		queue, connection, store string
		jobs                     func() store.Jobs
		tasks                    int
	}{
		{"stub", stub, "memory", func() store.Jobs { return memory.New() }, 4000},
		{"stub", stub, "Postgres", func() store.Jobs { return jobs }, 2000},
		{"Azurite", azurite.ConnectionString, "Postgres", func() store.Jobs { return jobs }, 600},
	} {
		r, err := compare(ctx, c.connection, c.jobs(), c.tasks)
		if err != nil {
			return fmt.Errorf("%s with %s: %w", c.queue, c.store, err)
		}
		table.row(c.queue, c.store, c.tasks, r)
	}
	table.flush()
	return measureIdle(ctx, out, azurite.ConnectionString, jobs)
}

func openJobs(ctx context.Context, pg *stack.Postgres) (store.Store, error) {
	if err := pg.CreateDatabase(ctx, "bench", "template1"); err != nil {
		return nil, err
	}
	if _, err := schema.Migrate(ctx, pg.URL("bench"), schema.Options{}); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	return postgres.Open(ctx, pg.URL("bench"), postgres.Options{ClientID: client, MaxConns: concurrency})
}

func stopping(err *error, stop func() error) {
	if e := stop(); e != nil && *err == nil {
		*err = e
	}
}
