package memory

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Feed reads on in all events, and in single jobs. Each event is a transaction of its own, and none is open.
func (v Reader) Feed(ctx context.Context, q store.FeedQuery) (page store.FeedPage, err error) {
	for _, w := range q.Jobs {
		events, err := v.Events(ctx, w.JobID, w.Seq, q.Limit-len(page.JobEvents))
		if err != nil {
			return page, err
		}
		for _, e := range events {
			page.JobEvents = append(page.JobEvents, store.FeedEvent{JobEvent: e})
		}
	}
	if q.After == nil {
		return page, nil
	}
	v.Store.mu.Lock()
	defer v.Store.mu.Unlock()
	all := v.Store.feed
	end := store.FeedPosition{Tx: uint64(len(all)) + 1, At: time.Now()}
	page.Next = end
	after := *q.After
	if after == (store.FeedPosition{}) {
		return page, nil
	}
	if after.Tx > end.Tx || q.Keep > 0 && time.Since(after.At) > q.Keep {
		page.Reset = true
		return page, nil
	}
	for _, e := range all {
		if e.Position().Compare(after) <= 0 {
			continue
		}
		page.Events = append(page.Events, e)
		if len(page.Events) == q.Limit {
			page.Next, page.More = e.Position(), true
			break
		}
	}
	return page, nil
}

// Wake does nothing: there are no other processes.
func (Reader) Wake(context.Context, []string) error { return nil }

// WakeWorkers does nothing: there are no other processes.
func (Reader) WakeWorkers(context.Context) error { return nil }
