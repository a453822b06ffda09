package rpc

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

type idArg struct {
	tenantArg
	ID string `json:"id"`
}

func tidy(j store.Job) store.Job {
	j.Result = orNil(j.Result)
	return j
}

func (c *client) Job(ctx context.Context, id string) (store.Job, error) {
	var j store.Job
	err := c.call(ctx, "aw_job", idArg{c.tenant(), id}, &j)
	return tidy(j), err
}

func (c *client) Jobs(ctx context.Context, f store.JobFilter) ([]store.Job, error) {
	var jobs []store.Job
	err := c.call(ctx, "aw_jobs", struct {
		tenantArg
		store.JobFilter
	}{c.tenant(), f}, &jobs)
	for i, j := range jobs {
		jobs[i] = tidy(j)
	}
	return jobs, err
}

func (c *client) Events(ctx context.Context, jobID string, after int64, limit int) ([]store.JobEvent, error) {
	var events []store.JobEvent
	err := c.call(ctx, "aw_events", struct {
		tenantArg
		JobID string `json:"job_id"`
		After int64  `json:"after"`
		Limit int    `json:"limit"`
	}{c.tenant(), jobID, after, limit}, &events)
	for i := range events {
		events[i].Metadata = orNil(events[i].Metadata)
	}
	return events, err
}

func (c *client) DeadLetters(ctx context.Context, f store.DeadLetterFilter) ([]store.DeadLetter, error) {
	var letters []store.DeadLetter
	err := c.call(ctx, "aw_dead_letters", struct {
		tenantArg
		store.DeadLetterFilter
	}{c.tenant(), f}, &letters)
	return letters, err
}

func (c *client) DeadLetter(ctx context.Context, id string) (store.DeadLetter, error) {
	var d store.DeadLetter
	err := c.call(ctx, "aw_dead_letter", idArg{c.tenant(), id}, &d)
	return d, err
}

func (c *client) JobDeliveries(ctx context.Context, jobID string) ([]store.DeliveryStatus, error) {
	var deliveries []store.DeliveryStatus
	err := c.call(ctx, "aw_deliveries", struct {
		tenantArg
		JobID string `json:"job_id"`
	}{c.tenant(), jobID}, &deliveries)
	return deliveries, err
}

func (c *client) Search(ctx context.Context, q store.Query) ([]store.Hit, error) {
	args := struct {
		tenantArg
		store.Query
		Embedding *string `json:"embedding,omitempty"`
	}{tenantArg: c.tenant(), Query: q}
	if q.Embedding != nil {
		if err := checkVector(q.Embedding); err != nil {
			return nil, err
		}
		text := vectorText(q.Embedding)
		args.Embedding = &text
	}
	var hits []store.Hit
	err := c.call(ctx, "aw_search", args, &hits)
	return hits, err
}
