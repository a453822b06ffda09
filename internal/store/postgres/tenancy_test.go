package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// dropRole removes the login of a test: roles belong to the cluster, not to the database.
func dropRole(t *testing.T, name string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), stacktest.Cluster(t).URL("postgres"))
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), fmt.Sprintf("drop role %q", name)); err != nil {
		t.Error(err)
	}
}

func raised(err error) string {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code
	}
	return fmt.Sprint(err)
}

// TestTenancy: the worker's role, bound to one tenant by the setting or (which nothing can change) by the name of its
// login, tries every table and function on another tenant's rows (I10). The role that runs the functions has more
// rights, but the policies apply to it, too.
func TestTenancy(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	super := connect(t, url)
	victim := storetest.NewVictim(t, func(t testing.TB, client string) store.Store { return open(t, url, client) },
		super)
	before := victim.Snapshot(t, super)

	rows, err := super.Query(t.Context(), `select proname from pg_proc where pronamespace = 'public'::regnamespace
		and proname like 'aw\_%' and pg_get_function_identity_arguments(oid) in ('p jsonb', 'jsonb')`)
	if err != nil {
		t.Fatal(err)
	}
	calls := victim.Calls()
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if calls[name] == nil {
			t.Errorf("%s is not tried here: add it to Victim.Calls", name)
		}
	}

	login := "async_worker_mallory-" + super.Config().Database[len("test_"):]
	if _, err := super.Exec(t.Context(), fmt.Sprintf(`create role %q login password 'x' in role async_worker`,
		login)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dropRole(t, login) })

	bySetting := connect(t, url)
	if _, err := bySetting.Exec(t.Context(), "set role async_worker; set app.client_id = 'mallory'"); err != nil {
		t.Fatal(err)
	}
	asOwner := connect(t, url)
	if _, err := asOwner.Exec(t.Context(), "set role aw_owner; set app.client_id = 'mallory'"); err != nil {
		t.Fatal(err)
	}
	byName := connect(t, stacktest.Cluster(t).URLAs(login, "x", super.Config().Database))
	// It tries to be another tenant.
	if _, err := byName.Exec(t.Context(), fmt.Sprintf(`set role async_worker; set app.client_id = '%[1]s';
		set request.jwt.claims = '{"client_id":"%[1]s"}'; set row_security = on`, victim.Client)); err != nil {
		t.Fatal(err)
	}
	if _, err := byName.Exec(t.Context(), "set session authorization postgres"); raised(err) != "42501" {
		t.Errorf("set session authorization: %v", err)
	}

	for _, sql := range []string{
		"set role aw_searcher", "set role aw_owner", "set role aw_keeper", "select aw_queue_truncate()",
		"truncate aw_queue_messages_0", "select from aw_queue_messages",
		"select aw_queue_put('mallory', 'q', 'x', null, null, null)", "set role service_role",
		"alter function aw_complete owner to current_user",
		"select aw_webhook('mallory', 'j', 't', 'https://mallory.example', 'failed', 1, null, null)",
		"set role async_worker_reader", "alter function aw_matching_own security invoker",
		"alter function aw_ranked_own security invoker", "alter function aw_marks_own security invoker",
		"alter function aw_rarity_own security invoker",
		"drop policy tenant on document_chunks",
		"alter policy search on document_chunks to async_worker", "create policy mine on document_chunks using (true)",
	} {
		if _, err := byName.Exec(t.Context(), sql); raised(err) != "42501" {
			t.Errorf("%s: %v", sql, err)
		}
	}

	// Only functions call these.
	inner := map[string]bool{
		"aw_lock_held_job": true, "aw_lock_for_heartbeat": true, "aw_lock_for_staging": true, "aw_tenant": true,
	}
	vector := "[" + strings.Repeat("0.1,", storetest.Dimensions-1) + "0.1]"
	for name, conn := range map[string]*pgx.Conn{"setting": bySetting, "login": byName, "owner": asOwner} {
		for _, table := range storetest.Tables {
			var n int
			err := conn.QueryRow(t.Context(), "select count(*) from "+table).Scan(&n)
			if conn == asOwner && (err != nil || n != 0) || conn != asOwner && raised(err) != "42501" {
				t.Errorf("%s: select from %s: %d, %v", name, table, n, err)
			}
			for _, sql := range []string{
				"update " + table + " set client_id = 'mallory' where client_id = $1",
				"delete from " + table + " where client_id = $1",
			} {
				tag, err := conn.Exec(t.Context(), sql, victim.Client)
				if tag.RowsAffected() != 0 || err != nil && raised(err) != "42501" || err == nil && conn != asOwner {
					t.Errorf("%s: %s: %s, %v", name, sql, tag, err)
				}
			}
			if _, err := conn.Exec(t.Context(), "truncate "+table+" cascade"); raised(err) != "42501" {
				t.Errorf("%s: truncate %s: %v", name, table, err)
			}
			if _, err := conn.Exec(t.Context(), "alter table "+table+" disable row level security"); raised(
				err) != "42501" {
				t.Errorf("%s: alter table %s: %v", name, table, err)
			}
		}
		if _, err := conn.Exec(t.Context(), "insert into jobs (client_id, id, type) values ($1, 'planted', 'x')",
			victim.Client); raised(err) != "42501" {
			t.Errorf("%s: insert: %v", name, err)
		}
		for fn, args := range calls {
			want := "AW004"
			if inner[fn] && conn != asOwner {
				want = "42501"
			}
			if _, err := conn.Exec(t.Context(), "select "+fn+"($1::jsonb)", string(args)); raised(err) != want {
				t.Errorf("%s: %s for another tenant: %v, want %s", name, fn, err, want)
			}
		}
		for call, offered := range map[string]bool{
			"count(*) from hybrid_search('secret', $1::text::halfvec)":                                                   true,
			"count(*) from match_document_chunks($1::text::halfvec)":                                                     true,
			"count(*) from aw_find_own('secret', $1::text::halfvec, 10, null)":                                           true,
			"count(*) from own_jobs where $1::text is not null":                                                          true,
			"count(*) from own_documents where $1::text is not null":                                                     true,
			"count(*) from aw_find('VICTIM', 'secret', $1::text::halfvec, 10, null, null)":                               false,
			"count(*) from aw_nearest('VICTIM', $1::text::halfvec, 10, null, null, null)":                                false,
			"coalesce(cardinality(aw_within('VICTIM', 'contracts', null, 10)), -1) where $1::text is not null":           false,
			"aw_eligible('VICTIM', null, 10, null) where $1::text is not null":                                           false,
			"count(*) from aw_matching('VICTIM', 'secret', '{secret}', null, 10, null, null) where $1::text is not null": false,
			"count(*) from aw_ranked('VICTIM', 'secret', null, 10, null, null) where $1::text is not null":               false,
			"count(*) from aw_ranked_own('secret', null, 10, null, null) where $1::text is not null":                     false,
			"count(*) from aw_marks('VICTIM', 'secret', '{CHUNK}') where $1::text is not null":                           false,
			"count(*) from aw_marks_own('secret', '{CHUNK}') where $1::text is not null":                                 false,
			"coalesce((aw_rarity_own('secret') #>> '{words,secret}')::integer, 0) where $1::text is not null":            false,
			"count(*) from aw_matching_own('secret', '{secret}', null, 10, null, null) where $1::text is not null":       false,
		} {
			if conn == asOwner && strings.Contains(call, "from own_") {
				continue // it reads tables
			}
			var n int
			err := conn.QueryRow(t.Context(), "select "+strings.NewReplacer("VICTIM", victim.Client, "CHUNK", victim.Chunk).Replace(call), vector).
				Scan(&n)
			if refuse := !offered && conn != asOwner; refuse && raised(err) != "42501" || !refuse &&
				(err != nil || n != 0) {
				t.Errorf("%s: %s finds %d, %v", name, call, n, err)
			}
		}
	}
	if after := victim.Snapshot(t, super); after != before {
		t.Errorf("I10: another tenant's rows changed:\n%s\n%s", before, after)
	}
}

// TestLoginInheritsNothing: a login that has the rights of the worker's role only after SET ROLE works, too.
func TestLoginInheritsNothing(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	super := connect(t, url)
	login := "inherits_nothing_" + super.Config().Database[len("test_"):]
	if _, err := super.Exec(t.Context(), fmt.Sprintf(`create role %q login noinherit password 'x' in role async_worker`,
		login)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dropRole(t, login) })
	s := open(t, stacktest.Cluster(t).URLAs(login, "x", super.Config().Database), "a")
	t.Cleanup(s.Close)
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}
