package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-7227ef26/async-worker/internal/retry"
)

// DefaultTableWait is how long a migration waits, in all, for others who use a table that it changes.
const DefaultTableWait = 30 * time.Minute

// lockTimeout is how long one statement waits for a table. Whoever needs the table queues up behind it meanwhile. It is longer
// than Postgres takes to find a deadlock, and to end an autovacuum that is in the way: 1 s.
const lockTimeout = 3 * time.Second

// limitLocks sets lockTimeout for a transaction.
const limitLocks = "set local lock_timeout = '3s'; "

// maxPause is the longest pause between two attempts, in which others have the table to themselves.
const maxPause = 30 * time.Second

// InUseError says that others used a table until a migration gave up. What it had applied before stays.
type InUseError struct {
	Waited  time.Duration
	session string
	err     error
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("tables are still in use after %v: the oldest transaction is that of %s: %v", e.Waited, e.session, e.err)
}

func (e *InUseError) Unwrap() error { return e.err }

// inUse reports whether a lock was not to be had within lockTimeout.
func inUse(err error) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && refused.Code == "55P03" // lock_not_available
}

// waitForTables pauses after refused, an error that is inUse. waited is the time before; it returns the time including this
// pause, or an InUseError if that is too long.
func waitForTables(ctx context.Context, conn *pgx.Conn, o Options, waited time.Duration, refused error) (time.Duration, error) {
	waited += lockTimeout
	session := oldestSession(ctx, conn, o.Schema)
	if waited >= cmp.Or(o.TableWait, DefaultTableWait) {
		return waited, &InUseError{waited, session, refused}
	}
	pause := min(waited, maxPause)
	if o.Log != nil {
		o.Log.Warn("others use a table that this migration changes; trying again", "in", pause, "session", session, "error", refused)
	}
	if err := retry.Sleep(ctx, pause); err != nil {
		return waited, err
	}
	return waited + pause, nil
}

// oldestSession describes the session with the oldest transaction of those that use the tables.
func oldestSession(ctx context.Context, conn *pgx.Conn, schema string) string {
	var session string
	if err := conn.QueryRow(ctx, `select format('the session with pid %s (login "%s", program "%s")', a.pid, a.usename, a.application_name)
			|| coalesce(to_char(a.xact_start at time zone 'utc', '", in a transaction since "YYYY-MM-DD HH24:MI:SS" UTC"'), '')
		from pg_stat_activity a
		where a.pid <> pg_backend_pid() and a.pid in (
			select l.pid from pg_locks l join pg_class c on c.oid = l.relation join pg_database d on d.oid = l.database
			where l.granted and d.datname = current_database() and c.relnamespace = to_regnamespace($1))
		order by a.xact_start limit 1`, schema).Scan(&session); err != nil {
		return "a session that ended just now, or that this login may not see"
	}
	return session
}
