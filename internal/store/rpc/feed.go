package rpc

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (c *client) Feed(ctx context.Context, q store.FeedQuery) (store.FeedPage, error) {
	args := struct {
		After any                 `json:"after,omitempty"`
		Keep  *millis             `json:"keep_ms,omitempty"`
		Jobs  []store.JobPosition `json:"jobs"`
		Limit int                 `json:"limit"`
	}{Jobs: q.Jobs, Limit: q.Limit}
	if q.Jobs == nil {
		args.Jobs = []store.JobPosition{}
	}
	switch {
	case q.After == nil:
	case *q.After == store.FeedPosition{}:
		args.After = struct{}{} // the stream's end
	default:
		args.After = q.After
	}
	if q.Keep > 0 {
		args.Keep = new(millis(q.Keep))
	}
	page, err := call[store.FeedPage](ctx, c, "aw_feed", args)
	for _, events := range [][]store.FeedEvent{page.Events, page.JobEvents} {
		for i := range events {
			events[i].Metadata = orNil(events[i].Metadata)
		}
	}
	return page, err
}

func (c *client) Wake(ctx context.Context, jobIDs []string) error {
	return c.run(ctx, "aw_wake", struct {
		Jobs []string `json:"jobs,omitempty"`
	}{jobIDs})
}

func (c *client) WakeWorkers(ctx context.Context) error {
	return c.run(ctx, "aw_wake", struct {
		Tasks bool `json:"tasks"`
	}{true})
}
