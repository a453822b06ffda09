package postgres_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// TestCancelOfARunThatWaitsForItsQueue: another run of a job that has ended is given up when its message was not sent for
// two minutes since it was recorded, and since its time.
func TestCancelOfARunThatWaitsForItsQueue(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	s := open(t, url, "acme")
	t.Cleanup(s.Close)
	conn := connect(t, url)
	task := store.Task{JobID: "j", Type: "ocr", Fingerprint: "f", MaxAttempts: 1, Payload: json.RawMessage(`{}`)}
	begun, err := s.Begin(t.Context(), store.Begin{Task: task, Worker: "w", Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	holder := store.Holder{JobID: "j", Fence: begun.Fence}
	if _, err := s.Complete(t.Context(), store.Completion{Holder: holder, Result: json.RawMessage(`{}`)}); err != nil {
		t.Fatal(err)
	}
	task.Hints = json.RawMessage(`{"force":true}`)
	again := store.Submission{Task: task, Queue: "q", Message: "m", SendAt: new(time.Now().Add(-time.Hour))}
	if _, err := s.Submit(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		set  string
		want error
	}{
		{"updated_at = now()", store.ErrTerminal},
		{"updated_at = now() - interval '3 minutes', run_at = now() - interval '1 minute'", store.ErrTerminal},
		{"run_at = null, updated_at = now() - interval '1 minute'", store.ErrTerminal},
		{"run_at = null, updated_at = now() - interval '3 minutes'", nil},
		{"run_at = now() + interval '1 minute'", nil},
		{"run_at = now() - interval '3 minutes', updated_at = now() - interval '3 minutes'", nil},
	} {
		if _, err := conn.Exec(t.Context(), "set session_replication_role = replica; -- the guard writes updated_at\n"+
			"update jobs set message = 'm', sent_at = null, "+c.set); err != nil {
			t.Fatal(err)
		}
		j, err := s.RequestCancel(t.Context(), "j", "me")
		if !errors.Is(err, c.want) || err == nil && j.Status != "succeeded" {
			t.Errorf("%s: %+v, %v; want %v", c.set, j, err, c.want)
		}
		found, err := s.Sweep(t.Context(), store.SweepAges{}, 1)
		if err != nil || (len(found.Unsent) == 0) != (c.want == nil) || found.DueIn != 0 {
			t.Errorf("%s: a sweep finds %+v, %v", c.set, found, err)
		}
	}
}
