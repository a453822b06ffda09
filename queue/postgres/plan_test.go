package postgres_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

// TestNoJIT: the statements of a receive are not compiled. The planner can't know that they read few of many messages, and
// to compile them takes a hundred times as long as to run them.
func TestNoJIT(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	open(t, url, "acme", "acme-tasks")
	config, err := pgx.ParseConfig(url)
	must(t, err)
	var plans []string
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { plans = append(plans, n.Message) }
	conn, err := pgx.ConnectConfig(t.Context(), config)
	must(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), `load 'auto_explain'; set auto_explain.log_min_duration = 0;
		set auto_explain.log_nested_statements = on; set auto_explain.log_analyze = on; set auto_explain.log_level = notice;
		set jit = on; set jit_above_cost = 0`)
	must(t, err)
	for _, call := range []string{"aw_queue_receive", "aw_queue_peek"} {
		plans = nil
		_, err = conn.Exec(t.Context(), "select "+call+
			`('{"client_id": "acme", "queue": "acme-tasks", "n": 8, "visibility_ms": 60000}')`)
		must(t, err)
		read := false
		for _, plan := range plans {
			if strings.Contains(plan, "with held as") && strings.Contains(plan, "Limit") && !strings.Contains(plan, "select "+call) {
				read = true
				if strings.Contains(plan, "JIT:") {
					t.Errorf("%s is compiled:\n%s", call, plan)
				}
			}
		}
		if !read {
			t.Errorf("%s: no plan of its statement among %q", call, plans)
		}
	}
}
