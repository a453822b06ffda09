package schema_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// enqueueOfBefore makes aw_enqueue and aw_enqueue_all as they were at first, with a parameter p, a grant to
// a frontend's role, and a view and a function of a frontend's owner that stand on one of them.
const enqueueOfBefore = `
	drop function aw_enqueue(jsonb), aw_enqueue_all(jsonb);
	create function aw_enqueue(p jsonb) returns jsonb language plpgsql security definer set search_path = pg_catalog, pg_temp
		as $$ begin return '"old"'; end $$;
	create function aw_enqueue_all(p jsonb) returns jsonb language plpgsql security definer set search_path = pg_catalog, pg_temp
		as $$ begin return '"old"'; end $$;
	alter function aw_enqueue(jsonb) owner to aw_owner;
	alter function aw_enqueue_all(jsonb) owner to aw_owner;
	revoke all on function aw_enqueue(jsonb), aw_enqueue_all(jsonb) from public, anon, authenticated, service_role;
	grant execute on function aw_enqueue(jsonb), aw_enqueue_all(jsonb) to pg_monitor;
	create or replace function of_a_frontend() returns jsonb return aw_enqueue('{}')`

// TestEnqueueLosesItsName: a migrate takes the name of the parameter away, once. What a frontend's owner built on the
// function of before stays, and so do grants; the old function goes when nothing uses it, an hour later.
func TestEnqueueLosesItsName(t *testing.T) {
	t.Parallel()
	o := schema.Options{Dimensions: 8}
	url := stacktest.PostgresWith(t, o)
	conn := connect(t, url)
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	migrate := func() {
		t.Helper()
		if _, err := schema.Migrate(t.Context(), url, o); err != nil {
			t.Fatal(err)
		}
	}
	const anHourLater = `do $$ declare f regprocedure; begin
		for f in select oid from pg_proc where obj_description(oid, 'pg_proc') like 'retired at %' loop
			execute format('comment on function %s is ''retired at 2026-01-01T00:00:00Z''', f);
		end loop; end $$`
	left := func(want string) {
		t.Helper()
		var got string
		if err := conn.QueryRow(t.Context(), `select string_agg(format('%s(%s) %s %s', proname,
			pg_get_function_identity_arguments(oid), prosecdef, has_function_privilege('pg_monitor', oid, 'execute')), ', ' order by proname)
			from pg_proc where proname like 'aw\_enqueue%'`).Scan(&got); err != nil || got != want {
			t.Errorf("%s, %v\nwant %s", got, err, want)
		}
	}
	const fresh = "aw_enqueue(jsonb) t t, aw_enqueue_all(jsonb) t t"
	const both = "aw_enqueue(jsonb) t t, aw_enqueue_all(jsonb) t t, aw_enqueue_all_p(p jsonb) t t, aw_enqueue_p(p jsonb) t t"

	exec(enqueueOfBefore)
	migrate()
	migrate()
	left(both)
	var old, created string
	if err := conn.QueryRow(t.Context(), `select of_a_frontend(),
		aw_enqueue('{"task_id": "j", "client_id": "a", "task_type": "ingest", "payload": {}}') ->> 'created'`).
		Scan(&old, &created); err != nil || old != `"old"` || created != "true" {
		t.Errorf("the function of before answers %s, the new one %s, %v", old, created, err)
	}
	exec(anHourLater)
	migrate()
	left(both) // a frontend's function uses it
	exec("drop function of_a_frontend(); " + anHourLater)
	migrate()
	left(fresh)

	// A migrate of an older program brings the name back, and nothing is in the way of the next one.
	for range 2 {
		exec(enqueueOfBefore + "; drop function of_a_frontend()")
		migrate()
		left(both)
	}
	var open int
	if err := conn.QueryRow(t.Context(), `select count(*) from unnest('{anon,authenticated,async_worker_reader}'::text[]) r,
		unnest('{aw_enqueue,aw_enqueue_all,aw_enqueue_p,aw_enqueue_all_p}'::text[]) f where has_function_privilege(r, f || '(jsonb)', 'execute')`).
		Scan(&open); err != nil || open != 0 {
		t.Errorf("%d rights of those who may not enqueue, %v", open, err)
	}
}
