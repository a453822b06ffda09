package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// login creates a login in a role, bound to a client by its name, and connects as it.
func login(t *testing.T, url string, super *pgx.Conn, role, client string) *pgx.Conn {
	t.Helper()
	name := role + "_" + client
	if _, err := super.Exec(t.Context(), fmt.Sprintf("create role %q login password 'x' in role %s", name,
		role)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disown(t, url, name); dropRole(t, name) })
	return connect(t, stacktest.Cluster(t).URLAs(name, "x", super.Config().Database))
}

// ownViews are what a tenant's roles read as tables.
var ownViews = []string{
	"own_jobs", "own_job_events", "own_documents", "own_summaries", "own_agent_runs", "own_derived_contents",
	"own_llm_checks", "own_dead_letters", "own_webhook_deliveries", "own_decks", "own_schedules",
}

// TestReader: the reader's login of a client reads the client's documents, jobs and results. Whatever it sets, it can't
// call a function that writes, and can't read a table, a webhook's URL or another client's rows.
func TestReader(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	super := connect(t, url)
	victim := storetest.NewVictim(t, func(t testing.TB, client string) store.Store { return open(t, url, client) },
		super)
	before := victim.Snapshot(t, super)
	reader := login(t, url, super, "async_worker_reader", victim.Client)
	stranger := login(t, url, super, "async_worker_reader", "mallory-"+super.Config().Database[len("test_"):])
	if _, err := stranger.Exec(t.Context(), fmt.Sprintf(`set app.client_id = '%[1]s'; set app.asked_client = '%[1]s';
		set request.jwt.claims = '{"client_id":"%[1]s","role":"service_role"}'`, victim.Client)); err != nil {
		t.Fatal(err)
	}

	reads := []string{
		"aw_job", "aw_jobs", "aw_events", "aw_search", "aw_rarity", "aw_documents", "aw_outlines", "aw_passages",
		"aw_document_passages", "aw_feed", "aw_result", "aw_stats", "aw_outcomes", "aw_overview",
		"aw_find_jobs", "aw_job_counts", "aw_document_sets", "aw_document_versions",
	}
	for fn, args := range victim.Calls() {
		_, err := reader.Exec(t.Context(), "select "+fn+"($1::jsonb)", string(args))
		if want := map[bool]string{true: "<nil>", false: "42501"}[slices.Contains(reads, fn)]; raised(err) != want {
			t.Errorf("the reader calls %s: %v, want %s", fn, err, want)
		}
		if _, err := stranger.Exec(t.Context(), "select "+fn+"($1::jsonb)", string(args)); raised(err) != "AW004" &&
			raised(err) != "42501" {
			t.Errorf("another client's reader calls %s: %v", fn, err)
		}
	}
	for _, table := range storetest.Tables {
		for _, sql := range []string{
			"select from " + table, "insert into " + table + " default values",
			"update " + table + " set client_id = client_id", "delete from " + table,
		} {
			if _, err := reader.Exec(t.Context(), sql); raised(err) != "42501" {
				t.Errorf("the reader: %s: %v", sql, err)
			}
		}
	}
	for _, from := range append(slices.Clone(ownViews), "hybrid_search('secret', null)") {
		var rows string
		if err := reader.QueryRow(t.Context(), "select coalesce(jsonb_agg(to_jsonb(x)), '[]')::text from "+from+" x").
			Scan(&rows); err != nil || rows == "[]" {
			t.Errorf("the reader reads %s: %s, %v", from, rows, err)
		}
		if strings.Contains(rows, victim.Delivery.URL) || strings.Contains(rows, "webhook") {
			t.Errorf("%s has webhooks: %s", from, rows)
		}
		var n int
		if err := stranger.QueryRow(t.Context(), "select count(*) from "+from).Scan(&n); err != nil || n != 0 {
			t.Errorf("another client's reader reads %s: %d, %v", from, n, err)
		}
		if strings.HasPrefix(from, "own_") {
			if _, err := reader.Exec(t.Context(), "delete from "+from); raised(err) != "42501" &&
				raised(err) != "55000" {
				t.Errorf("the reader deletes from %s: %v", from, err)
			}
		}
	}
	// The service key's search is bound to no tenant, of which docs/frontend.md warns.
	service := connect(t, url)
	var found int
	if _, err := service.Exec(t.Context(), "set role service_role"); err != nil {
		t.Fatal(err)
	}
	if err := service.QueryRow(t.Context(), "select count(*) from hybrid_search('secret', null)").Scan(&found); err != nil || found == 0 {
		t.Errorf("the service key finds %d, %v", found, err)
	}
	if after := victim.Snapshot(t, super); after != before {
		t.Errorf("I10: the reader changed rows:\n%s\n%s", before, after)
	}
}

// TestWebhooksAreNotForged: the worker signs only webhooks that our functions wrote. No login, not even the tenant's,
// can insert a row into the outbox or change a URL or body. A row whose id can't be signed is not sent.
func TestWebhooksAreNotForged(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	super := connect(t, url)
	victim := storetest.NewVictim(t, func(t testing.TB, client string) store.Store { return open(t, url, client) },
		super)
	before := victim.Snapshot(t, super)
	row := fmt.Sprintf("insert into webhook_deliveries (client_id, id, event, url, body, next_attempt_at) values "+
		"('%s', '%%s', 'task.completed', 'https://mallory.example', '{}', now())", victim.Client)
	for name, conn := range map[string]*pgx.Conn{
		"the tenant's own worker": login(t, url, super, "async_worker", victim.Client),
		"another tenant's worker": login(t, url, super, "async_worker",
			"mallory-"+super.Config().Database[len("test_"):]),
	} {
		for _, sql := range []string{
			fmt.Sprintf(row, "msg_1"), fmt.Sprintf(row, "msg_1.1700000000"),
			fmt.Sprintf(row, victim.Delivery.ID) + " on conflict (id, client_id) do update set url = excluded.url",
			"update webhook_deliveries set url = 'https://mallory.example'",
			"update webhook_deliveries set body = '{}', status = 'pending'",
			"update jobs set webhook_url = 'https://mallory.example'",
			"copy webhook_deliveries (client_id, id, event, url, body) from stdin",
			"select aw_webhook('" + victim.Client + "', 'j', 't', 'https://mallory.example', 'failed', 1, null, null)",
			"select aw_end(null, 'failed', null, null, null, null)",
			"create trigger t before insert on webhook_deliveries execute function aw_guard_delivery()",
			"create rule r as on insert to webhook_deliveries do nothing", "set session_replication_role = replica",
		} {
			if _, err := conn.Exec(t.Context(), sql); raised(err) != "42501" {
				t.Errorf("%s: %s: %v", name, sql, err)
			}
		}
	}
	if after := victim.Snapshot(t, super); after != before {
		t.Errorf("rows were forged:\n%s\n%s", before, after)
	}

	// Rows from before the check constraint.
	if _, err := super.Exec(context.Background(),
		"alter table webhook_deliveries drop constraint webhook_deliveries_id_check; "+
			fmt.Sprintf(row, "msg_1.1700000000")+"; "+fmt.Sprintf(row, "msg_2")+
			"; alter table webhook_deliveries add constraint webhook_deliveries_id_check check (length(id) <= 128 "+
			"and id ~ '^[A-Za-z0-9_-]+$') not valid"); err != nil {
		t.Fatal(err)
	}
	s := open(t, url, victim.Client)
	defer s.Close()
	claimed, err := s.ClaimDeliveries(t.Context(), store.Claim{Worker: "w", Max: 10, Lease: 1})
	if ids, _ := json.Marshal(claimed.Deliveries); err != nil || len(claimed.Deliveries) != 1 ||
		claimed.Deliveries[0].ID != "msg_2" {
		t.Errorf("claimed %s, %v; want msg_2 alone", ids, err)
	}
}
