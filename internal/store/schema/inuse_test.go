package schema_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// lines are what a log has said.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// TestMigrateBesideABackup: a migration waits for a backup, which reads all tables for long, and workers don't wait for
// both of them.
func TestMigrateBesideABackup(t *testing.T) {
	t.Parallel()
	o := schema.Options{Dimensions: 8}
	url := stacktest.EmptyPostgres(t)
	backup, conn := connect(t, url), connect(t, url)
	if _, err := backup.Exec(t.Context(), oldSchema(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "set role async_worker; set app.client_id = 'a'; set statement_timeout = '30s'"); err != nil {
		t.Fatal(err)
	}
	tx, err := backup.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "lock table jobs in access share mode"); err != nil {
		t.Fatal(err)
	}
	named := fmt.Sprintf("pid %d ", backup.PgConn().PID())

	said := make(lines, 100)
	o.Log = slog.New(slog.NewTextHandler(said, nil))
	var report schema.Report
	migrated := make(chan error, 1)
	go func() {
		var err error
		report, err = schema.Migrate(t.Context(), url, o)
		migrated <- err
	}()
	awaitWaiting(t, connect(t, url), migrated, "jobs")
	oldWorker{conn, "a"}.do(t, "beside", oldCalls[0])
	for line := range said {
		if !strings.Contains(line, "others use a table") {
			continue // on a slow machine it tells that it connects
		}
		if !strings.Contains(line, named) {
			t.Errorf("while it waits it says %q", line)
		}
		break
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-migrated; err != nil || report.From != 16 || len(report.Applied) != schema.Version()-16 {
		t.Errorf("after the backup: %+v, %v", report, err)
	}
}

// TestMigrateGivesUp: a migration doesn't wait for ever, and says for whom it did.
func TestMigrateGivesUp(t *testing.T) {
	t.Parallel()
	o := schema.Options{Dimensions: 8}
	url := stacktest.PostgresWith(t, o)
	other := connect(t, url)
	for _, sql := range []string{
		"create index jobs_unsent on jobs (created_at)", // a migration drops it
		"begin; lock table jobs in access share mode",
	} {
		if _, err := other.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	o.TableWait = time.Millisecond
	_, err := schema.Migrate(t.Context(), url, o)
	if e, ok := errors.AsType[*schema.InUseError](err); !ok || e.Waited != 3*time.Second ||
		!strings.Contains(err.Error(), fmt.Sprintf("pid %d ", other.PgConn().PID())) {
		t.Errorf("got %v", err)
	}
}

// awaitWaiting returns when a migration waits for a table.
func awaitWaiting(t *testing.T, watcher *pgx.Conn, migrated <-chan error, table string) {
	t.Helper()
	for waits := false; !waits; {
		select {
		case err := <-migrated:
			t.Fatalf("it did not wait: %v", err)
		default:
		}
		if err := watcher.QueryRow(t.Context(), `select exists (select from pg_locks where not granted
			and database = (select oid from pg_database where datname = current_database()) -- copies have the same numbers
			and relation = to_regclass($1) and mode = 'AccessExclusiveLock')`, table).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
}
