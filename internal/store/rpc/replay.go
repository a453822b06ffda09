package rpc

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (c *client) PlanReplay(ctx context.Context, deadLetterID, taskID string) (store.ReplayPlan, error) {
	plan, err := call[store.ReplayPlan](ctx, c, "aw_plan_replay", struct {
		idArg
		TaskID string `json:"task_id,omitempty"`
	}{idArg{deadLetterID}, taskID})
	return plan, err
}

func (c *client) Replay(ctx context.Context, r store.Replay) (store.ReplayAnswer, error) {
	return call[store.ReplayAnswer](ctx, c, "aw_replay", r)
}

func (c *client) PlanRequeue(ctx context.Context, jobID string) (store.RequeuePlan, error) {
	plan, err := call[store.RequeuePlan](ctx, c, "aw_plan_requeue", jobArg{jobID})
	plan.Job = tidy(plan.Job)
	return plan, err
}

func (c *client) Requeue(ctx context.Context, r store.Requeue) (store.Job, error) {
	j, err := call[store.Job](ctx, c, "aw_requeue", r)
	return tidy(j), err
}

func (c *client) Purge(ctx context.Context, ids []string, unsentFor time.Duration) ([]string, error) {
	if ids == nil {
		ids = []string{}
	}
	return call[[]string](ctx, c, "aw_purge", struct {
		IDs       []string `json:"ids"`
		UnsentFor millis   `json:"unsent_for_ms"`
	}{ids, millis(unsentFor)})
}
