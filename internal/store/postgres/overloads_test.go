package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// builtIn are overloads, for exact types, of built-in functions that take any type. Postgres prefers them if they are
// on the search path.
var builtIn = []string{
	"unnest(tsquery[])", "unnest(text[])", "unnest(uuid[])", "unnest(double precision[])", "unnest(regconfig[])",
	"cardinality(text[])",
	"cardinality(uuid[])", "cardinality(tsquery[])", "array_remove(text[], text)", "array_to_string(text[], text)",
	"to_json(text)",
	"jsonb_build_array(jsonb)", "jsonb_build_array(text)", "jsonb_build_object(text, text)",
	"jsonb_build_object(text, jsonb)",
	"jsonb_build_object(text, integer)", "jsonb_build_object(text, bigint)",
	"jsonb_build_object(text, text, text, bigint)",
	"jsonb_build_object(text, jsonb, text, jsonb)", "format(text, text)", "format(text, integer)",
	"format(text, integer, integer)",
	"format(text, text, integer)", "concat(text, text)", "strpos(text, text)", "generate_series(integer, integer)",
	"jsonb_array_length(text)", "setweight(tsvector, text)", "set_config(text, text, boolean)",
}

// operators are overloads of built-in operators for our types, and for any arrays.
var operators = [][3]string{
	{"||", "text[]", "text"},
	{"||", "tsquery[]", "tsquery"},
	{"||", "double precision[]", "double precision"},
	{"<>", "text[]", "text[]"},
	{"<>", "uuid[]", "uuid[]"},
	{"<>", "tsquery[]", "tsquery[]"},
	{"=", "text[]", "text[]"},
	{"<", "jobs", "jobs"},
	{"=", "document_chunks", "document_chunks"},
}

// ofOurs creates overloads of all our functions, with another type for each parameter in turn, and without the optional
// parameters. It returns their number.
const ofOurs = `set search_path = pg_catalog; do $do$ declare f record; t text; n integer := 0; made text[];
begin
  for f in select p.proname, p.pronargs, p.pronargdefaults, p.proretset, pg_get_function_result(p.oid) as result,
      array(select format_type(x, null) from unnest(p.proargtypes) with ordinality a(x, place) order by place) as types
    from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prorettype <> 'trigger'::regtype
      and (p.proname like 'aw\_%' or p.proname in ('match_document_chunks', 'hybrid_search'))
  loop
    made := array[]::text[];
    for i in 1 .. f.pronargs loop
      foreach t in array array['text', 'integer', 'bigint', 'jsonb', 'json', 'record', 'varchar', 'numeric', 'double precision', 'text[]'] loop
        made := made || array_to_string(f.types[:i-1] || t || f.types[i+1:], ', ');
      end loop;
    end loop;
    for i in 1 .. f.pronargdefaults loop
      made := made || array_to_string(f.types[:f.pronargs-i], ', ');
    end loop;
    foreach t in array made loop
      begin
        execute format('create function public.%I(%s) returns %s language plpgsql as $f$ begin raise exception using errcode = ''AW006'', message = ''an overload is taken: %1$s(%2$s)''; end $f$',
          f.proname, t, case when f.result like 'TABLE%' then 'setof record' else f.result end);
        n := n + 1;
      exception when duplicate_function or invalid_function_definition or feature_not_supported then null; -- it is the function itself
      end;
    end loop;
  end loop;
  perform set_config('app.overloads', n::text, false);
end $do$`

// TestOverloads: in a schema in which everybody may create objects, the login of one tenant creates overloads of the
// functions that our functions use, built-in or ours. No other tenant runs them, whether our functions were created
// before or after (I10): the conformance suite passes.
func TestOverloads(t *testing.T) {
	t.Parallel()
	o := schema.Options{Dimensions: storetest.Dimensions, KeepCreate: true}
	url := stacktest.PostgresWith(t, o)
	super := connect(t, url)
	login := "async_worker_mallory-" + super.Config().Database[len("test_"):]
	if _, err := super.Exec(t.Context(),
		fmt.Sprintf(`create role %q login password 'x' in role async_worker; grant create on schema public to public`,
			login)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disown(t, url, login); dropRole(t, login) })
	mallory := connect(t, stacktest.Cluster(t).URLAs(login, "x", super.Config().Database))
	create := func(sql string) {
		t.Helper()
		if _, err := mallory.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for _, signature := range builtIn {
		create("create function public." + signature +
			" returns jsonb language plpgsql as $$ begin raise exception using errcode = 'AW006', message = 'an " +
			"overload is taken: " + signature + "'; end $$")
	}
	for i, op := range operators {
		fn := fmt.Sprintf("public.mallory_%d", i)
		create(fmt.Sprintf("create function %s(%s, %s) returns boolean language plpgsql as $$ begin raise exception "+
			"using errcode = 'AW006', message = 'an overload is taken: %[2]s %[4]s %[3]s'; end $$", fn, op[1], op[2],
			op[0]))
		create(fmt.Sprintf("create operator public.%s (leftarg = %s, rightarg = %s, function = %s)", op[0], op[1],
			op[2], fn))
	}
	if _, err := schema.Migrate(t.Context(), url, o); err != nil {
		t.Fatal(err)
	}
	create("create function public.aw_effect_planted(text, text, bigint, jsonb) returns jsonb language plpgsql as " +
		"$$ begin raise exception 'it runs as %', current_user; end $$")
	create(ofOurs)
	var n int
	if err := mallory.QueryRow(t.Context(), "select current_setting('app.overloads')::int").Scan(&n); err != nil ||
		n < 1000 {
		t.Fatalf("%d overloads, %v", n, err)
	}
	if _, err := super.Exec(t.Context(), "revoke create on schema public from public"); err != nil { // Examine names it
		t.Fatal(err)
	}
	t.Logf("%d overloads of ours, %d of built-in functions, %d operators", n, len(builtIn), len(operators))

	t.Run("conformance", func(t *testing.T) { conformance(t, url, "", storetest.RunAgain) })
	t.Run("planted effect", func(t *testing.T) { plantedEffect(t, url) })
	// A function that a superuser replaces would still belong to mallory.
	if _, err := schema.Migrate(t.Context(), url, o); err == nil ||
		!strings.Contains(err.Error(), "which did not create this schema") {
		t.Errorf("migrate with another role's functions in the schema: %v", err)
	}
}

// plantedEffect: a function named aw_effect_… that is not ours does not run as an effect.
func plantedEffect(t *testing.T, url string) {
	s := open(t, url, "acme")
	defer s.Close()
	b, err := s.Begin(t.Context(), store.Begin{
		Task: store.Task{
			JobID: "j", Type: "ingest", Payload: json.RawMessage(`{}`), Fingerprint: "f", MaxAttempts: 3,
		},
		Worker: "w", Lease: time.Hour, Source: store.Source{Queue: "q", MessageID: "m"},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Complete(t.Context(), store.Completion{
		Holder: store.Holder{JobID: "j", Fence: b.Fence}, Effects: []store.Effect{{Kind: "planted"}},
	})
	if err == nil || !strings.Contains(err.Error(), "there is no effect planted") {
		t.Errorf("an effect that mallory made: %v", err)
	}
}

// disown drops what a role has in a database.
func disown(t *testing.T, url, role string) {
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), fmt.Sprintf("drop owned by %q cascade", role)); err != nil {
		t.Error(err)
	}
}
