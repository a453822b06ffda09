package dashboard

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

const (
	jobsPerPage = 50
	mostLooked  = 20_000 // jobs that one page of a search looks at
	mostCounted = 1_000  // jobs of a status
)

// jobList is what the page of jobs shows.
type jobList struct {
	Filter filter
	Tabs   []tab
	Rows   jobRows
	Next   string // address of the next page; empty: there is none
	First  bool
	Exact  *store.Job // whose id is what was typed
}

// jobRows is the part of it that is live.
type jobRows struct {
	Jobs   []store.Job
	Looked int // the search stopped after so many; zero: it did not
	Select bool
	Empty  string
}

// tab is a status to choose.
type tab struct {
	Title, Status, URL string
	Count              string
	Current            bool
}

func (p *page) jobs() error {
	ctx, cancel := p.ctx()
	defer cancel()
	list := jobList{Filter: parseFilter(p.r.URL.Query().Get("q"), time.Now())}
	after, err := placeOf[store.JobCursor](p.r)
	if err != nil {
		return err
	}
	list.First = after == nil
	var found store.FoundJobs
	var counts []store.StatusCount
	reader := p.by.Reader(ctx)
	var g errgroup.Group
	g.Go(func() (err error) { list.Rows, found, err = p.rows(ctx, list.Filter, after); return err })
	g.Go(func() (err error) { counts, err = reader.JobCounts(ctx, mostCounted); return err })
	if err := g.Wait(); err != nil {
		return err
	}
	if text := list.Filter.Query.Text; text != "" && len(found.Jobs) == 0 {
		if j, err := reader.Job(ctx, text); err == nil { // older than what was looked at
			list.Exact = &j
		}
	}
	list.Tabs = tabsOf(list.Filter, counts)
	if next := cursorOf(found.Last); next != "" {
		list.Next = "jobs" + query("q", list.Filter.Text, "after", next)
	}
	return p.show("jobs", "Jobs", "jobs", list)
}

// rows reads a page of jobs.
func (p *page) rows(ctx context.Context, f filter, after *store.JobCursor) (jobRows, store.FoundJobs, error) {
	q := f.Query
	q.After, q.Limit, q.Most = after, jobsPerPage, mostLooked
	found, err := p.by.Reader(ctx).FindJobs(ctx, q)
	r := jobRows{Jobs: found.Jobs, Select: p.by.Scope() > 1}
	if len(found.Jobs) < jobsPerPage && found.Last != nil {
		r.Looked = found.Looked
	}
	r.Empty = "There is no job yet. Upload a document, or submit a job over the API."
	if f.Text != "" {
		r.Empty = "No job is like this."
	}
	return r, found, err
}

func tabsOf(f filter, counts []store.StatusCount) []tab {
	tabs := []tab{{Title: "All", URL: "jobs" + query("q", f.with("status", "")), Current: f.Query.Status == ""}}
	for _, c := range counts {
		t := tab{
			Title: title(statusWord(c.Status)), Status: c.Status, Current: f.Query.Status == c.Status, Count: number(c.Jobs),
			URL: "jobs" + query("q", f.with("status", c.Status)),
		}
		if c.More {
			t.Count += "+"
		}
		tabs = append(tabs, t)
	}
	return tabs
}

// jobsLive sends the rows of the first page whenever something has happened.
func (p *page) jobsLive() error {
	text := p.r.URL.Query().Get("q")
	return p.follow(func(ctx context.Context) ([]byte, error) {
		rows, _, err := p.rows(ctx, parseFilter(text, time.Now()), nil)
		if err != nil {
			return nil, err
		}
		return p.fragment("jobs", "rows", "jobs", rows)
	})
}
