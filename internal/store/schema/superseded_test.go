package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// TestPlaceOfAJobThatStartsLater: a job that was recorded long before its time has its place at that time, whichever call
// begins it. A worker of before takes a document that later jobs have made.
func TestPlaceOfAJobThatStartsLater(t *testing.T) {
	t.Parallel()
	super := connect(t, stacktest.PostgresWith(t, schema.Options{Dimensions: 8}))
	call := func(what string) (answer string) {
		t.Helper()
		if err := super.QueryRow(t.Context(), "select "+what+"::text").Scan(&answer); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return answer
	}
	const begin = `{"client_id":"a","job_id":"%s","type":"ingest","payload":{},"hints":{},"priority":"normal","fingerprint":"f",
		"max_attempts":1,"worker":"w","source":{"queue":"q","message_id":"%[1]s"},"begin_id":"%[1]s","lease_ms":3600000}`
	call("set_config('app.client_id', 'a', false)")
	for _, id := range []string{"alone", "together"} {
		call(fmt.Sprintf(`aw_submit('{"client_id":"a","job_id":"%s","type":"ingest","payload":{},"hints":{},"priority":"normal",
			"fingerprint":"f","max_attempts":1,"queue":"q","message":"m","send_at":"2026-01-01T00:00:00Z"}')`, id))
	}
	if _, err := super.Exec(t.Context(), `update jobs set created_at = '2026-01-01', run_at = '2026-01-02', message = null, sent_at = now();
		insert into documents (client_id, document_set, filename, blob, active_version, task_sent_at, task_job_id)
			values ('a', 's', 'f', 'f', 1, '2026-01-01 12:00', 'newer'), ('a', 's', 'g', 'g', 1, '2026-01-03', 'newer')`); err != nil {
		t.Fatal(err)
	}
	call(`aw_begin('` + fmt.Sprintf(begin, "alone") + `')`)
	call(`aw_begin_all('{"client_id":"a","begins":[` + fmt.Sprintf(begin, "together") + `]}')`)
	if got := call("(select string_agg(id || ' ' || queued_at::date, ', ' order by id) from jobs where status = 'running')"); got !=
		"alone 2026-01-02, together 2026-01-02" {
		t.Errorf("the places are %s", got)
	}
	const stage = `{"client_id":"a","job_id":"alone","fence":1,"document_set":"s","filename":"%s","blob":"f"%s}`
	for _, c := range []struct{ filename, more, want string }{
		{"g", `,"may_be_superseded":true`, `"superseded_by": "newer"`},
		{"g", "", `"version": 1`},
		{"f", `,"may_be_superseded":true`, `"version": 1`},
	} {
		if got := call(`aw_stage_document('` + fmt.Sprintf(stage, c.filename, c.more) + `')`); !strings.Contains(got, c.want) {
			t.Errorf("%s%s: %s, want %s", c.filename, c.more, got, c.want)
		}
	}
}
