package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

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
