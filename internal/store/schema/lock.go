package schema

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// lockNumber is tern's own advisory lock, so that `tern` by hand and we exclude each other.
const lockNumber int64 = 9628173550095224

// DefaultLockWait is how long another migration is waited for.
const DefaultLockWait = 5 * time.Minute

// lock takes the lock of migrations for the session, and waits for it for so long. Any login may hold an advisory lock,
// so the error says who does.
func lock(ctx context.Context, conn *pgx.Conn, wait time.Duration) error {
	if err := lockTimeout(ctx, conn, strconv.FormatInt(max(wait.Milliseconds(), 1), 10)); err != nil {
		return err
	}
	_, err := conn.Exec(ctx, "select pg_advisory_lock($1)", lockNumber)
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == "55P03" { // lock_not_available
		return fmt.Errorf("another migration has not ended after %v: %s", wait, holder(ctx, conn))
	}
	if err != nil {
		return fmt.Errorf("wait for other migrations: %w", err)
	}
	return lockTimeout(ctx, conn, "") // what was set for the login
}

func lockTimeout(ctx context.Context, conn *pgx.Conn, milliseconds string) error {
	statement := "reset lock_timeout"
	if milliseconds != "" {
		statement = "set lock_timeout = " + milliseconds
	}
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// holder says who has the lock, and how to take it away.
func holder(ctx context.Context, conn *pgx.Conn) string {
	var pid int
	var login, program string
	err := conn.QueryRow(ctx, `select a.pid, coalesce(a.usename, ''), coalesce(a.application_name, '')
		from pg_locks l join pg_stat_activity a using (pid)
		where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and l.database = (select oid from pg_database where datname = current_database())
			and (l.classid::bigint << 32 | l.objid::bigint) = $1`, lockNumber).Scan(&pid, &login, &program)
	if err != nil {
		return "run migrate again"
	}
	return fmt.Sprintf("the session with pid %d (login %q, program %q) has its lock. If that is none: select pg_terminate_backend(%d)", pid, login, program, pid)
}
