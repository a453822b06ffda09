package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/doctor"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

// TestDoctorOnPostgresQueues: with all rights nothing is wrong and nothing is left behind; the function that is denied
// is named, and what to do.
func TestDoctorOnPostgresQueues(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	// The container stays: it is Azure's, and what to do about a queue is not.
	others := []string{"--skip", "clock,store,models,docling,webhooks"}
	env := w.env("QUEUE_BACKEND=postgres")
	if sick, code := w.sick(t, env, others...); len(sick) > 0 || code != exitOK {
		t.Errorf("exit %d, %+v", code, sick)
	}
	conn, err := pgx.Connect(t.Context(), w.database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for function, check := range map[string]string{
		"aw_queue_depth": "queue metadata", "aw_queue_ensure": "queue create", "aw_queue_peek": "queue peek",
		"aw_queue_receive": "queue receive", "aw_queue_extend": "queue update", "aw_queue_delete": "queue delete",
		"aw_queue_send": "queue put",
	} {
		if _, err := conn.Exec(t.Context(), "revoke execute on function "+function+" from async_worker"); err != nil {
			t.Fatal(err)
		}
		sick, code := w.sick(t, env, others...)
		if r := sick[check]; code != exitPermission || len(sick) != 1 || !strings.Contains(r.Seen, function) ||
			!strings.Contains(r.Remedy, "async-worker migrate") {
			t.Errorf("%s: exit %d, %+v", function, code, sick)
		}
		if _, err := conn.Exec(t.Context(), "grant execute on function "+function+" to async_worker"); err != nil {
			t.Fatal(err)
		}
	}
	var left int
	if err := conn.QueryRow(t.Context(), "select count(*) from aw_queue_messages").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d messages are left, %v", left, err)
	}
	sick, code := w.sick(t, w.env("QUEUE_BACKEND=pgmq", "DATABASE_URL="+stacktest.EmptyPostgres(t)), others...)
	if code != exitConfig || !strings.Contains(sick["queue create"].Seen, "create extension pgmq") {
		t.Errorf("pgmq is not there: exit %d, %+v", code, sick)
	}
}

// TestDoctorClockOfBlobs: requests to Azure's blobs are signed with the time, wherever the queues are.
func TestDoctorClockOfBlobs(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	r := doctorOnServices(t.Context(), w.env("QUEUE_BACKEND=postgres"), "-o", "json", "--skip",
		"unit,machine,queues,container,store,models,docling,webhooks")
	var report doctorReport
	if err := json.Unmarshal([]byte(r.out), &report); err != nil {
		t.Fatalf("%v: %+v", err, r)
	}
	at := slices.IndexFunc(report.Results, func(r doctor.Result) bool { return r.Check == "storage clock" })
	if at < 0 || report.Results[at].State != doctor.OK {
		t.Error(r.out)
	}
}
