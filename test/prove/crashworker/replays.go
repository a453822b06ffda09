package main

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (w countedStore) PlanReplay(ctx context.Context, deadLetterID, taskID string) (store.ReplayPlan, error) {
	return call(w.c, "store.PlanReplay",
		func() (store.ReplayPlan, error) { return w.s.PlanReplay(ctx, deadLetterID, taskID) })
}

func (w countedStore) Replay(ctx context.Context, r store.Replay) (store.ReplayAnswer, error) {
	return call(w.c, "store.Replay", func() (store.ReplayAnswer, error) { return w.s.Replay(ctx, r) })
}

func (w countedStore) PlanRequeue(ctx context.Context, jobID string) (store.RequeuePlan, error) {
	return call(w.c, "store.PlanRequeue", func() (store.RequeuePlan, error) { return w.s.PlanRequeue(ctx, jobID) })
}

func (w countedStore) Requeue(ctx context.Context, r store.Requeue) (store.Job, error) {
	return call(w.c, "store.Requeue", func() (store.Job, error) { return w.s.Requeue(ctx, r) })
}

func (w countedStore) Purge(ctx context.Context, ids []string, unsentFor time.Duration) ([]string, error) {
	return call(w.c, "store.Purge", func() ([]string, error) { return w.s.Purge(ctx, ids, unsentFor) })
}
