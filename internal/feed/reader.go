package feed

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// OfReader returns the events of single jobs that a reader has, without the stream of all jobs.
func OfReader(r store.Reader) store.Feeds { return reader{r} }

type reader struct{ store.Reader }

// Feed implements store.Feeds.
func (r reader) Feed(ctx context.Context, q store.FeedQuery) (page store.FeedPage, err error) {
	for _, j := range q.Jobs {
		if len(page.JobEvents) >= q.Limit {
			break
		}
		events, err := r.Events(ctx, j.JobID, j.Seq, q.Limit-len(page.JobEvents))
		if err != nil {
			return page, err
		}
		for _, e := range events {
			page.JobEvents = append(page.JobEvents, store.FeedEvent{JobEvent: e})
		}
	}
	return page, nil
}

// Wake implements store.Feeds: there is nobody to tell.
func (reader) Wake(context.Context, []string) error { return nil }

// WakeWorkers implements store.Feeds: there is nobody to tell.
func (reader) WakeWorkers(context.Context) error { return nil }
