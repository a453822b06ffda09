package rpc

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (c *client) PlanReplay(ctx context.Context, deadLetterID, taskID string) (store.ReplayPlan, error) {
	var plan store.ReplayPlan
	err := c.call(ctx, "aw_plan_replay", struct {
		idArg
		TaskID string `json:"task_id,omitempty"`
	}{idArg{c.tenant(), deadLetterID}, taskID}, &plan)
	return plan, err
}

func (c *client) Replay(ctx context.Context, r store.Replay) (store.Replayed, error) {
	var replayed store.Replayed
	err := c.call(ctx, "aw_replay", struct {
		tenantArg
		store.Replay
	}{c.tenant(), r}, &replayed)
	return replayed, err
}

func (c *client) PlanRequeue(ctx context.Context, jobID string) (store.RequeuePlan, error) {
	var plan store.RequeuePlan
	err := c.call(ctx, "aw_plan_requeue", struct {
		tenantArg
		JobID string `json:"job_id"`
	}{c.tenant(), jobID}, &plan)
	plan.Job = tidy(plan.Job)
	return plan, err
}

func (c *client) Requeue(ctx context.Context, r store.Requeue) (store.Job, error) {
	var j store.Job
	err := c.call(ctx, "aw_requeue", struct {
		tenantArg
		store.Requeue
	}{c.tenant(), r}, &j)
	return tidy(j), err
}

func (c *client) Purge(ctx context.Context, ids []string, unsentFor time.Duration) ([]string, error) {
	var gone []string
	if ids == nil {
		ids = []string{}
	}
	err := c.call(ctx, "aw_purge", struct {
		tenantArg
		IDs         []string `json:"ids"`
		UnsentForMS int64    `json:"unsent_for_ms"`
	}{c.tenant(), ids, ms(unsentFor)}, &gone)
	return gone, err
}
