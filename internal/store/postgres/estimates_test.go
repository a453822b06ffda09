package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// TestEstimatesDoNotLeak: a tenant's login can EXPLAIN any statement, and receive plans as log messages. No estimate
// depends on another tenant's rows (I10).
func TestEstimatesDoNotLeak(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	super := connect(t, url)
	secrets := storetest.Secrets(t, super)
	total := 0
	for _, role := range []string{"async_worker", "async_worker_reader"} {
		login := role + "_mallory-" + super.Config().Database[len("test_"):]
		if _, err := super.Exec(t.Context(), fmt.Sprintf(`create role %q login password 'x' in role %s`, login,
			role)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { dropRole(t, login) })
		mallory := connect(t, stacktest.Cluster(t).URLAs(login, "x", super.Config().Database))
		for _, s := range secrets {
			learned, asked := s.Steal(t.Context(), func(ctx context.Context, value string) (float64, bool) {
				return explained(ctx, mallory, s, value)
			})
			total += asked
			if learned != "" {
				t.Errorf("I10: %s learns %q of %s.%s by EXPLAIN, in %d statements", login, learned, s.Relation,
					s.Column, asked)
			}
		}
		for view, want := range map[string]string{"pg_stats": "", "pg_stats_ext": "", "pg_stats_ext_exprs": ""} {
			var seen string
			if err := mallory.QueryRow(t.Context(),
				"select coalesce(string_agg(distinct tablename::text, ' '), '') from "+view+
					" where schemaname = 'public'").Scan(&seen); err != nil || seen != want {
				t.Errorf("%s: %s: %q, %v", login, view, seen, err)
			}
		}
	}
	t.Logf("%d statements", total)
	learned, asked := secrets[0].Steal(t.Context(), func(ctx context.Context, value string) (float64, bool) {
		return explained(ctx, super, secrets[0], value)
	})
	if learned != secrets[0].Missing() {
		t.Errorf("with a login that may read the table the attack learns %q in %d statements, want %q", learned, asked,
			secrets[0].Missing())
	}
}

// explained returns EXPLAIN's estimate of the number of rows below a value.
func explained(ctx context.Context, conn *pgx.Conn, s storetest.Secret, value string) (float64, bool) {
	var plan []struct {
		Plan struct {
			Rows float64 `json:"Plan Rows"`
		}
	}
	err := conn.QueryRow(ctx, fmt.Sprintf("explain (format json) select from %s where %s < '%s'", s.Relation, s.Column,
		value)).Scan(&plan)
	if err != nil || len(plan) != 1 {
		return 0, false
	}
	return plan[0].Plan.Rows, true
}

// TestPlansAreNotSent: a session can receive its plans as log messages, including those of functions that it calls. It
// does not receive the plans of functions that run as their owner.
func TestPlansAreNotSent(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	super := connect(t, url)
	login := "async_worker_mallory-" + super.Config().Database[len("test_"):]
	if _, err := super.Exec(t.Context(), fmt.Sprintf(`create role %q login password 'x' in role async_worker`,
		login)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dropRole(t, login) })
	config, err := pgx.ParseConfig(stacktest.Cluster(t).URLAs(login, "x", super.Config().Database))
	if err != nil {
		t.Fatal(err)
	}
	var sent strings.Builder
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { sent.WriteString(n.Message + n.Detail + "\n") }
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), "set debug_print_plan = on; set client_min_messages = debug5"); err != nil {
		t.Fatal(err)
	}
	client := login[len("async_worker_"):]
	for _, call := range []string{
		"select aw_jobs(jsonb_build_object('client_id', '" + client + "', 'status', 'failed', 'limit', 10))",
		"select aw_documents(jsonb_build_object('client_id', '" + client + "', 'limit', 10))",
		"select count(*) from own_jobs", "select count(*) from hybrid_search('x', null)",
	} {
		sent.Reset()
		if _, err := conn.Exec(t.Context(), call); err != nil {
			t.Fatalf("%s: %v", call, err)
		}
		if !strings.Contains(sent.String(), "PLANNEDSTMT") {
			t.Errorf("%s: the plan of the call is not sent", call)
		}
		for _, table := range []string{":relkind r", "INDEXSCAN", "SEQSCAN", "BITMAP"} {
			if strings.Contains(sent.String(), table) {
				t.Errorf("%s: a plan within the function is sent: %s", call, table)
			}
		}
	}
}
