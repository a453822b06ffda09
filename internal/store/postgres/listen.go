package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store/databaseurl"
)

const (
	probeTimeout = 5 * time.Second
	idleCheck    = time.Minute // a connection that is silent for so long is tried
	probePayload = "?"
)

// errDeaf means that notifications do not arrive.
var errDeaf = errors.New("notifications do not arrive: is DATABASE_URL that of a transaction pooler? Supabase's session " +
	"port (5432) has them")

// listenWaits are the waits between attempts to connect again.
var listenWaits = retry.Backoff{First: time.Second, Max: time.Minute, Jitter: 0.25}

// FeedChannel is the channel of the notifications about a tenant's events.
func FeedChannel(clientID string) string { return "async_worker:" + clientID }

// TasksChannel is the channel of the notifications about new tasks of a tenant, see WakeWorkers.
func TasksChannel(clientID string) string { return "async_worker_tasks:" + clientID }

// KeepListening calls heard for every notification on the channel, and whenever it has connected: what was sent before
// is lost. It connects again for ever, and returns when ctx is done. lost is told of a lost or refused connection, once
// until it is there again.
func KeepListening(ctx context.Context, url, channel string, heard func(), lost func(error)) {
	waits, down := listenWaits.Waits(), false
	for ctx.Err() == nil {
		err := Listen(ctx, url, channel, func([]string) {
			waits, down = listenWaits.Waits(), false
			heard()
		})
		if ctx.Err() == nil && !down {
			down = true
			lost(err)
		}
		_ = retry.Sleep(ctx, waits.Next()) // the loop sees the end of ctx
	}
}

// Listen calls woken with the words of each notification on the channel, until ctx ends or the connection fails: for
// FeedChannel the marks of the jobs that Wake named (see aw_wake; none: any job). It takes a connection of its own, and
// calls woken once, with none, when it is certain that notifications arrive.
func Listen(ctx context.Context, url, channel string, woken func(words []string)) error {
	config, err := databaseurl.Conn(url)
	if err != nil {
		return err
	}
	config.RuntimeParams["application_name"] = "async-worker (listener)"
	config.ConnectTimeout = max(config.ConnectTimeout, probeTimeout)
	limitCaches(config, url)
	maps.DeleteFunc(config.RuntimeParams, func(name, _ string) bool { return strings.HasPrefix(name, "pool_") })
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return errors.New("can't connect to the database to listen")
	}
	defer conn.Close(context.WithoutCancel(ctx))
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
