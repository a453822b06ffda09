package events_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
)

func openStore(t testing.TB, url, clientID string) store.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, postgres.Options{ClientID: clientID, MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// begin starts a job.
func begin(t testing.TB, s store.Store, taskType string) store.Holder {
	t.Helper()
	id := uuid.NewString()
	answer, err := s.Begin(t.Context(), store.Begin{
		Task: store.Task{
			JobID: id, Type: taskType, Payload: json.RawMessage(`{"filename":"scan.pdf"}`), Hints: json.RawMessage(`{}`),
			Priority: "normal", Fingerprint: "f", MaxAttempts: 1, RequestedBy: "user-17",
		},
		Worker: "w", Lease: time.Hour, ID: uuid.NewString(), Original: `{"task_id":"…"}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	return store.Holder{JobID: id, Fence: answer.Fence}
}

func progress(t testing.TB, s store.Store, h store.Holder, pages int) {
	t.Helper()
	if _, err := s.Heartbeat(t.Context(), store.Heartbeat{Holder: h, Lease: time.Hour, Events: []store.Event{{
		ID: uuid.NewString(), At: time.Now(), Stage: "recognizing", Progress: 10 * pages,
		Metadata: json.RawMessage(fmt.Sprintf(`{"pages_completed":%d,"total_pages":10}`, pages)),
	}}}); err != nil {
		t.Fatal(err)
	}
}

func complete(t testing.TB, s store.Store, h store.Holder, result string) {
	t.Helper()
	if _, err := s.Complete(t.Context(), store.Completion{Holder: h, Result: json.RawMessage(result)}); err != nil {
		t.Fatal(err)
	}
}

func fail(t testing.TB, s store.Store, h store.Holder) {
	t.Helper()
	if _, err := s.Fail(t.Context(), store.Failure{
		Holder: h, Reason: "permanent", Original: `{"task_id":"…"}`, Error: store.ErrorInfo{
			Type: "UnsupportedFormat", Class: "unsupported_format", Code: "OCR_UNSUPPORTED_FORMAT", Message: "no",
			Coarse: "validation",
		},
	}); err != nil {
		t.Fatal(err)
	}
}

// write makes the events of so many jobs.
func write(t *testing.T, s store.Store, writer, jobs int) {
	for n := range jobs {
		h := begin(t, s, "ocr")
		for page := range rand.IntN(3) {
			progress(t, s, h, page+1)
		}
		if (writer+n)%10 == 0 {
			fail(t, s, h)
		} else {
			complete(t, s, h, `{"derived_content_id": "d", "page_count": 10, "processing_time_ms": 5}`)
		}
	}
}

// holdOpen writes events in transactions that stay open for a while: of a job that others write to before and after, so
// that an older transaction writes later events.
func holdOpen(ctx context.Context, t *testing.T, url string, s store.Store) {
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(context.Background())
	for ctx.Err() == nil {
		a, b := begin(t, s, "ingest"), begin(t, s, "ingest")
		err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), heartbeat(a, "older")); err != nil {
				return err
			}
			progress(t, s, b, 1) // by a younger transaction
			<-time.After(time.Duration(rand.IntN(30)) * time.Millisecond)
			_, err := tx.Exec(t.Context(), heartbeat(b, "older"))
			return err
		})
		if err != nil {
			t.Error(err)
			return
		}
		complete(t, s, a, `{}`)
		complete(t, s, b, `{}`)
	}
}

// heartbeat is the SQL of a heartbeat with one event.
func heartbeat(h store.Holder, stage string) string {
	return fmt.Sprintf(`select aw_heartbeat('{"client_id":%q,"job_id":%q,"fence":%d,"lease_ms":3600000,
		"events":[{"id":%q,"ago_ms":0,"stage":%q,"progress":10}]}')`, client, h.JobID, h.Fence, uuid.NewString(), stage)
}

// row is an event that has to arrive.
type row struct {
	job string
	seq int64 // in the job; of a dead letter the last
}

// expected are all events that were written, by id.
func expected(t *testing.T, url string) map[string]row {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(), `select id::text, job_id, seq from job_events where client_id = $1 and stage <> ''
		union all select id::text, coalesce(job_id, ''), $2::bigint from dead_letters where client_id = $1`,
		client, int64(math.MaxInt64))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]row{}
	var id string
	var r row
	if _, err := pgx.ForEachRow(rows, []any{&id, &r.job, &r.seq}, func() error { all[id] = r; return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}
