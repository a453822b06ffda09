// Package devstack runs the whole system on one machine, for cmd/async-worker-dev (make run). It starts Azurite,
// PGlite, PostgREST and a worker as child processes, or in their place one Postgres and perhaps a nats-server, shows a
// tour with the sample documents, and stops everything. It writes only to .dev/ in the project's folder; Postgres has a
// temporary one.
package devstack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/gateway/gatewaytest"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/webhook/receiver"
)

// clientID is the tenant of the local stack.
const clientID = "southhaven"

// Backends of Options.
const (
	// BackendSupabase is Azurite, PGlite and PostgREST: what Azure and Supabase are to a worker.
	BackendSupabase = ""
	// BackendPostgres is one Postgres, with jobs and queues, and a folder. The database is removed with the stack.
	BackendPostgres = "postgres"
	// BackendNATS is one Postgres with the jobs, a nats-server with the queues, and a folder. Nothing is kept.
	BackendNATS = "nats"
)

// Options select what to run and how to show it.
type Options struct {
	// Once ends after the tour, with fresh data. Otherwise the stack stays up until ctx ends, and keeps its data.
	Once bool
	// Backend is BackendSupabase, BackendPostgres or BackendNATS.
	Backend string
	Home    string   // the folder for everything it writes; empty: .dev of the project
	Worker  string   // the program async-worker: an absolute path
	NATS    string   // the program nats-server, for BackendNATS: an absolute path
	Environ []string // "NAME=value"; settings of the models are taken from it
	Stdout  io.Writer
	Color   bool // Stdout shows colours
	Redraws bool // Follow redraws lines, so that nothing else may be printed meanwhile

	// Follow shows the progress of jobs until all have finished. It fails when one did not succeed.
	Follow func(ctx context.Context, reader store.Reader, ids []string) error
	// ShowHits prints the hits of a search.
	ShowHits func(w io.Writer, hits []search.Hit) error
}

// Run returns nil when the tour succeeded and, without Once, ctx then ended. It never leaves a process running.
func Run(ctx context.Context, o Options) (err error) {
	root, err := stack.Root()
	if err != nil {
		return err
	}
	if o.Home == "" {
		o.Home = filepath.Join(root, ".dev")
	} else if o.Home, err = filepath.Abs(o.Home); err != nil {
		return err
	}
	home, err := openHome(root, o.Home, o.Once)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, home.close()) }()
	d := &dev{Options: o, home: home, out: &printer{w: o.Stdout, color: o.Color}}
	ctx, d.parts = newParts(ctx, home)
	defer func() {
		d.out.hold(false)
		d.out.line("")
		stopErr := d.parts.stop(d.out)
		if why := context.Cause(ctx); why != nil && errors.As(why, new(*exitedError)) {
			err = why // the cause of the tour's error
		}
		err = errors.Join(err, stopErr)
	}()
	return d.run(ctx)
}

// dev is one run.
type dev struct {
	Options
	home     *home
	out      *printer
	parts    *parts
	env      settings
	receiver *receiver.Receiver
	gateway  *gatewaytest.Server
	azure    string // connection string
	database string // the URL of its owner
	api      access
}

func (d *dev) run(ctx context.Context) error {
	d.out.title("async-worker-dev", "everything it writes is in "+d.home.rel(d.home.dir)+"/, Ctrl-C stops it")
	if err := d.start(ctx); err != nil {
		return interrupted(ctx, err)
	}
	tenant, err := d.openTenant(ctx)
	if err != nil {
		return err
	}
	err = d.tour(ctx, tenant)
	if closeErr := tenant.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return interrupted(ctx, err)
	}
	if d.Once {
		return nil
	}
	if err := d.home.writeEnv(d.env, d.extras()); err != nil {
		return err
	}
	defer d.home.removeEnv()
	if err := d.printNext(ctx); err != nil {
		return interrupted(ctx, err)
	}
	<-ctx.Done()
	return nil
}

// interrupted distinguishes a requested stop from an error.
func interrupted(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), context.Canceled) {
		return fmt.Errorf("stopped before the end of the tour: %w", context.Canceled)
	}
	return err
}

// openTenant opens a tenant as commands do, with the settings in .dev/env.
func (d *dev) openTenant(ctx context.Context) (*app.Tenant, error) {
	cfg, err := config.Load(config.Sources{Environ: d.env.environ()}, app.Everything)
	if err != nil {
		return nil, fmt.Errorf("read the settings of the local stack: %w", err)
	}
	return app.Open(ctx, cfg, slog.New(slog.DiscardHandler), app.Everything)
}
