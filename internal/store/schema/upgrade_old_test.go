package schema_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// oldCalls are what a worker of schema version 16 sends for a document, as it was recorded: up to its staged version,
// and from there on.
var oldCalls = [2][]string{{
	`aw_check('{"client_id":"CLIENT"}')`,
	`aw_begin('{"client_id":"CLIENT","job_id":"JOB","type":"ingest","payload":{"filename":"a.pdf"},"hints":{},"priority":"high","webhook_url":"https://example.com/hook","requested_by":"user-17","fingerprint":"f1","max_attempts":3,"worker":"w1","source":{"queue":"q","message_id":"JOB","inserted_at":"2026-11-20T11:38:04.795700836Z"},"original_message":"{}","begin_id":"b","lease_ms":3600000}')`,
	`aw_heartbeat('{"client_id":"CLIENT","job_id":"JOB","fence":1,"events":[{"id":"EVENT","at":"2026-11-20T11:38:09.28Z","stage":"parsing","progress":10}],"lease_ms":3600000}')`,
	`aw_stage_document('{"client_id":"CLIENT","job_id":"JOB","fence":1,"document_set":"contracts","filename":"JOB.pdf","blob":"in/a.pdf"}')`,
	`aw_known_chunks('{"client_id":"CLIENT","keys":["key of zero"]}')`,
	`aw_stage_chunks('{"client_id":"CLIENT","job_id":"JOB","fence":1,"document_id":"DOCUMENT","version":1,"model":"m","chunks":[{"position":0,"content":"zero JOB","heading_path":["Terms"],"pages":[1,2],"kind":"text","tokens":7,"chunk_key":"key of zero","boxes":[],"embedding":"[1,2,3,4,5,6,7,8]"}]}')`,
}, {
	`aw_canceling('{"client_id":"CLIENT","attempts":[{"job_id":"JOB","fence":1}]}')`,
	`aw_stage_vectors('{"client_id":"CLIENT","job_id":"JOB","fence":1,"document_id":"DOCUMENT","version":1,"model":"m","chunks":[{"position":1,"content":"one","heading_path":[],"pages":[2],"kind":"text","tokens":7,"chunk_key":"key of one","boxes":[]}]}'::jsonb, '{"[8,7,6,5,4,3,2,1]"}')`,
	`aw_complete('{"client_id":"CLIENT","job_id":"JOB","fence":1,"result":{"n":1},"events":[],"effects":[{"kind":"activate_document","args":{"document_id":"DOCUMENT","version":1,"chunks":2,"content_sha256":"c","pages":2,"characters":7,"extractor":"e","pipeline":"p","blob":"in/a.pdf"}}]}')`,
	`aw_claim_deliveries('{"client_id":"CLIENT","worker":"w","max":100,"lease_ms":120000}')`,
	`aw_settle_delivery('{"client_id":"CLIENT","id":"DELIVERY","fence":1,"status":"delivered","response_status":200,"response":"","error":"","next_after_ms":0,"latency_ms":5}')`,
	`aw_search('{"client_id":"CLIENT","text":"zero","embedding":"[1,2,3,4,5,6,7,8]","limit":10}')`,
	`aw_page_results_put('{"client_id":"CLIENT","source":"sha-1","reader":"r","pages":[{"page":1,"reading":"cmVhZA=="}]}')`,
	`aw_partials_put('{"client_id":"CLIENT","job_id":"JOB","partials":[{"key":"a","answer":{"text":"x"},"prompt_tokens":100,"completion_tokens":7,"own":false}]}')`,
	`aw_submit('{"client_id":"CLIENT","job_id":"JOB-2","type":"ingest","payload":{},"hints":{},"priority":"normal","fingerprint":"f","max_attempts":1,"queue":"q","message":"m"}')`,
	`aw_sweep('{"client_id":"CLIENT","unsent_for_ms":0,"stalled_for_ms":3600000,"unstarted_for_ms":3600000,"again_after_ms":3600000,"limit":10}')`,
	`aw_collect('{"client_id":"CLIENT","superseded_for_ms":3600000000,"abandoned_for_ms":3600000000,"limit":10}')`,
}}

// oldWorker is a session of such a worker.
type oldWorker struct {
	*pgx.Conn
	client string
}

// do makes calls for a job, and wants each to say something of it.
func (w oldWorker) do(t *testing.T, job string, calls []string) {
	t.Helper()
	for _, call := range calls {
		var document, delivery string
		super := connect(t, w.Config().ConnString())
		if err := super.QueryRow(t.Context(),
			`select coalesce((select id::text from documents where client_id = $1 and filename = $2), ''),
			coalesce((select id from webhook_deliveries where client_id = $1 and job_id = $3), '')`, w.client, job+".pdf", job).Scan(&document, &delivery); err != nil {
			t.Fatal(err)
		}
		event := fmt.Sprintf("00000000-0000-4000-8000-%012x", len(job))
		call = strings.NewReplacer("CLIENT", w.client, "JOB", job, "EVENT", event, "DOCUMENT", document, "DELIVERY",
			delivery).Replace(call)
		var answer string
		if err := w.QueryRow(t.Context(), "select "+call+"::text").Scan(&answer); err != nil {
			t.Fatalf("%s: %v", call, err)
		}
		for name, part := range map[string]string{
			"aw_search": `"zero ` + job, "aw_claim": `"msg_`, "aw_begin": `"run"`,
			"aw_complete": `"succeeded"`, "aw_sweep": job + "-2",
		} {
			if strings.HasPrefix(call, name) && !strings.Contains(answer, part) {
				t.Errorf("%s: %s", call, answer)
			}
		}
	}
}

// TestOldWorkerBesideTheNew: a database of version 16, with rows, is migrated in place while workers of that version
// are at work, by each sort of key; they finish what they began, and go on.
func TestOldWorkerBesideTheNew(t *testing.T) {
	t.Parallel()
	url := stacktest.EmptyPostgres(t)
	super := connect(t, url)
	if _, err := super.Exec(t.Context(), oldSchema(t)); err != nil {
		t.Fatal(err)
	}
	workers := map[string]oldWorker{}
	for name, settings := range map[string]string{
		"setting":     "set role async_worker; set app.client_id = 'setting'",
		"claim":       `set role async_worker; set request.jwt.claims = '{"role":"async_worker","client_id":"claim"}'`,
		"service-key": `set role service_role; set request.jwt.claims = '{"role":"service_role"}'`,
	} {
		conn := connect(t, url)
		if _, err := conn.Exec(t.Context(), settings); err != nil {
			t.Fatal(err)
		}
		workers[name] = oldWorker{conn, name}
		workers[name].do(t, "before", append(oldCalls[0][:len(oldCalls[0]):len(oldCalls[0])], oldCalls[1]...))
		workers[name].do(t, "meanwhile", oldCalls[0])
	}
	before := counts(t, super)
	plantRetired(t, super)
	report, err := schema.Migrate(t.Context(), url, schema.Options{Dimensions: 8})
	if err != nil || report.From != 16 || report.To != schema.Version() {
		t.Fatalf("%+v, %v", report, err)
	}
	if after := counts(t, super); after != before {
		t.Errorf("rows before the migration: %s; after it: %s", before, after)
	}
	for _, w := range workers {
		w.do(t, "meanwhile", oldCalls[1])
		w.do(t, "after", append(oldCalls[0][:len(oldCalls[0]):len(oldCalls[0])], oldCalls[1]...))
	}
	for name, w := range workers {
		var n int
		err := w.QueryRow(t.Context(), "select count(*) from jobs where client_id = $1", name).Scan(&n)
		if service := name == "service-key"; service && (err != nil || n != 6) || !service && code(err) != "42501" {
			t.Errorf("%s reads the table of jobs: %d, %v", name, n, err)
		}
		if err := w.QueryRow(t.Context(), "select count(*) from match_document_chunks('[1,2,3,4,5,6,7,8]', 100)").
			Scan(&n); err != nil ||
			name != "service-key" && n != 6 || name == "service-key" && n != 18 {
			t.Errorf("%s finds %d chunks, %v", name, n, err)
		}
	}
	testRetired(t, url, super)
}

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

// counts are how many rows there are of what is in use.
func counts(t *testing.T, conn *pgx.Conn) (rows string) {
	t.Helper()
	err := conn.QueryRow(t.Context(), `select format('%s jobs %s events %s documents %s chunks %s deliveries', (select count(*) from jobs), (select count(*) from job_events),
		(select count(*) from documents), (select count(*) from document_chunks), (select count(*) from webhook_deliveries))`).Scan(&rows)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// oldSchema is what migrate --print of version 16 wrote, for 8 dimensions.
func oldSchema(t *testing.T) string {
	t.Helper()
	f, err := os.Open("testdata/v16.sql.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	sql, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(sql)
}

// TestOldWorkerBetweenTablesAndFunctions: the tables are migrated first, and then all functions are renewed at once. In
// between, however long it is, workers of the version before go on as they did.
func TestOldWorkerBetweenTablesAndFunctions(t *testing.T) {
	t.Parallel()
	url := stacktest.EmptyPostgres(t)
	super := connect(t, url)
	if _, err := super.Exec(t.Context(), oldSchema(t)); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, url)
	if _, err := conn.Exec(t.Context(), "set role async_worker; set app.client_id = 'a'"); err != nil {
		t.Fatal(err)
	}
	w := oldWorker{conn, "a"}
	w.do(t, "meanwhile", oldCalls[0])
	w.do(t, "released", oldCalls[0])
	// A function of that name that somebody else made stops the second half.
	if _, err := super.Exec(t.Context(),
		"create function aw_made_of(text) returns text language sql return $1; alter function aw_made_of(text) "+
			"owner to async_worker"); err != nil {
		t.Fatal(err)
	}
	if report, err := schema.Migrate(t.Context(), url, schema.Options{Dimensions: 8}); err == nil ||
		report.To != schema.Version() || !strings.Contains(err.Error(), "aw_made_of") {
		t.Fatalf("%+v, %v", report, err)
	}
	w.do(t, "meanwhile", oldCalls[1])
	w.do(t, "between", append(oldCalls[0][:len(oldCalls[0]):len(oldCalls[0])], oldCalls[1]...))
	if _, err := super.Exec(t.Context(), "drop function aw_made_of(text)"); err != nil {
		t.Fatal(err)
	}
	if _, err := schema.Migrate(t.Context(), url, schema.Options{Dimensions: 8}); err != nil {
		t.Fatal(err)
	}
	// A row of before counts from nothing.
	var releases int
	if err := conn.QueryRow(t.Context(),
		`select aw_release('{"client_id":"a","job_id":"released","fence":1,"waits":true,"tried":true}') is not null`).
		Scan(new(bool)); err != nil {
		t.Fatal(err)
	}
	if err := super.QueryRow(t.Context(), "select releases from jobs where id = 'released'").
		Scan(&releases); err != nil || releases != 1 {
		t.Errorf("%d releases, %v", releases, err)
	}
}

// TestMigrationsCallNothingOfOthers: whoever migrates is a superuser, and up to version 16 of the schema anybody could
// put a function into public that fits a call better than the built-in one.
func TestMigrationsCallNothingOfOthers(t *testing.T) {
	t.Parallel()
	url := stacktest.EmptyPostgres(t)
	super := connect(t, url)
	if _, err := super.Exec(t.Context(), oldSchema(t)+`
		grant create on schema public to async_worker;
		create table called (by text, what text);
		grant insert on called to public;
		set role async_worker;
		create function public.format(text, regprocedure) returns text language plpgsql as
			$$ begin insert into public.called values (current_user, 'format(text, regprocedure)'); return pg_catalog.format($1, variadic array[$2::text]); end $$;
		create function public.format(text, text) returns text language plpgsql as
			$$ begin insert into public.called values (current_user, 'format(text, text)'); return pg_catalog.format($1, variadic array[$2]); end $$;
		create function public.unnest(oidvector) returns setof oid language plpgsql as
			$$ begin insert into public.called values (current_user, 'unnest(oidvector)'); return query select pg_catalog.unnest($1::oid[]); end $$;
		reset role`); err != nil {
		t.Fatal(err)
	}
	if _, err := schema.Migrate(t.Context(), url, schema.Options{Dimensions: 8}); err != nil {
		t.Fatal(err)
	}
	var called string
	if err := super.QueryRow(t.Context(),
		"select coalesce(string_agg(distinct what || ' as ' || by, ', '), '') from called").Scan(&called); err != nil ||
		called != "" {
		t.Errorf("the migration called %s, %v", called, err)
	}
}
