package main

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (w countedStore) AddSchedule(ctx context.Context, s store.Schedule) (store.Schedule, error) {
	return call(w.c, "store.AddSchedule", func() (store.Schedule, error) { return w.s.AddSchedule(ctx, s) })
}

func (w countedStore) ChangeSchedule(ctx context.Context, s store.ScheduleChange) (store.Schedule, error) {
	return call(w.c, "store.ChangeSchedule", func() (store.Schedule, error) { return w.s.ChangeSchedule(ctx, s) })
}

func (w countedStore) RemoveSchedule(ctx context.Context, id string) error {
	return call0(w.c, "store.RemoveSchedule", func() error { return w.s.RemoveSchedule(ctx, id) })
}

func (w countedStore) Schedule(ctx context.Context, id string) (store.Schedule, error) {
	return call(w.c, "store.Schedule", func() (store.Schedule, error) { return w.s.Schedule(ctx, id) })
}

func (w countedStore) Schedules(ctx context.Context, after string, limit int) ([]store.Schedule, error) {
	return call(w.c, "store.Schedules", func() ([]store.Schedule, error) { return w.s.Schedules(ctx, after, limit) })
}

// DueSchedules is asked by the clock, and not for a task: it is not a point.
func (w countedStore) DueSchedules(ctx context.Context, limit int) (store.DueSchedules, error) {
	return w.s.DueSchedules(ctx, limit)
}

func (w countedStore) FireSchedule(ctx context.Context, f store.Firing) (store.Fired, error) {
	return call(w.c, "store.FireSchedule", func() (store.Fired, error) { return w.s.FireSchedule(ctx, f) })
}

func (w countedStore) StopSchedule(ctx context.Context, s store.Schedule, problem string) error {
	return call0(w.c, "store.StopSchedule", func() error { return w.s.StopSchedule(ctx, s, problem) })
}
