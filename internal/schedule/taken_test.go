package schedule

import (
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// TestTakenID: somebody who may send messages, and knows the id of a schedule's next firing, does not keep it from
// firing: the firing gets an id that nobody knows, once, however many workers look.
func TestTakenID(t *testing.T) {
	t.Parallel()
	const client = "c"
	s, err := postgres.Open(t.Context(), stacktest.PostgresWith(t, schema.Options{}), postgres.Options{ClientID: client})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w := &world{Store: s, rnd: rand.New(rand.NewPCG(1, 1)), now: time.Now().UTC()}
	checker := Checker{ClientID: client, Check: func(task.Task) error { return nil }}
	planned, err := checker.Plan(store.Schedule{
		ID: "nightly", Cron: "30 2 * * *", Task: json.RawMessage(`{"task_type":"ingest","payload":{"filename":"prices.pdf"}}`),
	}, w.now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddSchedule(t.Context(), planned); err != nil {
		t.Fatal(err)
	}
	squatted := task.Task{
		ID: JobID(planned.ID, *planned.NextAt), Type: task.Ingest, Payload: json.RawMessage(`{"filename":"other.pdf"}`),
	}
	squatter, err := w.Submission(squatted)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Submit(t.Context(), squatter); err != nil {
		t.Fatal(err)
	}
	w.now = *planned.FiresAt
	var said strings.Builder
	for range 3 {
		r := Runner{Checker: checker, Store: w, Submit: w, Log: slog.New(slog.NewTextHandler(&said, nil))}
		if _, err := r.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := s.Jobs(t.Context(), store.JobFilter{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	after, err := s.Schedule(t.Context(), planned.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(jobs) != 2 || after.Fired != 1 || !strings.HasPrefix(after.LastJobID, squatted.ID+".") {
		t.Errorf("%d jobs, %d fired, last %s; want the other's and one firing with an id of its own", len(jobs), after.Fired,
			after.LastJobID)
	}
	if !strings.Contains(said.String(), "taken="+squatted.ID) {
		t.Errorf("the journal does not name the id that is taken: %s", said.String())
	}
}
