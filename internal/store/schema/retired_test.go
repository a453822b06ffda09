package schema_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// testRetired: the first migrate leaves retired functions to calls in flight, and one that comes later drops them.
func testRetired(t *testing.T, url string, super *pgx.Conn) {
	t.Helper()
	left := signatures(t, super)
	for _, name := range retired(t) {
		if !slices.ContainsFunc(left, func(signature string) bool { return strings.HasPrefix(signature, name+"(") }) {
			t.Errorf("%s was dropped at once; a call in flight may need it", name)
		}
	}
	if _, err := super.Exec(t.Context(), `do $$
		declare f regprocedure;
		begin
			for f in select oid from pg_proc where obj_description(oid, 'pg_proc') like 'retired at %' loop
				execute format('comment on function %s is %L', f, 'retired at ' ||
					to_char((now() - interval '61 minutes') at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'));
			end loop;
		end $$; create view of_an_operator as select aw_ms(now())`); err != nil {
		t.Fatal(err)
	}
	for range 2 { // first with something that uses one of them: it does not stop a migration
		if _, err := schema.Migrate(t.Context(), url, schema.Options{Dimensions: 8}); err != nil {
			t.Fatal(err)
		}
		if _, err := super.Exec(t.Context(), "drop view if exists of_an_operator"); err != nil {
			t.Fatal(err)
		}
	}
	left, fresh := signatures(t, super),
		signatures(t, connect(t, stacktest.PostgresWith(t, schema.Options{Dimensions: 8})))
	if !slices.Equal(left, fresh) {
		t.Errorf("functions of the upgraded database:\n%s\nof a new one:\n%s", left, fresh)
	}
}

// retired are the names that functions/99_retired.sql drops.
func retired(t *testing.T) []string {
	t.Helper()
	sql, err := os.ReadFile("functions/99_retired.sql")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`'(aw_\w+)'`).FindAllSubmatch(regexp.MustCompile(`(?s)c_retired .*?\];`).Find(sql), -1)
	if len(names) == 0 {
		t.Fatal("functions/99_retired.sql names no function")
	}
	var found []string
	for _, name := range names {
		found = append(found, string(name[1]))
	}
	return found
}

// plantRetired makes a function of each retired name, as some of them are younger than version 16. Each depends on the
// one before it.
func plantRetired(t *testing.T, super *pgx.Conn) {
	t.Helper()
	body := "1"
	for _, name := range retired(t) {
		if _, err := super.Exec(t.Context(), "create function "+name+"(n integer default 0) returns integer return "+
			body); err != nil {
			t.Fatal(err)
		}
		body = name + "(1)"
	}
}

// signatures are those of the functions of async-worker that a database has.
func signatures(t *testing.T, super *pgx.Conn) []string {
	t.Helper()
	rows, err := super.Query(t.Context(), `select oid::regprocedure::text from pg_proc
		where pronamespace = 'public'::regnamespace and (proname like 'aw\_%' or proname = any ($1)) order by 1`, schema.Functions())
	if err != nil {
		t.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestRetiredNames: no name is both in use and retired, which would drop the function.
func TestRetiredNames(t *testing.T) {
	t.Parallel()
	for _, name := range retired(t) {
		if slices.Contains(schema.Functions(), name) {
			t.Errorf("%s is in use, and functions/99_retired.sql drops it", name)
		}
	}
}
