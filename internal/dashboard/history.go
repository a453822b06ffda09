package dashboard

import (
	"context"
	"slices"
	"strconv"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// A job's page reads its first events, which have the begin of its timeline, and its last ones. All of them are on the
// pages of its events.
const (
	mostEvents     = 5_000 // of a job that are read
	firstEvents    = 1_000 // of them, those from its begin
	eventsPerRead  = 1_000
	eventsPerPage  = 200
	childrenOfPage = 50
)

// eventsOf reads the events of a job whose last one has a number: the first and the last, up to a bound.
func (p *page) eventsOf(ctx context.Context, id string, last int64) (all []store.JobEvent, err error) {
	after := int64(0)
	for len(all) < mostEvents {
		if len(all) >= firstEvents {
			after = max(after, last-(mostEvents-firstEvents))
		}
		found, err := p.by.Reader(ctx).Events(ctx, id, after, eventsPerRead)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
		if len(found) < eventsPerRead {
			break
		}
		after = found[len(found)-1].Seq
	}
	return all, nil
}

// keep adds an event to those of a page that is live, and leaves out the oldest after the first ones if they are too many.
func keep(all []store.JobEvent, e store.JobEvent) []store.JobEvent {
	if len(all) >= mostEvents {
		all = slices.Delete(all, firstEvents, firstEvents+eventsPerRead)
	}
	return append(all, e)
}

// eventPage is a page of all events of a job, the oldest first.
type eventPage struct {
	Job    store.Job
	Events []store.JobEvent
	Last   int64 // the number of its last event
	Next   string
	First  bool
}

func (p *page) events() error {
	ctx, cancel := p.ctx()
	defer cancel()
	id := p.r.PathValue("id")
	after, _ := strconv.ParseInt(p.r.URL.Query().Get("after"), 10, 64) // of a wrong number: from the begin
	v := eventPage{First: after <= 0}
	var err error
	if v.Job, err = p.by.Reader(ctx).Job(ctx, id); err != nil {
		return err
	}
	about, err := p.by.Operation().JobContext(ctx, id)
	if err != nil {
		return err
	}
	v.Last = about.Events
	if v.Events, err = p.by.Reader(ctx).Events(ctx, id, max(after, 0), eventsPerPage+1); err != nil {
		return err
	}
	var more bool
	if v.Events, more = cut(v.Events, eventsPerPage); more {
		v.Next = "jobs/" + id + "/events" + query("after", strconv.FormatInt(v.Events[len(v.Events)-1].Seq, 10))
	}
	return p.show("events", "Events of "+subject(v.Job), "jobs", v)
}

// childPage is a page of the jobs that a job has submitted, or that replay it, the newest first.
type childPage struct {
	Job   store.Job
	Batch batch
	Next  string
	First bool
}

func (p *page) children() error {
	ctx, cancel := p.ctx()
	defer cancel()
	id := p.r.PathValue("id")
	after, err := placeOf[store.JobCursor](p.r)
	if err != nil {
		return err
	}
	v := childPage{First: after == nil}
	if v.Job, err = p.by.Reader(ctx).Job(ctx, id); err != nil {
		return err
	}
	found, err := p.by.Reader(ctx).FindJobs(ctx, store.JobQuery{
		Parent: id, After: after, Limit: childrenOfPage, Most: mostLooked,
	})
	if err != nil {
		return err
	}
	if next := cursorOf(found.Last); next != "" {
		v.Next = "jobs/" + id + "/children" + query("after", next)
	}
	v.Batch = batchOf(found.Jobs)
	return p.show("children", "Jobs of "+subject(v.Job), "jobs", v)
}
