package postgres_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// TestRedeliveryOfTheVersionBefore: a message that started a run under the version before, whose rows have its id alone,
// starts no other run when it comes again (I2).
func TestRedeliveryOfTheVersionBefore(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	s := open(t, url, "acme")
	t.Cleanup(s.Close)
	m := store.Begin{
		Task:  store.Task{JobID: "j", Type: "ocr", Fingerprint: "f", MaxAttempts: 1, Payload: json.RawMessage(`{}`)},
		Force: true, Worker: "w", Lease: time.Hour,
		Source: store.Source{Queue: "q", MessageID: "7", InsertedAt: time.Now().Add(time.Minute)},
	}
	begun, err := s.Begin(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	holder := store.Holder{JobID: "j", Fence: begun.Fence}
	if _, err := s.Complete(t.Context(), store.Completion{Holder: holder, Result: json.RawMessage(`{}`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := connect(t, url).Exec(t.Context(), "update jobs set message_ids = '{7}'"); err != nil {
		t.Fatal(err)
	}
	if answer, err := s.Begin(t.Context(), m); err != nil || answer.Decision != store.Done {
		t.Errorf("it again: %+v, %v", answer, err)
	}
	m.Source.MessageID = "8"
	if answer, err := s.Begin(t.Context(), m); err != nil || answer.Decision != store.Run {
		t.Errorf("another one: %+v, %v", answer, err)
	}
}
