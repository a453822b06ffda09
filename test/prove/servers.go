package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-7227ef26/async-worker/internal/gateway/gatewaytest"
	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

//go:embed ledger.sql
var ledgerSQL string

// The two callers of the store.
const (
	postgresStore = "postgres"
	supabaseStore = "supabase"
)

const (
	dimensions  = 16 // of vectors: any length does
	database    = "prove"
	jwtSecret   = "a secret of the proof, of at least 32 characters"
	apiPassword = "authenticator"
)

// servers is the servers that the runs of a kind share; each run is a tenant of its own.
type servers struct {
	dir     string // of all files; removed by close
	pg      *stack.Postgres
	azurite *stack.Azurite
	rest    *stack.PostgREST
	api     *httptest.Server // PostgREST as Supabase shows it
	hooks   *receiver
	model   *model
	gateway *gatewaytest.Server // of xml tasks: slow, so that leases are renewed meanwhile
	db      *pgxpool.Pool       // the superuser's, for the checks

	recovery time.Duration // drainTime, or longer where time is not judged

	built   *programs
	closers []func() error
}

// newServers starts the servers. With keep their data survives a restart: Azurite in a folder, Postgres durable.
func newServers(ctx context.Context, built *programs, keep bool) (g *servers, err error) {
	g = &servers{built: built, recovery: drainTime}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.close())
		}
	}()
	dir, err := stack.NewTempDir("", "async-worker-prove-")
	if err != nil {
		return g, err
	}
	g.dir = dir.Path
	g.closers = append(g.closers, dir.Remove)
	var azurite stack.AzuriteOptions
	if keep {
		azurite.Folder = filepath.Join(g.dir, "azurite")
	}
	if g.azurite, err = stack.StartAzurite(ctx, azurite); err != nil {
		return g, err
	}
	g.closers = append(g.closers, func() error { return g.azurite.Stop() })
	if err = g.startDatabase(ctx, keep); err != nil {
		return g, err
	}
	if g.hooks, err = newReceiver(); err != nil {
		return g, err
	}
	g.model = newModel()
	g.closers = append(g.closers, g.hooks.Close, g.model.close)
	if g.gateway, err = gatewaytest.Open(gatewaytest.Options{}); err != nil {
		return g, err
	}
	g.gateway.Break(gatewaytest.Fault{Delay: 1500 * time.Millisecond})
	g.closers = append(g.closers, g.gateway.Close)
	return g, nil
}

// servers are those of a kind: its own, or those that several kinds share, with a model of its own. With keep they are
// its own, and their data survives a restart.
func (o options) servers(ctx context.Context, keep bool) (*servers, error) {
	if keep || o.shared == nil {
		return newServers(ctx, o.built, keep)
	}
	g := *o.shared
	dir, err := os.MkdirTemp(g.dir, "kind-")
	if err != nil {
		return nil, err
	}
	g.dir, g.model = dir, newModel()
	g.closers = []func() error{g.model.close}
	return &g, nil
}

func (g *servers) startDatabase(ctx context.Context, durable bool) (err error) {
	if g.pg, err = stack.StartPostgres(ctx, stack.PostgresOptions{Memory: true, Durable: durable}); err != nil {
		return err
	}
	g.closers = append(g.closers, func() error { return g.pg.Stop() })
	if err := g.pg.CreateDatabase(ctx, database, "template1"); err != nil {
		return err
	}
	if err := stack.SupabaseRoles(ctx, g.pg.URL(database), apiPassword); err != nil {
		return err
	}
	if _, err := schema.Migrate(ctx, g.pg.URL(database), schema.Options{Dimensions: dimensions}); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, g.pg.URL(database))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, ledgerSQL)
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return fmt.Errorf("make the ledger: %w", err)
	}
	if g.db, err = pgxpool.New(ctx, g.pg.URL(database)+"&pool_max_conns=8"); err != nil {
		return err
	}
	g.closers = append(g.closers, func() error { g.db.Close(); return nil })
	g.rest, err = stack.StartPostgREST(ctx, stack.PostgRESTOptions{
		DatabaseURL: g.pg.URLAs("authenticator", apiPassword, database), JWTSecret: jwtSecret, AnonRole: "anon",
		Pool: 10,
	})
	if err != nil {
		return err
	}
	g.api = httptest.NewServer(g.rest.Handler())
	g.closers = append(g.closers, func() error { g.api.Close(); return g.rest.Stop() })
	return nil
}

// close stops everything, the last started first.
func (g *servers) close() error {
	var errs []error
	for i := len(g.closers) - 1; i >= 0; i-- {
		errs = append(errs, g.closers[i]())
	}
	g.closers = nil
	return errors.Join(errs...)
}
