// Package postgres opens a store over a direct connection (DATABASE_URL), through pgx.
package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/databaseurl"
	"github.com/seed-7227ef26/async-worker/internal/store/rpc"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// Role is the worker's role, which the migration creates. It has access to the rows of one tenant.
const Role = "async_worker"

// Options configure Open.
type Options struct {
	ClientID     string                     // the tenant; required
	Schema       string                     // DB_SCHEMA; empty: public
	AppName      string                     // shown in pg_stat_activity; empty: async-worker
	MaxConns     int32                      // unless the URL has pool_max_conns; zero: pgx's default (4, or one per processor)
	Dimensions   int                        // EMBEDDING_DIMENSIONS, which Check compares with the schema; zero: not checked
	OnUnanswered func(waited time.Duration) // see rpc.Options; nil: not called
}

// PoolFor returns the number of connections for a number of concurrent tasks: one for each and two for the worker's
// loops, at most 8. A call holds its connection for one transaction, more transactions than the database has processors
// slow each other down, and a connection costs the server some 80 ms of CPU time until it has its plans.
func PoolFor(tasks int) int32 { return int32(min(tasks+2, 8)) }

// connsLeft is how many connections the calls of the API leave to others, if there are more than these.
const connsLeft = 2

// Open returns the store of the database at url. It connects at the first call, so that a worker can start before its
// database answers. Store.Check checks the schema.
//
// Every call is one round trip and one transaction, which sets the tenant's id and, if the login may, the role
// async_worker. No call depends on the session. So Postgres' own port, Supabase's session port (5432) and its
// transaction port (6543) all work. Behind a transaction pooler add default_query_exec_mode=exec to the URL, because
// it does not keep prepared statements.
func Open(ctx context.Context, url string, o Options) (store.Store, error) {
	c, err := OpenCaller(ctx, url, o)
	if err != nil {
		return nil, err
	}
	return rpc.New(c, o.ClientID, rpc.Options{Dimensions: o.Dimensions, OnUnanswered: o.OnUnanswered}), nil
}

// OpenCaller returns what carries Open's calls, for others of the tenant that call the functions of the schema.
func OpenCaller(ctx context.Context, url string, o Options) (rpc.Caller, error) {
	config, err := databaseurl.Pool(url)
	if err != nil {
		return nil, err
	}
	if o.MaxConns > 0 && !strings.Contains(url, "pool_max_conns") { // the operator's choice
		config.MaxConns = o.MaxConns
	}
	if o.AppName == "" {
		o.AppName = "async-worker"
	}
	if o.Schema == "" {
		o.Schema = schema.DefaultSchema
	}
	config.ConnConfig.RuntimeParams["application_name"] = o.AppName
	config.ConnConfig.ConnectTimeout = max(config.ConnConfig.ConnectTimeout, 10*time.Second)
	limitCaches(config.ConnConfig, url)
	leaveReadOnly(config.ConnConfig)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	mode := config.ConnConfig.DefaultQueryExecMode
	return &caller{
		pool: pool, schema: pgx.Identifier{o.Schema}.Sanitize(), clientID: o.ClientID,
		fromAPI: make(chan struct{}, max(1, config.MaxConns-connsLeft)),
		unnamed: mode == pgx.QueryExecModeExec || mode == pgx.QueryExecModeSimpleProtocol,
	}, nil
}

// leaveReadOnly closes a connection on which the database refuses a write: after a failover the next one may reach the
// new primary, and a session keeps default_transaction_read_only, as Supabase sets for a full disk, after it was reset.
func leaveReadOnly(config *pgx.ConnConfig) {
	keep := config.OnPgError
	config.OnPgError = func(conn *pgconn.PgConn, raised *pgconn.PgError) bool {
		return raised.Code != rpc.ReadOnly && (keep == nil || keep(conn, raised))
	}
}

// statements is how many prepared statements a connection keeps: more than a worker has functions to call.
const statements = 128

// limitCaches makes a connection reserve only what it needs: pgx makes room for 512 statements, twice, whether it will
// use them or not. What the URL says is the operator's choice.
func limitCaches(config *pgx.ConnConfig, url string) {
	if !strings.Contains(url, "statement_cache_capacity") {
		config.StatementCacheCapacity = statements
	}
	if config.DefaultQueryExecMode != pgx.QueryExecModeCacheDescribe {
		config.DescriptionCacheCapacity = 0 // it is for that mode alone
	}
}

// caller is an rpc.Caller over a pool.
type caller struct {
	pool     *pgxpool.Pool
	schema   string        // quoted
	fromAPI  chan struct{} // has an element for each call of the API
	unnamed  bool          // statements have no names: a pooler may not keep prepared ones
	clientID string
	chosen   atomic.Pointer[session] // nil: not known yet
}

// session is the role of calls.
type session struct {
	role  string // taken in every transaction; "none": the login's own
	apart bool   // a separate statement before the call sets the role
}

// session returns the session, which it chooses once, when the database first answers. Concurrent first calls each
// choose, with the same outcome.
func (c *caller) session(ctx context.Context) (session, error) {
	if s := c.chosen.Load(); s != nil {
		return *s, nil
	}
	s, err := c.chooseRole(ctx)
	if err != nil {
		return session{}, err
	}
	c.chosen.Store(&s)
	return s, nil
}

// chooseRole finds out whether the login may set the worker's role. A superuser, or an owner that bypasses row-level
// security, must not be used for calls (I10).
func (c *caller) chooseRole(ctx context.Context) (s session, err error) {
	s.role = "none"
	tx, err := c.pool.Begin(ctx)
	if err != nil {
		return s, fmt.Errorf("connect to the database: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it only gives the connection back
	_, err = tx.Exec(ctx, "set local role "+Role)
	if raised, ok := errors.AsType[*pgconn.PgError](err); ok && (raised.Code == "42501" || raised.Code == "22023") {
		return s, nil // not a member, or not migrated, which Check reports
	} else if err != nil {
		return s, fmt.Errorf("connect to the database: %w", err)
	}
	s.role = Role
	// Postgres checks the right to call a function before it executes the statement: that of the login.
	if err := tx.QueryRow(ctx, "select not pg_catalog.pg_has_role(session_user, $1, 'usage')", Role).
		Scan(&s.apart); err != nil {
		return s, fmt.Errorf("connect to the database: %w", err)
	}
	return s, nil
}

// enter waits until a call may ask for a connection, which those of the API do. The function that it returns ends that.
func (c *caller) enter(ctx context.Context) (leave func(), err error) {
	if !store.IsFromAPI(ctx) {
		return func() {}, nil
	}
	select {
	case c.fromAPI <- struct{}{}:
		return func() { <-c.fromAPI }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Call sets the tenant and calls the function in one transaction: in one statement, since two take Postgres 5 % longer,
// or in two of one batch. "offset 0" makes Postgres set the tenant first. Built-in functions are qualified: another
// role may have created a better match in a schema on the login's search path.
func (c *caller) Call(ctx context.Context, fn string, p json.RawMessage) (json.RawMessage, error) {
	leave, err := c.enter(ctx)
	if err != nil {
		return nil, callError(fn, err)
	}
	defer leave()
	as, err := c.session(ctx)
	if err != nil {
		return nil, callError(fn, err)
	}
	var answer string
	if as.apart {
		batch := &pgx.Batch{}
		batch.Queue("select pg_catalog.set_config('app.client_id', $1, true), pg_catalog.set_config('role', $2, true)",
			c.clientID, as.role)
		batch.Queue("select "+c.schema+"."+fn+"($1::jsonb)::text", string(p)).QueryRow(func(row pgx.Row) error {
			return row.Scan(&answer)
		})
		err = c.pool.SendBatch(ctx, batch).Close()
	} else {
		err = c.pool.QueryRow(ctx, "select "+c.schema+"."+fn+`($1::jsonb)::text
			from (select pg_catalog.set_config('app.client_id', $2, true), pg_catalog.set_config('role', $3, true) offset 0) settings`,
			string(p), c.clientID, as.role).Scan(&answer)
	}
	if err != nil {
		return nil, callError(fn, err)
	}
	return json.RawMessage(answer), nil
}

// callError converts an error that the database raised to a *rpc.SQLError.
func callError(fn string, err error) error {
	if raised, ok := errors.AsType[*pgconn.PgError](err); ok {
		return &rpc.SQLError{State: raised.Code, Message: raised.Message}
	}
	return fmt.Errorf("call %s: %w", fn, err)
}

// Grantee implements rpc.Grantee.
func (c *caller) Grantee() (in, role string) {
	role = Role
	if s := c.chosen.Load(); s == nil || s.role != Role || s.apart {
		role = c.pool.Config().ConnConfig.User
	}
	return c.schema, pgx.Identifier{role}.Sanitize()
}

// Close closes the connections.
func (c *caller) Close() { c.pool.Close() }
