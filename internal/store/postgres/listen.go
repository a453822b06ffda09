package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	probeTimeout = 5 * time.Second
	idleCheck    = time.Minute // a connection that is silent for so long is tried
	probePayload = "?"
)

// errDeaf means that notifications do not arrive.
var errDeaf = errors.New("notifications do not arrive: is DATABASE_URL that of a transaction pooler? Supabase's session " +
	"port (5432) has them")

// Listen calls woken with the jobs that Wake named (none: any job), for a tenant, until ctx ends or the connection
// fails. It takes a connection of its own, and calls woken once when it is certain that notifications arrive.
func Listen(ctx context.Context, url string, o Options, woken func(jobIDs []string)) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return errors.New("DATABASE_URL is not a connection string") // err may quote it
	}
	config.RuntimeParams["application_name"] = "async-worker (listener)"
	config.ConnectTimeout = max(config.ConnectTimeout, probeTimeout)
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return errors.New("can't connect to the database to listen")
	}
	defer conn.Close(context.WithoutCancel(ctx))
	channel := "async_worker:" + o.ClientID
	if _, err := conn.Exec(ctx, "listen "+pgx.Identifier{channel}.Sanitize()); err != nil {
		return fmt.Errorf("listen to the database: %w", err)
	}
	if err := probe(ctx, conn, config, channel); err != nil {
		return err
	}
	woken(nil)
	for {
		n, err := next(ctx, conn)
		if err != nil {
			return err
		}
		if n.Payload != probePayload { // of another process's probe
			woken(strings.Fields(n.Payload))
		}
	}
}

// probe sends a notification on another connection, as workers do. A pooler may accept LISTEN and deliver nothing.
func probe(ctx context.Context, conn *pgx.Conn, config *pgx.ConnConfig, channel string) error {
	other, err := pgx.ConnectConfig(ctx, config.Copy())
	if err != nil {
		return errors.New("can't connect to the database to try notifications")
	}
	_, err = other.Exec(ctx, "select pg_catalog.pg_notify($1, $2)", channel, probePayload)
	if err := errors.Join(err, other.Close(context.WithoutCancel(ctx))); err != nil {
		return fmt.Errorf("try notifications: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if _, err := conn.WaitForNotification(ctx); err != nil {
		return errDeaf
	}
	return nil
}

// next waits for a notification, and tries a silent connection: a dead one may report nothing.
func next(ctx context.Context, conn *pgx.Conn) (*pgconn.Notification, error) {
	for {
		within, cancel := context.WithTimeout(ctx, idleCheck)
		n, err := conn.WaitForNotification(within)
		late := within.Err() != nil
		cancel()
		switch {
		case err == nil:
			return n, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !late || conn.IsClosed():
			return nil, fmt.Errorf("wait for notifications: %w", err)
		}
		try, cancel := context.WithTimeout(ctx, probeTimeout)
		err = conn.Ping(try)
		cancel()
		if err != nil {
			return nil, fmt.Errorf("try the connection of notifications: %w", err)
		}
	}
}
