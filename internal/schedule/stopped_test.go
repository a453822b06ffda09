package schedule

import (
	"encoding/json"
	"errors"
	"fmt"
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

// TestUnfitIsLeft: a schedule that only workers of a newer version can fire is fired by them, whoever looks first, and is
// not paused. That it can't be fired here is logged once.
func TestUnfitIsLeft(t *testing.T) {
	t.Parallel()
	w, planned := unfit(t)
	var said strings.Builder
	older := Runner{Checker: refusing, Store: w, Submit: w, Log: slog.New(slog.NewTextHandler(&said, nil))}
	newer := Runner{Checker: taking, Store: w, Submit: w, Log: slog.New(slog.DiscardHandler)}
	for fired := range int64(3) {
		w.now = *planned.FiresAt
		for i, r := range []*Runner{&older, &older, &newer, &older} {
			if wait, err := r.Look(t.Context()); err != nil || i < 2 && wait != waitForJob {
				t.Fatalf("look %d: wait %v, %v", i, wait, err)
			}
		}
		var err error
		if planned, err = w.Schedule(t.Context(), planned.ID); err != nil || planned.Paused || planned.Fired != fired+1 {
			t.Fatalf("%+v, %v; want firing %d", planned, err, fired+1)
		}
	}
	if n := strings.Count(said.String(), planned.ID); n != 1 {
		t.Errorf("logged %d times: %s", n, said.String())
	}
}

// TestStoppedIsTold: a schedule that no worker fires is paused, and that is told: it misses nothing from then on, and nobody
// would notice.
func TestStoppedIsTold(t *testing.T) {
	t.Parallel()
	w, planned := unfit(t)
	told := map[Outcome]int{}
	r := Runner{
		Checker: refusing, Store: w, Submit: w, Log: slog.New(slog.DiscardHandler),
		Observe: func(o Outcome, n int, _ time.Duration) { told[o] += n },
	}
	for _, late := range []time.Duration{0, time.Minute, leaveFor - time.Second, leaveFor} {
		if len(told) > 0 {
			t.Errorf("told of %v after less than %v", told, leaveFor)
		}
		w.now = planned.FiresAt.Add(late)
		if _, err := r.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s, err := w.Schedule(t.Context(), planned.ID)
	if err != nil || !s.Paused || s.Problem == "" || len(told) != 1 || told[Stopped] != 1 {
		t.Errorf("%+v, %v, told of %v", s, err, told)
	}
}

// TestStoppedByShortLivedWorkers: it is paused although no worker lives for that long, but not by one that has just started.
func TestStoppedByShortLivedWorkers(t *testing.T) {
	t.Parallel()
	w, planned := unfit(t)
	looks := func(late ...time.Duration) (paused bool) {
		r := Runner{Checker: refusing, Store: w, Submit: w, Log: slog.New(slog.DiscardHandler)}
		for _, l := range late {
			w.now = planned.FiresAt.Add(l)
			if _, err := r.Look(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		s, err := w.Schedule(t.Context(), planned.ID)
		if err != nil {
			t.Fatal(err)
		}
		return s.Paused
	}
	if looks(0, 5*time.Minute) || looks(10*time.Minute, 14*time.Minute) || looks(20*time.Minute, 20*time.Minute+leaveAtLeast-time.Second) {
		t.Error("it was paused too early")
	}
	if !looks(30*time.Minute, 30*time.Minute+leaveAtLeast) {
		t.Error("it is not paused")
	}
}

// TestUnfitWithADebt: a schedule that owes a firing for as long as its last job runs, while newer workers fire what is due, is
// not paused by an older one.
func TestUnfitWithADebt(t *testing.T) {
	t.Parallel()
	w, s := unfit(t)
	r := Runner{Checker: refusing, Store: w, Submit: w, Log: slog.New(slog.DiscardHandler)}
	s.Owed = []time.Time{w.now.Add(-time.Hour)}
	for range 3 {
		s.NextAt = new(w.now)
		if err := r.unfit(t.Context(), s, w.now, errors.New("the payload has a member that is not known")); !errors.Is(err, errLeft) {
			t.Errorf("it is not left: %v", err)
		}
		w.now = w.now.Add(2 * leaveAtLeast)
	}
}

// TestManyUnfit: more schedules than a look takes, all of which this worker can't fire, hold up none that it can.
func TestManyUnfit(t *testing.T) {
	t.Parallel()
	w, planned := unfit(t)
	for i := range batch + 10 {
		s := planned
		s.ID = fmt.Sprintf("a%02d", i) // before the other
		if _, err := w.AddSchedule(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	some := Checker{ClientID: unfitClient, Check: func(t task.Task) error {
		if strings.HasPrefix(t.ID, JobPrefix+"a") {
			return errors.New("the payload has a member that is not known")
		}
		return nil
	}}
	r := Runner{Checker: some, Store: w, Submit: w, Log: slog.New(slog.DiscardHandler)}
	w.now = *planned.FiresAt
	for range 3 {
		if _, err := r.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := w.Schedule(t.Context(), planned.ID); err != nil || s.Fired != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

const unfitClient = "c"

var (
	taking   = Checker{ClientID: unfitClient, Check: func(task.Task) error { return nil }}
	refusing = Checker{ClientID: unfitClient, Check: func(task.Task) error { return errors.New("the payload has a member that is not known") }}
)

// unfit is a store with a schedule that a worker of an older version can't fire.
func unfit(t *testing.T) (*world, store.Schedule) {
	t.Helper()
	s, err := postgres.Open(t.Context(), stacktest.PostgresWith(t, schema.Options{}), postgres.Options{ClientID: unfitClient})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	w := &world{Store: s, rnd: rand.New(rand.NewPCG(1, 1)), now: time.Now().UTC()}
	planned, err := taking.Plan(store.Schedule{
		ID: "nightly", Cron: "30 2 * * *", Overlap: store.OverlapAllow,
		Task: json.RawMessage(`{"task_type":"ingest","payload":{"filename":"prices.pdf"}}`),
	}, w.now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddSchedule(t.Context(), planned); err != nil {
		t.Fatal(err)
	}
	return w, planned
}
