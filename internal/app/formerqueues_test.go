package app

import (
	"bytes"
	"context"
	"crypto/rand"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/metrics"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

// A tenant that has left the queues in the database is told that aw_enqueue still uses them. Nobody else hears of it.
func TestFormerQueuesAreToldOf(t *testing.T) {
	t.Parallel()
	url := config.NewSecret(stacktest.Postgres(t))
	tenant := func(client, backend string) (*Tenant, *bytes.Buffer) {
		var log bytes.Buffer
		return &Tenant{
			Config: config.Config{ClientID: client, QueueBackend: backend, DatabaseURL: url, DBSchema: "public"},
			log:    slog.New(slog.NewTextHandler(&log, nil)), metrics: metrics.New(metrics.Options{}),
		}, &log
	}
	former, _ := tenant("southhaven", config.QueuePostgres)
	queues, err := former.postgresQueues(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := queues.Close(); err != nil {
			t.Error(err)
		}
	})
	q := queues.Queue(task.QueueNames("southhaven").Normal)
	if err := q.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Send(t.Context(), "{}", queue.SendOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ client, backend, want string }{
		{"southhaven", config.QueueNATS, "waiting=1"},
		{"southhaven", config.QueuePostgres, ""},
		{"northhaven", config.QueueNATS, ""},
	} {
		worker, log := tenant(c.client, c.backend)
		worker.warnOfFormerQueues(t.Context())
		if said := log.String(); !strings.Contains(said, c.want) || c.want == "" && said != "" {
			t.Errorf("%+v: %s", c, said)
		}
	}
}

// The owner of a database need not be a superuser: row-level security holds for it, too.
func TestRetireAsOwner(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), stacktest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	owner := "owner_" + strings.ToLower(rand.Text()[:8])
	do := func(sql string) pgconn.CommandTag {
		t.Helper()
		tag, err := conn.Exec(t.Context(), sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return tag
	}
	do("insert into aw_queues (client_id, name) values ('southhaven', 'southhaven-tasks'), ('northhaven', 'northhaven-tasks')")
	do("create role " + owner)
	t.Cleanup(func() {
		if _, err := conn.Exec(context.WithoutCancel(t.Context()), "reset role; reset app.client_id; alter table aw_queues owner to current_user; "+
			"drop owned by "+owner+"; drop role "+owner); err != nil {
			t.Error(err)
		}
	})
	do("grant usage, create on schema public to " + owner)
	do("alter table aw_queues owner to " + owner)
	do("grant execute on all functions in schema public to " + owner)
	do("set role " + owner)
	do(retire("public", "southhaven"))
	do("reset role")
	var left string
	if err := conn.QueryRow(t.Context(), "select string_agg(name, ' ') from aw_queues").Scan(&left); err != nil || left != "northhaven-tasks" {
		t.Errorf("left: %s, %v", left, err)
	}
}
