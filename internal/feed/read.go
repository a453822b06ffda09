package feed

import (
	"context"
	"maps"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// outcome is what a read found.
type outcome struct {
	events     int
	given      int // listeners that got some, about
	more, held bool
}

// read reads once for all listeners, and hands out what it found.
func (f *Feed) read(ctx context.Context) (outcome, error) {
	q := f.query()
	if q.After == nil && len(q.Jobs) == 0 {
		return outcome{}, nil
	}
	page, err := f.cfg.Store.Feed(ctx, q)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.all = true // it was not read
		return outcome{}, err
	}
	if ctx.Err() != nil {
		return outcome{}, ctx.Err()
	}
	got := outcome{events: len(page.Events) + len(page.JobEvents), more: len(page.JobEvents) == pageSize}
	if got.more {
		for _, j := range q.Jobs {
			f.dirty[j.JobID] = true
		}
	}
	if q.After != nil && *q.After == f.position { // else its followers are gone
		got.held, got.more = page.Held, got.more || page.More
		f.position = page.Next
		for _, e := range page.Events {
			f.handOutLocked(&Event{FeedEvent: e}, true)
		}
	}
	asked := map[string]int64{}
	for _, j := range q.Jobs {
		asked[j.JobID] = j.Seq
	}
	for _, e := range page.JobEvents {
		if t := f.jobs[e.JobID]; t != nil && t.seq == asked[e.JobID] && e.Seq > t.seq+1 {
			t.seq = e.Seq - 1 // those between have expired: a job's events are read in order
		}
		asked[e.JobID] = e.Seq
		f.handOutLocked(&Event{FeedEvent: e}, false)
	}
	got.given = len(page.JobEvents)
	if len(page.Events) > 0 {
		got.given += len(f.followers)
	}
	got.more = got.more || len(f.dirty) > 0
	return got, nil
}

// query is what to read next.
func (f *Feed) query() store.FeedQuery {
	f.mu.Lock()
	defer f.mu.Unlock()
	q := store.FeedQuery{Limit: pageSize}
	if f.all {
		for id := range f.jobs {
			f.dirty[id] = true
		}
		f.all = false
	}
	for id := range maps.Keys(f.dirty) {
		if len(q.Jobs) == maxAsked {
			break
		}
		delete(f.dirty, id)
		if t := f.jobs[id]; t != nil {
			q.Jobs = append(q.Jobs, store.JobPosition{JobID: id, Seq: t.seq})
		}
	}
	if len(f.followers) > 0 {
		after := f.position
		q.After = &after
	}
	return q
}

// handOutLocked gives an event to those who listen to its job, and, if it comes from the stream, to the followers.
func (f *Feed) handOutLocked(e *Event, stream bool) {
	if t := f.jobs[e.JobID]; t != nil && e.Seq == t.seq+1 { // else it was handed out, or others come first
		t.seq = e.Seq
		for l := range t.listeners {
			f.giveLocked(l, e)
		}
	}
	if stream {
		for l := range f.followers {
			f.giveLocked(l, e)
		}
	}
}

func (f *Feed) giveLocked(l *Listener, e *Event) {
	if !l.give(e) {
		f.removeLocked(l)
	}
}
