package schedule

import (
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// TestCatchUpLowered: a schedule whose catch_up is lowered drops what it owes beyond it at once, as missed, and not only
// when it fires the next time.
func TestCatchUpLowered(t *testing.T) {
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
		ID: "hourly", Cron: "0 * * * *", CatchUp: 3, Task: json.RawMessage(`{"task_type":"ingest","payload":{}}`),
	}, w.now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddSchedule(t.Context(), planned); err != nil {
		t.Fatal(err)
	}
	missed := 0
	look := func() store.Schedule {
		t.Helper()
		r := Runner{
			Checker: checker, Store: w, Submit: w, Log: slog.New(slog.DiscardHandler),
			Observe: func(o Outcome, n int, _ time.Duration) {
				if o == Missed {
					missed += n
				}
			},
		}
		if _, err := r.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		now, err := s.Schedule(t.Context(), planned.ID)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	w.now = *planned.FiresAt
	first := look()
	w.now = w.now.Add(3*time.Hour + 30*time.Minute)
	if owes := look(); owes.Fired != 1 || len(owes.Owed) != 3 { // they wait for the job of the first
		t.Fatalf("%d fired and %d owed, want 1 and 3", owes.Fired, len(owes.Owed))
	}
	if _, err := s.ChangeSchedule(t.Context(), store.ScheduleChange{ID: planned.ID, CatchUp: new(1)}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.RequestCancel(t.Context(), first.LastJobID, "somebody"); err != nil {
		t.Fatal(err)
	}
	after := look()
	if after.Fired != 2 || len(after.Owed) != 0 || after.Missed != 2 || missed != 2 {
		t.Errorf("%d fired, %d owed, %d missed, %d of them counted; want 2, 0, 2 and 2", after.Fired, len(after.Owed),
			after.Missed, missed)
	}
	if want := planned.NextAt.Add(3 * time.Hour); !after.LastAt.Equal(want) {
		t.Errorf("%s was made up, want the newest, %s", after.LastAt, want)
	}
}
