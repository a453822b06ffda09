package postgres_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/queue"
)

// TestScaler: the queries by which KEDA scales count the messages of the tenant's three queues, and see a schedule that is
// due, for the tenant's login.
func TestScaler(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../../packaging/kubernetes/scale-postgres.yaml")
	must(t, err)
	queries := regexp.MustCompile(`(?s)query: >-\n(.*?)\n +targetQueryValue`).FindAllSubmatch(file, -1)
	if len(queries) != 2 {
		t.Fatalf("there are %d queries", len(queries))
	}
	url := stacktest.PostgresWith(t, small)
	service := direct(t, url, "acme")
	defer service.Close()
	for _, name := range []string{"acme-tasks-high", "acme-tasks", "acme-tasks-low"} {
		q := service.Queue(name)
		must(t, q.Ensure(t.Context()))
		_, err := q.Send(t.Context(), "x", queue.SendOptions{Delay: time.Minute})
		must(t, err)
	}
	conn := connect(t, url)
	ask := func(query []byte) (n int) {
		t.Helper()
		must(t, conn.QueryRow(t.Context(), strings.ReplaceAll(string(query), "TENANT", "acme")).Scan(&n))
		return n
	}
	const due = `insert into schedules (client_id, id, cron, time_zone, task, fires_at)
		select 'acme', 'in-' || m, '@daily', 'UTC', '{}', now() + m * interval '1 minute' from unnest($1::int[]) m`
	_, err = conn.Exec(t.Context(), due, []int{10})
	must(t, err)
	_, err = conn.Exec(t.Context(), "set role async_worker; set app.client_id = 'acme'")
	must(t, err)
	if depth, fire := ask(queries[0][1]), ask(queries[1][1]); depth != 3 || fire != 0 {
		t.Errorf("%d messages and %d schedules, want 3 and none", depth, fire)
	}
	_, err = conn.Exec(t.Context(), "reset role")
	must(t, err)
	_, err = conn.Exec(t.Context(), due, []int{-1, -2})
	must(t, err)
	_, err = conn.Exec(t.Context(), "set role async_worker")
	must(t, err)
	if fire := ask(queries[1][1]); fire != 1 {
		t.Errorf("%d for schedules that are due, want 1", fire)
	}
}
