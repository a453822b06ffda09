package postgres_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// TestWritersDoNotBlock: during a transaction that stages chunks, the job's heartbeat, a cancel request and the
// message's next delivery are answered. The writers of a large document follow each other without a gap, so a call that
// waited for them would wait until the lease ends. Calls that end the job or give it another fence do wait (I4).
func TestWritersDoNotBlock(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	// Waiting for a lock for so long is an error, rather than a test that hangs.
	s := open(t, url+"&options=-c%20lock_timeout%3D3s", "a")
	defer s.Close()
	m := store.Begin{
		Task: store.Task{
			JobID: "j", Type: "ingest", Payload: json.RawMessage(`{}`), Fingerprint: "f", MaxAttempts: 3,
		},
		Worker: "w", Lease: time.Hour, Source: store.Source{Queue: "q", MessageID: "m"},
	}
	begun, err := s.Begin(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	h := store.Holder{JobID: m.JobID, Fence: begun.Fence}
	held, err := json.Marshal(map[string]any{"client_id": "a", "job_id": h.JobID, "fence": h.Fence})
	if err != nil {
		t.Fatal(err)
	}
	writer, err := connect(t, url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func(tx pgx.Tx) { _ = tx.Rollback(context.WithoutCancel(t.Context())) }(writer)
	if _, err := writer.Exec(t.Context(), "select aw_lock_for_staging($1::jsonb)", string(held)); err != nil {
		t.Fatal(err)
	}

	event := store.Event{ID: "11111111-1111-4111-8111-111111111111", At: time.Now(), Stage: "parsing", Progress: 12}
	if _, err := s.Heartbeat(t.Context(), store.Heartbeat{
		Holder: h, Lease: time.Hour,
		Events: []store.Event{event},
	}); err != nil {
		t.Errorf("a heartbeat during a write: %v", err)
	}
	if redelivered, err := s.Begin(t.Context(), m); err != nil || redelivered.Decision != store.Leased {
		t.Errorf("the message's next delivery during a write: %q, %v; want %q", redelivered.Decision, err, store.Leased)
	}
	if _, err := s.RequestCancel(t.Context(), h.JobID, "somebody"); err != nil {
		t.Errorf("a cancel request during a write: %v", err)
	}
	if _, err := s.Heartbeat(t.Context(), store.Heartbeat{Holder: h, Lease: 0}); err != nil {
		t.Errorf("a heartbeat after the cancel request: %v", err)
	}

	ending := connect(t, url)
	if _, err := ending.Exec(t.Context(), "set lock_timeout = '100ms'"); err != nil {
		t.Fatal(err)
	}
	begin, err := json.Marshal(map[string]any{
		"client_id": "a", "job_id": "j", "type": "ingest", "fingerprint": "f", "max_attempts": 3, "lease_ms": 1000,
		"worker": "v",
	})
	if err != nil {
		t.Fatal(err)
	}
	const lockNotAvailable = "55P03"
	for name, call := range map[string]string{
		"aw_complete": string(held), "aw_canceled": string(held), "aw_release": string(held),
		"aw_begin": string(begin), // its lease is over: it would be a new fence
	} {
		if _, err := ending.Exec(t.Context(), "select "+name+"($1::jsonb)", call); raised(err) != lockNotAvailable {
			t.Errorf("I4: %s during a write: %v, want it to wait", name, err)
		}
	}
}
