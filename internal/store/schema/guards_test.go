package schema_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// code is the SQLSTATE of an error, "" of none.
func code(err error) string {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// TestNames tries the limits of an id and of a client id, which are those of the decoder (internal/task).
func TestNames(t *testing.T) {
	t.Parallel()
	conn := connect(t, stacktest.PostgresWith(t, schema.Options{Dimensions: 8}))
	for _, c := range []struct {
		client, id string
		ok         bool
	}{
		{"a", "j", true},
		{"a-0" + strings.Repeat("z", 25), "AZaz09._:-" + strings.Repeat("x", 118), true},
		{"a", strings.Repeat("x", 129), false},
		{strings.Repeat("a", 29), "j", false},
		{"", "j", false},
		{"a", "", false},
		{"a-", "j", false},
		{"-a", "j", false},
		{"a_b", "j", false},
		{"A", "j", false},
		{"a\n", "j", false},
		{"a", "j\n", false},
		{"a", "j\nk", false},
		{"a", "j/k", false},
		{"a", "\u00e9", false},
	} {
		_, err := conn.Exec(t.Context(), "insert into jobs (client_id, id, type) values ($1, $2, 'x')", c.client, c.id)
		want := "23514"
		if c.ok {
			want = ""
		}
		if got := code(err); got != want {
			t.Errorf("client %q, id %q: %q, want %q", c.client, c.id, got, want)
		}
	}
}

// TestTransitions holds the trigger against the table in internal/job, for all pairs of states, within a series and
// into the next (I3). The superuser tries: the guard does not depend on who writes.
func TestTransitions(t *testing.T) {
	t.Parallel()
	conn := connect(t, stacktest.PostgresWith(t, schema.Options{Dimensions: 8}))
	states := []job.State{job.Pending, job.Running, job.Succeeded, job.Failed, job.Canceled}
	for _, from := range states {
		for _, to := range states {
			for _, series := range []int{0, 1} {
				if from == to || series == 1 && !from.Terminal() {
					continue // no change of state: nothing to guard
				}
				move := func(m job.Transition) bool {
					return m.From == from && m.To == to &&
						m.NewSeries() == (series == 1)
				}
				id := fmt.Sprintf("%s-%s-%d", from, to, series)
				if _, err := conn.Exec(t.Context(), `insert into jobs (client_id, id, type, status, completed_at)
					values ('a', $1, 'x', $2, case when $3 then now() end)`, id, string(from), from.Terminal()); err != nil {
					t.Fatal(err)
				}
				_, err := conn.Exec(t.Context(),
					`update jobs set status = $2, completed_at = case when $3 then now() end,
					series = series + $4, fence = fence + case when $2 = 'running' then $4 else 0 end where id = $1`,
					id, string(to), to.Terminal(), series)
				want := "AW010"
				if slices.ContainsFunc(job.Transitions, move) {
					want = ""
				}
				if got := code(err); got != want {
					t.Errorf("I3: %s to %s, %d series on: %q, want %q", from, to, series, got, want)
				}
			}
		}
	}
}

// TestErrorTypes holds what the database makes of a class against the table in internal/job.
func TestErrorTypes(t *testing.T) {
	t.Parallel()
	conn := connect(t, stacktest.PostgresWith(t, schema.Options{Dimensions: 8}))
	for class, info := range taskerr.Classes {
		var got string
		if err := conn.QueryRow(t.Context(), "select aw_error_type($1)", string(class)).Scan(&got); err != nil ||
			got != info.Coarse {
			t.Errorf("%s: %q, %v; want %q", class, got, err, info.Coarse)
		}
	}
}

// letter is an insert of a dead letter: of an end of a job, or (series null) of a rejected message.
func letter(series, message string) string {
	return fmt.Sprintf(`insert into dead_letters (client_id, job_id, series, rejected, message_id, reason, error_class,
		error_message, attempts, original_message) values ('a', 'j', %[1]s, %[1]s is null, %[2]s, 'r', 'c', 'm', 1, 'o')`, series, message)
}

func TestGuards(t *testing.T) {
	t.Parallel()
	conn := connect(t, stacktest.PostgresWith(t, schema.Options{Dimensions: 8}))
	if _, err := conn.Exec(t.Context(), `insert into jobs (client_id, id, type, status, fence, progress, max_attempts)
		values ('a', 'j', 'x', 'running', 5, 40, 2);
		insert into webhook_deliveries (client_id, id, event, url, body, status) values ('a', 'd', 'task.failed', 'u', 'b', 'delivered');`+
		letter("1", "null")+";"+letter("null", "'m1'")); err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		"update jobs set fence = 4":                              "AW011", // I4
		"update jobs set progress = 39":                          "AW011", // I8
		"update jobs set progress = 101":                         "23514",
		"update jobs set attempts = 3":                           "23514", // I6
		"update jobs set status = 'done'":                        "AW010",
		"update jobs set status = 'succeeded'":                   "23514", // without completed_at
		"update jobs set client_id = 'A_B'":                      "23514",
		"update jobs set fence = 6, progress = 41, attempts = 2": "",
		letter("1", "null"):                                      "23505", // I6: an end has one
		letter("2", "null"):                                      "",
		letter("null", "'m1'"):                                   "23505", // I6: a rejected message has one
		letter("null", "'m2'"):                                   "",
		"update webhook_deliveries set status = 'pending'":       "AW011",
		// a new fence is for being sent again alone
		"update webhook_deliveries set status = 'failed', fence = 1":                                                      "AW011",
		"update webhook_deliveries set status = 'pending', fence = 1, lease_expires_at = now()":                           "AW011",
		"insert into jobs (client_id, id, type) values ('a', '/', 'x')":                                                   "23514",
		"insert into webhook_deliveries (client_id, id, event, url, body) values ('a', 'msg.1', 'task.failed', 'u', 'b')": "23514",
		"insert into webhook_deliveries (client_id, id, event, url, body) values ('a', '', 'task.failed', 'u', 'b')":      "23514",
		"insert into webhook_deliveries (client_id, id, event, url, body) values ('a', 'msg_1', 'task.failed', 'u', 'b')": "",
	} {
		if _, err := conn.Exec(t.Context(), sql); code(err) != want {
			t.Errorf("%s: %v, want %q", sql, err, want)
		}
	}
}

// TestEveryTable: row-level security is on and forced everywhere, and every function has a search path of built-in
// names alone, or names that were resolved when it was made.
func TestEveryTable(t *testing.T) {
	t.Parallel()
	conn := connect(t, stacktest.PostgresWith(t, schema.Options{Dimensions: 8}))
	for what, query := range map[string]string{
		"tables without forced row-level security": `select relname from pg_class where relnamespace = 'public'::regnamespace
			and relkind in ('r', 'p') and relname <> 'aw_schema_version' and not (relrowsecurity and relforcerowsecurity)`,
		"tables without client_id in the key": `select c.relname from pg_class c where relnamespace = 'public'::regnamespace
			and relkind in ('r', 'p') and relname <> 'aw_schema_version' and not exists (
			select from pg_constraint k where k.conrelid = c.oid and k.contype = 'p'
			and pg_get_constraintdef(k.oid) like 'PRIMARY KEY (%client_id%')`,
		// A join may run a subquery for each row, and each run locks others.
		"functions that join a batch of locked rows that is not materialized": `select proname from pg_proc
			where pronamespace = 'public'::regnamespace and prosrc ~ 'using \(\s*select[^;]*limit[^;()]*skip locked\)'`,
		"functions with a loose search path": `select p.proname from pg_proc p where pronamespace = 'public'::regnamespace
			and (proname like 'aw\_%' or proname in ('match_document_chunks', 'hybrid_search'))
			and prosqlbody is null and not coalesce('search_path=pg_catalog, pg_temp' = any (proconfig), false)`,
		"functions that do not run as who they should": `select p.oid::regprocedure || ': ' || proowner::regrole || ' ' || prosecdef from pg_proc p
			where pronamespace = 'public'::regnamespace and (proname like 'aw\_%' or proname in ('match_document_chunks', 'hybrid_search'))
			and prorettype <> 'trigger'::regtype and proowner::regrole || ' ' || prosecdef <> case
				when proname in ('aw_matching_own', 'aw_ranked_own', 'aw_marks_own', 'aw_rarity_own') then 'aw_searcher true'
				when proname = 'aw_queue_truncate' then 'aw_keeper true'
				when proname ~ '^aw_(own_.*|find_own|stage_vectors|enqueue|enqueue_all)$' or pg_get_function_identity_arguments(p.oid) = 'p jsonb' and prorettype = 'jsonb'::regtype then 'aw_owner true'
				else 'aw_owner false' end`,
		"a role of readers or workers without an end of its statements": `select r from unnest(array['async_worker', 'async_worker_reader']) r
			where not exists (select from pg_roles where rolname = r and array_to_string(rolconfig, ' ') ~ 'statement_timeout=')`,
		"functions that run as their owner with the log of a session": `select proname from pg_proc where pronamespace = 'public'::regnamespace
			and prosecdef and not coalesce('client_min_messages=notice' = any (proconfig), false)`,
		"what the functions' owners may do beside it": `
			select rolname || ': be more than a role' from pg_roles where rolname in ('aw_owner', 'aw_searcher', 'aw_keeper')
				and (rolsuper or rolbypassrls or rolcanlogin or rolcreaterole or rolcreatedb or rolreplication)
			union all select member::regrole || ': be ' || roleid::regrole from pg_auth_members where member in ('aw_owner'::regrole, 'aw_searcher'::regrole, 'aw_keeper'::regrole)
			union all select r || ': create in public' from unnest(array['aw_owner', 'aw_searcher', 'aw_keeper']) r where has_schema_privilege(r, 'public', 'create')
			union all select 'aw_owner: ' || x || ' ' || relname from pg_class c, unnest(array['truncate', 'references', 'trigger']) x
				where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and has_table_privilege('aw_owner', c.oid, x)
			union all select 'aw_searcher: change ' || relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
				and has_table_privilege('aw_searcher', oid, 'insert, update, delete, truncate, references, trigger')
			union all select 'aw_searcher: read ' || relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
				and relname not in ('documents', 'document_chunks', 'chunk_terms', 'term_counts', 'term_totals') and has_table_privilege('aw_searcher', oid, 'select')
			union all select 'aw_keeper: ' || x || ' ' || relname from pg_class c, unnest(array['select', 'insert', 'update', 'delete', 'truncate']) x
				where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and has_table_privilege('aw_keeper', c.oid, x)
				and case when relispartition then x <> 'truncate' else x in ('update', 'truncate') or relname <> 'aw_queue_messages' end
			union all select 'aw_keeper: call ' || proname from pg_proc where pronamespace = 'public'::regnamespace and proname like 'aw\_%'
				and proname not in ('aw_queue_part', 'aw_queue_truncate')
				and prorettype <> 'trigger'::regtype and has_function_privilege('aw_keeper', oid, 'execute')
			union all select 'aw_searcher: call ' || proname from pg_proc where pronamespace = 'public'::regnamespace and proname like 'aw\_%'
				and proname not in ('aw_client', 'aw_bound', 'aw_asked', 'aw_caller', 'aw_unbound', 'aw_matching', 'aw_matching_own',
				'aw_ranked', 'aw_ranked_own', 'aw_marks', 'aw_marks_own', 'aw_rarity_of', 'aw_rarity_own', 'aw_weighted_terms', 'aw_shows', 'aw_any_of', 'aw_dotless', 'aw_singles', 'aw_beside', 'aw_in_terms', 'aw_one_form', 'aw_letters', 'aw_enough', 'aw_need', 'aw_first', 'aw_fits', 'aw_within', 'aw_leaves_out', 'aw_frequency', 'aw_plain', 'aw_pairs', 'aw_terms', 'aw_terms_of', 'aw_text_config', 'aw_word')
				and prorettype <> 'trigger'::regtype and has_function_privilege('aw_searcher', oid, 'execute')`,
		"what a tenant's roles may do with a table": `select r || ': ' || x || ' ' || relname from pg_class c, unnest(array['async_worker', 'async_worker_reader']) r,
			unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) x
			where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and has_table_privilege(r, c.oid, x)`,
		"what a tenant's worker may call as himself": `select p.oid::regprocedure::text from pg_proc p where pronamespace = 'public'::regnamespace
			and proname like 'aw\_%' and prorettype <> 'trigger'::regtype and has_function_privilege('async_worker', p.oid, 'execute')
			and not prosecdef and proname not in ('aw_bound', 'aw_caller', 'aw_unbound', 'aw_processing_jobs')`,
		"what a reader may call apart from the reading functions": `select p.oid::regprocedure::text from pg_proc p where pronamespace = 'public'::regnamespace
			and proname like 'aw\_%' and prorettype <> 'trigger'::regtype and has_function_privilege('async_worker_reader', p.oid, 'execute')
			and provolatile = 'v'`,
		"views of a tenant's rows that anybody may read": `select c.relname || ' ' || r from pg_class c, unnest(array['anon', 'authenticated']) r
			where relnamespace = 'public'::regnamespace and relkind = 'v' and has_table_privilege(r, c.oid, 'select, insert, update, delete')`,
		"functions that anybody may call": `select p.oid::regprocedure from pg_proc p, unnest(array['anon', 'authenticated', 'public']) r
			where pronamespace = 'public'::regnamespace and (proname like 'aw\_%' or proname in ('match_document_chunks', 'hybrid_search'))
			and prorettype <> 'trigger'::regtype and has_function_privilege(r, p.oid, 'execute')`,
		"tables that anybody may touch": `select c.relname || ' ' || r from pg_class c, unnest(array['anon', 'authenticated']) r
			where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
			and has_table_privilege(r, c.oid, 'select, insert, update, delete, truncate, references, trigger')`,
	} {
		rows, err := conn.Query(t.Context(), query)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				t.Fatal(err)
			}
			t.Errorf("%s: %s", what, name)
		}
		if rows.Err() != nil {
			t.Fatalf("%s: %v", what, rows.Err())
		}
	}
}
