package dashboard

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// replayed is what became of a replay by filter. Its jobs are those replays of the filter's type that were made between its
// first and its last one: so the page needs no memory of its own, and whoever opens its address sees the same. Others that
// were made meanwhile may be among them, but are not counted in its heading.
type replayed struct {
	Since, Before time.Time // zero: no job was made
	Matched, Done int
	Filter        letterFilter
	Batch         batch
}

// replayedOf is the query of the page of a replay.
func replayedOf(b letterBulk, done api.BulkReplayed) string {
	pairs := []string{
		"type", b.Filter.Type, "class", b.Filter.Class, "reason", b.Filter.Reason, "matched", strconv.Itoa(done.Matched),
		"replayed", strconv.Itoa(done.Replayed),
	}
	if n := len(done.Jobs); n > 0 {
		last := done.Jobs[n-1].CreatedAt.Add(time.Microsecond) // the exactness of the database
		pairs = append(pairs, "since", done.Jobs[0].CreatedAt.Format(time.RFC3339Nano), "before", last.Format(time.RFC3339Nano))
	}
	return query(pairs...)
}

// of is the query of the same page.
func (r replayed) of() string {
	return query("type", r.Filter.Type, "since", r.Since.Format(time.RFC3339Nano), "before", r.Before.Format(time.RFC3339Nano))
}

// Live is the address of the live part.
func (r replayed) Live() string { return "dead-letters/replayed/live" + r.of() }

// replayedIn reads which replay is asked for.
func (p *page) replayedIn() (r replayed, err error) {
	values := p.r.URL.Query()
	r.Filter = letterFilterOf(values.Get)
	r.Matched, _ = strconv.Atoi(values.Get("matched")) // of a wrong number: as many as there are
	r.Done, _ = strconv.Atoi(values.Get("replayed"))
	if values.Get("since") == "" {
		return r, nil
	}
	var wrong error
	if r.Since, err = time.Parse(time.RFC3339Nano, values.Get("since")); err != nil {
		wrong = err
	}
	if r.Before, err = time.Parse(time.RFC3339Nano, values.Get("before")); err != nil {
		wrong = err
	}
	if wrong != nil {
		return r, bad("This address is not of a replay.")
	}
	return r, nil
}

// read reads the jobs of a replay, in the order in which they were made.
func (p *page) read(ctx context.Context, r replayed) (batch, error) {
	if r.Since.IsZero() {
		return batch{}, nil
	}
	found, err := p.by.Reader(ctx).FindJobs(ctx, store.JobQuery{
		Replays: true, Type: r.Filter.Type, Since: r.Since, Before: r.Before, Limit: mostReplayed, Most: mostLooked,
	})
	slices.Reverse(found.Jobs)
	return batchOf(found.Jobs), err
}

func (p *page) replayed() error {
	ctx, cancel := p.ctx()
	defer cancel()
	r, err := p.replayedIn()
	if err != nil {
		return err
	}
	if r.Batch, err = p.read(ctx, r); err != nil {
		return err
	}
	if r.Done <= 0 {
		r.Done = len(r.Batch.Jobs)
	}
	r.Matched = max(r.Matched, r.Done)
	return p.show("replayed", "Replayed dead letters", "letters", r)
}

// replayedLive sends the jobs of a replay whenever something has happened.
func (p *page) replayedLive() error {
	r, err := p.replayedIn()
	if err != nil {
		return err
	}
	return p.follow(func(ctx context.Context) ([]byte, error) {
		b, err := p.read(ctx, r)
		if err != nil {
			return nil, err
		}
		return p.fragment("replayed", "batch", "letters", b)
	})
}
