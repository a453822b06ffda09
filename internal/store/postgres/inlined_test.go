package postgres_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// TestInlined: the functions in SQL that a task, an ingest and a search use are inlined. One that is not is planned at each
// call, which takes a tenth of a millisecond and more: nothing else shows that.
func TestInlined(t *testing.T) {
	t.Parallel()
	conn := connect(t, stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions}))
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec(`set track_functions = 'all'; set app.client_id = 'a'`)
	exec("begin") // calls are counted in a transaction
	exec(`select aw_queue_ensure('{"client_id":"a","queue":"a-tasks"}')`)
	// A session plans a statement with its arguments a few times before it keeps a plan for all; to plan it may call them.
	// It plans again whenever the server looks at a table, as autovacuum does: so one quiet round of several is enough.
	var before, after map[string]int
	for i := range 20 {
		taskCalls(exec, i)
		documentCalls(exec, i)
		before, after = after, calledInSQL(t, conn)
		if i >= 10 && maps.Equal(before, after) {
			return
		}
	}
	t.Errorf("some of these functions in SQL were called, and not inlined: before %v, after %v", before, after)
}

// calledInSQL counts the calls of functions in SQL by this session. aw_elements is not inlined, on purpose.
func calledInSQL(t *testing.T, conn *pgx.Conn) map[string]int {
	t.Helper()
	rows, err := conn.Query(t.Context(), `select f.funcname, f.calls from pg_stat_xact_user_functions f
		join pg_proc p on p.oid = f.funcid join pg_language l on l.oid = p.prolang
		where l.lanname = 'sql' and f.funcname <> 'aw_elements'`)
	if err != nil {
		t.Fatal(err)
	}
	calls, name, n := map[string]int{}, "", 0
	if _, err := pgx.ForEachRow(rows, []any{&name, &n}, func() error {
		calls[name] = n
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return calls
}

// taskCalls makes the calls of three tasks, alone and in a batch.
func taskCalls(exec func(string), i int) {
	for n := range 3 {
		id := fmt.Sprintf("%d.%d", i, n)
		exec(fmt.Sprintf(`select aw_enqueue('{"task_id":"%s","task_type":"ingest","payload":{"filename":"f"}}')`, id))
		begin := fmt.Sprintf(`{"client_id":"a","job_id":"%s","type":"ingest","payload":{"filename":"f"},"hints":{},
			"fingerprint":"f","max_attempts":3,"lease_ms":1000,"worker":"w","begin_id":"b",
			"source":{"queue":"a-tasks","message_id":"m"},"original_message":"x"}`, id)
		end := fmt.Sprintf(`{"client_id":"a","job_id":"%s","fence":1,"result":{"processing_time_ms":1},"lease_ms":1000,
			"events":[{"id":"00000000-0000-4000-8000-%012d","ago_ms":1,"stage":"s","progress":1}]}`, id, i*10+n)
		switch n {
		case 0:
			exec("select aw_begin('" + begin + "')")
			exec("select aw_complete('" + end + "')")
		case 1:
			exec(`select aw_begin_all('{"client_id":"a","begins":[` + begin + `]}')`)
			exec(`select aw_complete_all('{"client_id":"a","completions":[` + end + `]}')`)
		case 2:
			exec("select aw_begin('" + begin + "')")
			exec("select aw_heartbeat('" + end + "')")
		}
	}
	exec(fmt.Sprintf(`select aw_enqueue_all('{"tasks":[{"task_id":"all.%d","task_type":"ingest","payload":{}}]}')`, i))
	exec(`select aw_queue_receive('{"client_id":"a","queue":"a-tasks","n":3,"visibility_ms":1000}')`)
}

// documentCalls makes the calls of an ingest, and of searches for its text.
func documentCalls(exec func(string), i int) {
	job := fmt.Sprintf(`"client_id":"a","job_id":"d.%d"`, i)
	exec(`select aw_begin('{` + job + `,"type":"ingest","payload":{},"hints":{},"fingerprint":"f","max_attempts":3,"lease_ms":1000,
		"worker":"w","begin_id":"b","source":{"queue":"a-tasks","message_id":"m"},"original_message":"x"}')`)
	exec(fmt.Sprintf(`with d as (select aw_stage_document('{%s,"fence":1,"document_set":"s","filename":"%d.md","blob":"b"}') as v)
		select set_config('app.document', v ->> 'document_id', false) from d`, job, i))
	version := `,"fence":1,"document_id":"' || current_setting('app.document') || '","version":1`
	exec(`select aw_known_chunks(('{` + job + version + `,"keys":["k"],"model":"m"}')::jsonb)`)
	exec(`select aw_stage_chunks(('{` + job + version + `,"model":"m","chunks":[{"position":0,"content":"the long harbour wall",
		"chunk_key":"k","language":"en","embedding":"[1,0,0,0,0,0,0,0]"}]}')::jsonb)`)
	exec(`select aw_complete(('{` + job + `,"fence":1,"result":{"processing_time_ms":1},"events":[],"effects":[{"kind":"activate_document","args":{
		"chunks":1,"blob":"b","language":"en","content_sha256":"c"` + version + `}}]}')::jsonb)`)
	for _, words := range []string{"harbour walls", "東京 tower", "-quay harbour"} {
		exec(`select aw_search('{"client_id":"a","text":"` + words + `","embedding":"[1,0,0,0,0,0,0,0]","limit":5}')`)
	}
}
