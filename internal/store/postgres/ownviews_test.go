package postgres_test

import (
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

// TestOwnViews: of each view a worker and a reader see the rows of their own tenant, and nobody else sees any (I10). A
// worker reads what the contract lists; a reader no address of a webhook, and no message, which may hold one. No view
// has what is sent, signed or answered.
func TestOwnViews(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	super := connect(t, url)
	victim := storetest.NewVictim(t, func(t testing.TB, client string) store.Store { return open(t, url, client) }, super)
	const token = "hooks.example/token"
	if _, err := super.Exec(t.Context(), `update schedules set task = task || '{"webhook_url": "https://`+token+`"}';
		update webhook_deliveries set url = 'https://`+token+`', body = 'the body', response = 'the answer';
		update dead_letters set original_message = '{"webhook_url": "https://`+token+`"}'`); err != nil {
		t.Fatal(err)
	}
	worker, reader := login(t, url, super, "async_worker", victim.Client), login(t, url, super, "async_worker_reader", victim.Client)
	session := func(sql string) *pgx.Conn {
		conn := connect(t, url)
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	bound := fmt.Sprintf("set app.client_id = '%s'; set role ", victim.Client)
	others := map[string]*pgx.Conn{
		"another's worker": session("set app.client_id = 'mallory'; set role async_worker"),
		"a worker of none": session("set role async_worker"), "a reader of none": session("set role async_worker_reader"),
	}
	refused := map[string]*pgx.Conn{
		"anon": session(bound + "anon"), "a user": session(bound + "authenticated"), "the service key": session("set role service_role"),
	}
	columns := map[string]string{ // of the contract, 2.5, 2.12 and 2.13
		"own_dead_letters":       "id job_id task_type reason error_class error_message attempts original_message created_at replayed_at replayed_as",
		"own_webhook_deliveries": "id job_id url status attempts next_attempt_at response_status delivered_at",
		"own_decks":              "id client_id job_id source_filename title slides blob created_at",
		"own_schedules":          "id cron time_zone task overlap catch_up paused next_at last_job_id",
	}
	for _, view := range ownViews {
		rows := func(conn *pgx.Conn) (text string, n int, err error) {
			err = conn.QueryRow(t.Context(), "select coalesce(jsonb_agg(to_jsonb(x)), '[]')::text, count(*) from "+view+" x").Scan(&text, &n)
			return text, n, err
		}
		full, n, err := rows(worker)
		if err != nil || n == 0 {
			t.Errorf("the worker reads %s: %d rows, %v", view, n, err)
		}
		hides := slices.Contains([]string{"own_dead_letters", "own_webhook_deliveries", "own_schedules"}, view)
		if strings.Contains(full, token) != hides || strings.Contains(full, "the body") || strings.Contains(full, "the answer") {
			t.Errorf("the worker reads %s: %s", view, full)
		}
		for column := range strings.FieldsSeq(columns[view]) {
			if !strings.Contains(full, `"`+column+`":`) {
				t.Errorf("%s has no column %s", view, column)
			}
		}
		if text, m, err := rows(reader); err != nil || m != n || strings.Contains(text, token) || hides == (text == full) {
			t.Errorf("the reader reads %s: %s, %v", view, text, err)
		}
		for name, conn := range others {
			if text, n, err := rows(conn); err != nil || n != 0 {
				t.Errorf("%s reads %s: %s, %v", name, view, text, err)
			}
		}
		for name, conn := range refused {
			if _, _, err := rows(conn); raised(err) != "42501" {
				t.Errorf("%s reads %s: %v", name, view, err)
			}
		}
	}
}
