package rpc

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func tidy(j store.Job) store.Job {
	j.Result = orNil(j.Result)
	return j
}

func (c *client) Job(ctx context.Context, id string) (store.Job, error) {
	j, err := call[store.Job](ctx, c, "aw_job", idArg{id})
	return tidy(j), err
}

func (c *client) Jobs(ctx context.Context, f store.JobFilter) ([]store.Job, error) {
	jobs, err := call[[]store.Job](ctx, c, "aw_jobs", f)
	for i, j := range jobs {
		jobs[i] = tidy(j)
	}
	return jobs, err
}

func (c *client) Events(ctx context.Context, jobID string, after int64, limit int) ([]store.JobEvent, error) {
	events, err := call[[]store.JobEvent](ctx, c, "aw_events", struct {
		JobID string `json:"job_id"`
		After int64  `json:"after"`
		Limit int    `json:"limit"`
	}{jobID, after, limit})
	for i := range events {
		events[i].Metadata = orNil(events[i].Metadata)
	}
	return events, err
}

// mostBytes is how large a page of dead letters gets; without a number, the database would list them whatever their size.
const mostBytes = 2 << 20

func (c *client) DeadLetters(ctx context.Context, f store.DeadLetterFilter) ([]store.DeadLetter, error) {
	if f.Bytes == 0 {
		f.Bytes = mostBytes
	}
	return call[[]store.DeadLetter](ctx, c, "aw_dead_letters", f)
}

func (c *client) DeadLetter(ctx context.Context, id string) (store.DeadLetter, error) {
	return call[store.DeadLetter](ctx, c, "aw_dead_letter", idArg{id})
}

func (c *client) JobDeliveries(ctx context.Context, jobID string) ([]store.DeliveryStatus, error) {
	return call[[]store.DeliveryStatus](ctx, c, "aw_deliveries", jobArg{jobID})
}

func (c *client) Rarity(ctx context.Context, question string) (store.Rarity, error) {
	return call[store.Rarity](ctx, c, "aw_rarity", struct {
		Text string `json:"text"`
	}{question})
}

func (c *client) Search(ctx context.Context, q store.Query) ([]store.Hit, error) {
	args := struct {
		store.Query
		Embedding *string `json:"embedding,omitempty"`
	}{Query: q}
	if q.Embedding != nil {
		if err := checkVector(q.Embedding); err != nil {
			return nil, err
		}
		text := vectorText(q.Embedding)
		args.Embedding = &text
	}
	found, err := call[[]hit](ctx, c, "aw_search", args)
	if err != nil {
		return nil, err
	}
	hits := make([]store.Hit, len(found))
	for i, h := range found {
		hits[i] = h.Hit
		hits[i].Marks = h.Marks
	}
	return hits, nil
}

// hit is a store.Hit with what only the search reads of it.
type hit struct {
	store.Hit
	Marks *store.Marks `json:"marks"`
}
