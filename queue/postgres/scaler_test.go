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

// TestScaler: the query by which KEDA scales counts the messages of the tenant's three queues, for the tenant's login.
func TestScaler(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../../packaging/kubernetes/scale-postgres.yaml")
	must(t, err)
	query := regexp.MustCompile(`(?s)query: >-\n(.*?)\n +targetQueryValue`).FindSubmatch(file)
	if query == nil {
		t.Fatal("there is no query")
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
	_, err = conn.Exec(t.Context(), "set role async_worker; set app.client_id = 'acme'")
	must(t, err)
	var depth int
	must(t, conn.QueryRow(t.Context(), strings.ReplaceAll(string(query[1]), "TENANT", "acme")).Scan(&depth))
	if depth != 3 {
		t.Errorf("%d messages, want 3", depth)
	}
}
