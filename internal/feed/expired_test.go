package feed_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/feed"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// expired has a job whose first two events have expired; the third is written when later is set.
type expired struct{ later atomic.Bool }

func (e *expired) Feed(_ context.Context, q store.FeedQuery) (page store.FeedPage, _ error) {
	for _, j := range q.Jobs {
		if e.later.Load() && j.Seq < 3 {
			page.JobEvents = append(page.JobEvents, store.FeedEvent{JobEvent: store.JobEvent{JobID: j.JobID, Seq: 3}})
		}
	}
	return page, nil
}

func (*expired) Wake(context.Context, []string) error { return nil }

func (*expired) WakeWorkers(context.Context) error { return nil }

// TestExpiredEvents: a listener of a job whose events have expired gets those that are written later.
func TestExpiredEvents(t *testing.T) {
	t.Parallel()
	s := &expired{}
	f := feed.New(feed.Config{Store: s})
	defer f.Close()
	l := f.Watch("a", 0)
	defer l.Close()
	for !l.CaughtUp() {
		if events, err := l.Next(t.Context()); err != nil || len(events) > 0 {
			t.Fatalf("events %v, %v", events, err)
		}
	}
	s.later.Store(true)
	f.Written("a")
	if events, err := l.Next(t.Context()); err != nil || len(events) != 1 || events[0].Seq != 3 {
		t.Errorf("events %v, %v", events, err)
	}
}
