package dashboard

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/feed"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

const (
	mostEnds    = 20_000 // of a window that are looked at
	mostOf      = 2_000  // waiting jobs, failures and results that are looked at
	mostRunning = 20     // that are shown
	queueLimit  = 1500 * time.Millisecond
	failuresOf  = 7 * 24 * time.Hour
	liveEvery   = time.Second // at least between two parts of a stream
)

// period is a window as the page names it.
type period struct {
	Name, Title string
	store.Window
}

func periods() []period {
	return []period{
		{"hour", "Hour", store.Window{Within: time.Hour, Buckets: 60}},
		{"day", "Day", store.Window{Within: 24 * time.Hour, Buckets: 48}},
		{"week", "Week", store.Window{Within: 7 * 24 * time.Hour, Buckets: 56}},
	}
}

// overview is what the page of the same name shows.
type overview struct {
	Now     now
	Periods []periodView
	Chosen  periodView
	Chart   chart
	store.Overview
	Outbox     store.Outbox
	FailedOnes []store.DeliveryEntry // webhooks that were given up lately
}

type periodView struct {
	period
	store.Outcomes
}

// Share is how many of the jobs succeeded, of those that were not canceled.
func (v periodView) Share() string { return percent(v.Succeeded, v.Succeeded+v.Failed) }

// now is the part of the overview that is live.
type now struct {
	Health  Health
	Running []store.Job
	More    bool
	Queues  []queueRow
	Silent  bool // the queue's service does not answer
}

// queueRow is a priority with its messages and waiting jobs.
type queueRow struct {
	store.PendingJobs
	Depth int
	Known bool // Depth is
	Share int  // of the fullest, in percent
}

func (p *page) overview() error {
	ctx, cancel := p.ctx()
	defer cancel()
	var o overview
	reader := p.by.Reader(ctx)
	all := periods()
	var windows []store.Window
	for _, one := range all {
		windows = append(windows, one.Window)
	}
	var outcomes []store.Outcomes
	var g errgroup.Group
	g.Go(func() (err error) { outcomes, err = reader.Outcomes(ctx, windows, mostEnds); return err })
	g.Go(func() (err error) { o.Overview, err = reader.Overview(ctx, failuresOf, mostOf); return err })
	g.Go(func() (err error) { o.Outbox, err = p.by.Operation().Outbox(ctx); return err })
	g.Go(func() (err error) {
		o.FailedOnes, err = p.by.Operation().ListDeliveries(ctx, store.DeliveryFilter{Status: store.DeliveryFailed, Limit: 3})
		return err
	})
	g.Go(func() (err error) { o.Now, err = p.now(ctx, nil); return err })
	if err := g.Wait(); err != nil {
		return err
	}
	o.Now.fill(o.Waiting)
	chosen := 1
	for i, one := range all {
		o.Periods = append(o.Periods, periodView{one, outcomes[i]})
		if one.Name == p.r.URL.Query().Get("of") {
			chosen = i
		}
	}
	o.Chosen = o.Periods[chosen]
	o.Chart = drawChart(o.Chosen)
	return p.show("overview", "Overview", "overview", o)
}

// now reads what the live part shows; waiting is nil while it is not known.
func (p *page) now(ctx context.Context, waiting []store.PendingJobs) (now, error) {
	n := now{Health: p.d.deps.Health()}
	found, err := p.by.Reader(ctx).FindJobs(ctx, store.JobQuery{Status: "running", Limit: mostRunning, Most: mostLooked})
	if err != nil {
		return n, err
	}
	n.Running, n.More = found.Jobs, found.Last != nil
	short, cancel := context.WithTimeout(ctx, queueLimit) // the queue's service may be slow; the page is not
	defer cancel()
	queues, err := p.by.Queues(short)
	n.Silent = err != nil
	for _, name := range []string{"high", "normal", "low"} {
		row := queueRow{PendingJobs: store.PendingJobs{Priority: name}}
		for _, q := range queues {
			if q.Priority == name {
				row.Depth, row.Known = q.Depth, true
			}
		}
		n.Queues = append(n.Queues, row)
	}
	n.fill(waiting)
	return n, nil
}

// fill adds the waiting jobs to the queues.
func (n *now) fill(waiting []store.PendingJobs) {
	most := 1
	for i := range n.Queues {
		for _, w := range waiting {
			if w.Priority == n.Queues[i].Priority {
				n.Queues[i].PendingJobs = w
			}
		}
		most = max(most, n.Queues[i].Depth, n.Queues[i].Jobs)
	}
	for i, q := range n.Queues {
		n.Queues[i].Share = 100 * max(q.Depth, q.Jobs) / most
	}
}

// overviewLive sends the live part whenever something has happened, once a second at most.
func (p *page) overviewLive() error {
	return p.follow(func(ctx context.Context) ([]byte, error) {
		o, err := p.by.Reader(ctx).Overview(ctx, time.Millisecond, mostOf) // what waits alone
		if err != nil {
			return nil, err
		}
		n, err := p.now(ctx, o.Waiting)
		if err != nil {
			return nil, err
		}
		return p.fragment("overview", "live", "overview", n)
	})
}

// follow sends a part of a page now, and again after events of any job. What it sends is the state of that moment: after
// a lost connection nothing is missing.
func (p *page) follow(render func(context.Context) ([]byte, error)) error {
	if err := p.mayFollow(); err != nil {
		return err
	}
	return p.by.Watch(p.w, p.r, "", 0, func(s *api.Stream, l *feed.Listener) error {
		for {
			// The first call returns at once: from then on the listener hears of every event, and what was before is rendered.
			if _, err := s.Next(l); err != nil && !errors.Is(err, feed.ErrReset) {
				return err
			}
			text, err := p.part(render)
			if err != nil {
				return err
			}
			s.Event("", "", text)
			if err := s.Pause(liveEvery); err != nil {
				return err
			}
		}
	})
}

// mayFollow refuses a stream to who did not ask for one: the server has another room for streams than for pages.
func (p *page) mayFollow() error {
	if p.live() {
		return nil
	}
	return &api.Problem{
		Status: http.StatusNotAcceptable, Code: "NOT_ACCEPTABLE",
		Detail: "This address is a stream of events. Open its page instead.",
	}
}

// part renders a part of a page within the limit of a read.
func (p *page) part(render func(context.Context) ([]byte, error)) ([]byte, error) {
	ctx, cancel := p.ctx()
	defer cancel()
	return render(ctx)
}
