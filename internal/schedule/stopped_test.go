package schedule

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

type everything interface{ store.Schedules }

// unfit is a store of one schedule that can't fire.
type unfit struct {
	everything
	problem string
}

func (*unfit) DueSchedules(context.Context, int) (store.DueSchedules, error) {
	return store.DueSchedules{Now: time.Now(), Due: []store.Schedule{{ID: "nightly", Cron: "at night"}}}, nil
}

func (u *unfit) StopSchedule(_ context.Context, _ store.Schedule, problem string) error {
	u.problem = problem
	return nil
}

// A schedule that can't fire is paused, and that is told: it misses nothing from then on, and nobody would notice.
func TestStoppedIsTold(t *testing.T) {
	t.Parallel()
	told := map[Outcome]int{}
	s := &unfit{}
	r := Runner{
		Store: s, Log: slog.New(slog.DiscardHandler),
		Observe: func(o Outcome, n int, _ time.Duration) { told[o] += n },
	}
	if _, err := r.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.problem == "" || len(told) != 1 || told[Stopped] != 1 {
		t.Errorf("paused for %q, told of %v", s.problem, told)
	}
}
