// Package pgmq is the queue back end on pgmq, Postgres' extension that Supabase calls Queues, over a direct connection.
// It is queue/postgres with other SQL. It has less to offer: see docs/postgres-queue.md.
package pgmq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-7227ef26/async-worker/internal/store/databaseurl"
	"github.com/seed-7227ef26/async-worker/internal/store/rpc"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/postgres"
)

// Options qualify Open.
type Options struct {
	// OnRequest is called for every request, see postgres.Options. May be nil.
	OnRequest func(op, outcome string)
	// OnRisk is called by Ensure for each property by which a queue may lose messages, when it first sees the queue. It
	// must not block. May be nil.
	OnRisk func(risk string)
}

const (
	maxConns = 4
	missing  = "enable Queues in the Supabase project, or run: create extension pgmq"
)

// Open returns the queues of pgmq in the database at url. It connects at the first request.
func Open(url string, o Options) (queue.Service, error) {
	config, err := databaseurl.Pool(url)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = maxConns
	}
	config.ConnConfig.RuntimeParams["application_name"] = "async-worker queues"
	config.ConnConfig.ConnectTimeout = max(config.ConnConfig.ConnectTimeout, 10*time.Second)
	leaveReadOnly(config.ConnConfig)
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	if o.OnRisk == nil {
		o.OnRisk = func(string) {}
	}
	c := &caller{pool: pool, risks: risks{onRisk: o.OnRisk, known: map[string]bool{}}}
	return postgres.Open(c, postgres.Options{OnRequest: o.OnRequest, Missing: missing}), nil
}

// leaveReadOnly closes a connection on which the database refuses a write, as that of the store does.
func leaveReadOnly(config *pgx.ConnConfig) {
	keep := config.OnPgError
	config.OnPgError = func(conn *pgconn.PgConn, raised *pgconn.PgError) bool {
		return raised.Code != rpc.ReadOnly && (keep == nil || keep(conn, raised))
	}
}

// caller is an rpc.Caller that runs statements.
type caller struct {
	pool  *pgxpool.Pool
	risks risks
}

// Close implements rpc.Caller.
func (c *caller) Close() { c.pool.Close() }

// Call implements rpc.Caller.
func (c *caller) Call(ctx context.Context, fn string, p json.RawMessage) (json.RawMessage, error) {
	var args struct {
		Queue string `json:"queue"`
		TTL   int64  `json:"ttl_ms"`
	}
	if err := json.Unmarshal(p, &args); err != nil {
		return nil, fmt.Errorf("read the arguments of %s: %w", fn, err)
	}
	if fn == "aw_queue_send" && args.TTL > 0 {
		fn += "_ttl"
	}
	sql := statements[fn]
	if strings.Contains(sql, "%[1]s") {
		sql = fmt.Sprintf(sql, pgx.Identifier{"pgmq", "q_" + strings.ToLower(args.Queue)}.Sanitize())
	}
	var answer string
	err := c.pool.QueryRow(ctx, strings.ReplaceAll(sql, "($1)", "($1::jsonb)"), string(p)).Scan(&answer)
	raised, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case ok && raised.Code == "42P01" && fn != "aw_queue_ensure":
		return nil, &rpc.SQLError{State: "AW018", Message: raised.Message}
	case ok:
		return nil, &rpc.SQLError{State: raised.Code, Message: raised.Message}
	case err != nil:
		return nil, fmt.Errorf("call %s: %w", fn, err)
	}
	if fn == "aw_queue_ensure" {
		return json.RawMessage(answer), c.risks.look(args.Queue, answer)
	}
	return json.RawMessage(answer), nil
}
