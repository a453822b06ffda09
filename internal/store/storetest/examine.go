package storetest

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// testExamine: Examine finds nothing for a key with all rights, and changes nothing.
func testExamine(t *testing.T, b *bench) {
	if _, err := b.Submit(b.ctx(), store.Submission{
		Task: store.Task{
			JobID: "hooked", Type: "ingest", Priority: "normal", Payload: []byte(`{}`), Hints: []byte(`{}`),
			Fingerprint: "f", MaxAttempts: 1,
			WebhookURL: "https://somebody:secret@hooks.example:8443/path?token=secret#x",
		},
		Queue: "q", Message: "m",
	}); err != nil {
		t.Fatal(err)
	}
	e, err := b.Examine(b.ctx())
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Findings) != 0 {
		t.Errorf("findings: %+v, want none", e.Findings)
	}
	if e.Version != schema.Version() || e.Wanted != e.Version || e.Dimensions != Dimensions || e.Role == "" {
		t.Errorf("examined: %+v", e)
	}
	if bound := e.BoundTo == b.client; bound == e.EveryTenant {
		t.Errorf("bound to %q, every tenant: %v", e.BoundTo, e.EveryTenant)
	}
	if d := time.Since(e.Now).Abs(); d > time.Minute {
		t.Errorf("the database's clock is off by %v", d)
	}
	if !slices.Equal(e.WebhookHosts, []string{"https://hooks.example:8443"}) {
		t.Errorf("hosts of webhooks: %q", e.WebhookHosts)
	}
	if len(e.Models) != 0 {
		t.Errorf("models of an empty index: %v", e.Models)
	}
	jobs, err := b.Jobs(b.ctx(), store.JobFilter{Limit: 10})
	if err != nil || len(jobs) != 1 {
		t.Errorf("%d jobs, %v; want the one from before", len(jobs), err)
	}
	b.ingest("old.txt", "the former")
	b.ingest("old.txt", "the harbour")
	e, err = b.Examine(b.ctx())
	if want := []store.ModelCount{{Model: "test-model", Documents: 1}}; err != nil || !slices.Equal(e.Models, want) {
		t.Errorf("models of the index: %v, %v; want %v", e.Models, err, want)
	}
}

// missing is one right that is revoked, and the finding that Examine has to return.
type missing struct {
	sql     string
	about   store.About
	subject string
}

// held are the rights on a table of the role that runs the functions.
type held struct{ Table, Privilege string }

// callable is a function, and whether the examined role calls it.
type callable struct {
	Name string
	Role bool
}

// examinesBy are functions that Examine itself needs, and two others.
var examinesBy = []string{
	"aw_begin", "aw_bound", "aw_client", "aw_examine", "aw_examine_policies", "aw_examine_models", "aw_append_events",
}

// lacks returns the single rights of a role and of the role that runs the functions, and some excessive rights of each
// kind.
func lacks(rights []held, functions []callable, role string, thorough bool) []missing {
	var all []missing
	for _, from := range []string{"aw_owner", role} {
		for _, fn := range functions {
			if !thorough && !slices.Contains(examinesBy, fn.Name) || from == role && !fn.Role {
				continue
			}
			all = append(all, missing{"do $$ declare f regprocedure; begin for f in select oid::regprocedure from " +
				"pg_proc where proname = '" + fn.Name + `' loop
				execute format('revoke execute on function %s from ` + from + "', f); end loop; end $$", store.AboutFunction, fn.Name})
		}
	}
	if !thorough {
		rights = rights[:min(5, len(rights))] // they are the same role's
	}
	slices.SortStableFunc(rights, func(a, b held) int { return strings.Compare(a.Privilege, b.Privilege) }) // see groups
	for _, r := range rights {
		all = append(all, missing{
			"revoke " + r.Privilege + " on " + r.Table + " from aw_owner", store.AboutTable, r.Table,
		})
	}
	all = append(all,
		missing{"revoke usage on schema public from " + role + ", public", store.AboutSchema, "public"},
		missing{"revoke usage on schema public from aw_owner, public", store.AboutSchema, "public"},
		missing{"revoke select on documents from aw_searcher", store.AboutTable, "documents"},
		missing{"revoke select on document_chunks from aw_searcher", store.AboutTable, "document_chunks"},
		missing{"revoke execute on function aw_client from aw_searcher", store.AboutFunction, "aw_client"},
		missing{"revoke execute on function aw_matching from aw_searcher", store.AboutFunction, "aw_matching"},
		missing{"grant select (id) on jobs to async_worker_reader", store.AboutPolicy, "jobs"},
		missing{"grant execute on function aw_begin to async_worker_reader", store.AboutPolicy, "aw_begin"},
		missing{"grant create on schema public to public", store.AboutCreate, "public"},
		missing{"grant create on schema public to async_worker", store.AboutCreate, "public"},
	)
	policied := Tables[:1]
	if thorough {
		policied = Tables
	}
	for _, change := range []string{ // each of all tables, see groups
		"grant select on %s to async_worker", "grant insert, update on %s to async_worker",
		"alter table %s disable row level security", "drop policy tenant on %s", "alter policy tenant on %s using (true)",
		"alter policy tenant on %s with check (true)", "create policy everything on %s for select using (true)",
		"create policy everything on %s to async_worker using (client_id is not null)",
	} {
		for _, table := range policied {
			all = append(all, missing{fmt.Sprintf(change, table), store.AboutPolicy, table})
		}
	}
	return all
}

// RunLacks revokes each right of role in turn (up to ten of one kind at a time), or grants an excessive one, wants Examine
// to name exactly those, and repairs them by the statements that Examine returns. The database must be used by this test
// alone, and be clean. Unless thorough is set, it tries only some functions, tables and policies.
func RunLacks(t *testing.T, open Open, superuser *pgx.Conn, role string, thorough bool) {
	s := open(t, "examined")
	t.Cleanup(s.Close)
	run := func(sql string) {
		t.Helper()
		if _, err := superuser.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	rights := collect[held](t, superuser,
		`select table_name, lower(privilege_type) from information_schema.role_table_grants
		where grantee = 'aw_owner' and table_schema = 'public' order by 1, 2`)
	functions := collect[callable](t, superuser,
		`select proname, bool_or(has_function_privilege($1, oid, 'execute')) from pg_proc
		where pronamespace = 'public'::regnamespace and proowner = 'aw_owner'::regrole and proname = any ($2) group by 1 order by 1`, role, schema.Functions())
	if len(rights) == 0 || len(functions) == 0 {
		t.Fatalf("aw_owner has %d rights and %d functions", len(rights), len(functions))
	}
	for group := range groups(lacks(rights, functions, role, thorough)) {
		for _, l := range group {
			run(l.sql)
		}
		found := examine(t, s, group[0].sql) // what the repair before left would be among it
		if len(found) != len(group) {
			t.Fatalf("after %+v:\nfindings %+v, want one for each", group, found)
		}
		for _, l := range group {
			i := slices.IndexFunc(found, func(f store.Finding) bool { return f.About == l.about && f.Subject == l.subject })
			if i < 0 || found[i].Mend == "" {
				t.Fatalf("after %s:\nfindings %+v, want one about %s %s", l.sql, found, l.about, l.subject)
			}
			run(found[i].Mend)
		}
	}
	if left := examine(t, s, "all repairs"); len(left) != 0 {
		t.Fatalf("findings %+v, want none", left)
	}
}

// groups puts up to ten in a row together that are of one kind and about different functions or tables, as Examine takes a
// while; what Examine itself needs stays alone.
func groups(all []missing) iter.Seq[[]missing] {
	together := []store.About{store.AboutFunction, store.AboutTable, store.AboutPolicy}
	return func(yield func([]missing) bool) {
		for len(all) > 0 {
			n := 0
			for n < min(10, len(all)) && all[n].about == all[0].about && slices.Contains(together, all[n].about) &&
				!slices.Contains(examinesBy, all[n].subject) &&
				!slices.ContainsFunc(all[:n], func(l missing) bool { return l.subject == all[n].subject }) {
				n++
			}
			n = max(n, 1)
			if !yield(all[:n]) {
				return
			}
			all = all[n:]
		}
	}
}

// examine returns the findings, or the one finding that keeps Examine from checking anything else.
func examine(t *testing.T, s store.Store, after string) []store.Finding {
	t.Helper()
	e, err := s.Examine(t.Context())
	if l, ok := errors.AsType[*store.FindingError](err); ok {
		return []store.Finding{l.Finding}
	}
	if err != nil {
		t.Fatalf("after %s: %v, %v", after, err, errors.Unwrap(err))
	}
	return e.Findings
}

func collect[T any](t testing.TB, conn *pgx.Conn, sql string, args ...any) []T {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[T])
	if err != nil {
		t.Fatal(err)
	}
	return all
}
