package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// lockNumber is tern's own advisory lock, so that `tern` by hand and we exclude each other.
const lockNumber int64 = 9628173550095224

// DefaultLockWait is how long another migration is waited for.
const DefaultLockWait = 5 * time.Minute

// LockedError says that another migration did not end, or that somebody else keeps its lock: any login may.
type LockedError struct {
	Waited time.Duration
	holder string
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("another migration has not ended after %v: %s", e.Waited, e.holder)
}

// lock takes the lock of migrations for the session, and says after a while whom it waits for.
func lock(ctx context.Context, conn *pgx.Conn, o Options) error {
	wait := cmp.Or(o.LockWait, DefaultLockWait)
	silent := min(answerGrace, wait/2)
	taken, err := tryLock(ctx, conn, silent)
	if err == nil && !taken && o.Log != nil {
		session, _, _ := strings.Cut(holder(ctx, conn), "; ")
		o.Log.Warn("another migration has not ended yet; still waiting", "at_most", wait, "session", session)
	}
	if err == nil && !taken {
		taken, err = tryLock(ctx, conn, wait-silent)
	}
	if err != nil {
		return fmt.Errorf("wait for other migrations: %w", err)
	}
	if !taken {
		return &LockedError{wait, holder(ctx, conn)}
	}
	return nil
}

// tryLock takes the lock unless another session has it for the whole of wait. The session's lock outlasts the
// transaction that it is taken in. The limits of time are the transaction's own: a login may have others, and a pooler
// gives the connection to somebody else.
func tryLock(ctx context.Context, conn *pgx.Conn, wait time.Duration) (bool, error) {
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		limits := "set local statement_timeout = 0; set local lock_timeout = " +
			strconv.FormatInt(max(wait.Milliseconds(), 1), 10)
		if _, err := tx.Exec(ctx, limits); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "select pg_advisory_lock($1)", lockNumber)
		return err
	})
	if inUse(err) {
		return false, nil
	}
	return err == nil, err
}

// transient reports whether a migration failed only because of what others did at the same time: another migration, or a
// worker whose transaction had locked the tables in another order.
func transient(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return strings.Contains(err.Error(), "tuple concurrently updated") || ok && pg.Code == "40P01" // deadlock_detected
}

// holder says which session has the lock, and after "; " how to take it away: a migration that is at work should not be ended.
func holder(ctx context.Context, conn *pgx.Conn) string {
	var pid int
	var login, program string
	err := conn.QueryRow(ctx, `select a.pid, coalesce(a.usename, ''), coalesce(a.application_name, '')
		from pg_locks l join pg_stat_activity a using (pid)
		where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and l.database = (select oid from pg_database where datname = current_database())
			and (l.classid::bigint << 32 | l.objid::bigint) = $1`, lockNumber).Scan(&pid, &login, &program)
	if err != nil {
		return "it ended just now, or this login may not see it; run migrate again"
	}
	return fmt.Sprintf("the session with pid %d (login %q, program %q) has its lock; to end it: select pg_terminate_backend(%[1]d)",
		pid, login, program)
}
