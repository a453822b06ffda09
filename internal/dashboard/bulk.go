package dashboard

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// mostBulk is how many jobs one request changes.
const mostBulk = 200

// change is something that can be done to a job.
type change struct {
	Name  string // cancel or retry
	Title string
	Scope apitoken.Scope
	Does  string   // what it will do
	From  []string // the states in which it can be done
}

func changes() []change {
	return []change{
		{
			"cancel", "Cancel", apitoken.Submit,
			"A waiting job is canceled at once. A running one stops at its next safe point, and nothing of it is kept. Its " +
				"webhook says that it was canceled. This can't be undone.",
			[]string{"pending", "running"},
		},
		{
			"retry", "Retry", apitoken.Operate,
			"The job is queued again under its id, with all its attempts. Its webhook is sent again at its end.",
			[]string{"failed"},
		},
	}
}

// changeOf finds a change that the caller may make.
func (p *page) changeOf(name string) (change, error) {
	for _, c := range changes() {
		if c.Name == name {
			return c, p.by.Require(c.Scope)
		}
	}
	return change{}, errNoPage
}

func (c change) possible(j store.Job) bool { return slices.Contains(c.From, j.Status) }

// bulk is what the pages of a change of many jobs show.
type bulk struct {
	Change  change
	Filter  string
	Jobs    []store.Job // that will be changed
	Skipped []store.Job // whose state does not allow it
	More    bool        // there are more, for another time
	Results []result    // after the change
	Done    int
}

type result struct {
	ID  string
	Err string // empty: it was done
}

// bulkPreview shows what a change of chosen jobs, or of all that a filter finds, will touch.
func (p *page) bulkPreview() error {
	ctx, cancel := p.ctx()
	defer cancel()
	values := p.r.URL.Query()
	c, err := p.changeOf(values.Get("action"))
	if err != nil {
		return err
	}
	b := bulk{Change: c, Filter: values.Get("q")}
	var found []store.Job
	switch ids := values["id"]; {
	case values.Get("all") != "":
		if found, b.More, err = p.matching(b.Filter, c); err != nil {
			return err
		}
	case len(ids) == 0: // a live list may have lost what was chosen: that is no wish to change all
		return bad("No job is chosen. Choose some, or all that the filter lists.")
	default:
		for _, id := range ids[:min(len(ids), mostBulk)] {
			j, err := p.by.Reader(ctx).Job(ctx, id)
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			found = append(found, j)
		}
	}
	for _, j := range found {
		if c.possible(j) {
			b.Jobs = append(b.Jobs, j)
		} else {
			b.Skipped = append(b.Skipped, j)
		}
	}
	return p.show("bulk", c.Title+" jobs", "jobs", b)
}

// matching finds the jobs of a filter that a change can be made to. A filter of which a part was not understood would find
// more than was meant.
func (p *page) matching(text string, c change) (found []store.Job, more bool, err error) {
	ctx, cancel := p.ctx()
	defer cancel()
	f := parseFilter(text, time.Now())
	if len(f.Problems) > 0 {
		return nil, false, bad("The filter is not understood: " + strings.Join(f.Problems, "; ") + ".")
	}
	q := f.Query
	q.Limit, q.Most = mostBulk, mostLooked
	from := c.From
	if q.Status != "" {
		from = []string{q.Status}
	}
	for _, status := range from {
		q.Status = status
		page, err := p.by.Reader(ctx).FindJobs(ctx, q)
		if err != nil {
			return nil, false, err
		}
		found, more = append(found, page.Jobs...), more || page.Last != nil
	}
	found, cutOff := cut(found, mostBulk)
	return found, more || cutOff, nil
}

// bulk changes the jobs that the preview has shown, by their ids. One that can't be changed holds up no other. When the
// database fails, or the time is over, the page tells what was done.
func (p *page) bulk() error {
	p.r.Body = http.MaxBytesReader(p.w, p.r.Body, 256<<10)
	if err := p.r.ParseForm(); err != nil {
		return &api.Problem{Status: http.StatusBadRequest, Code: "VALIDATION_ERROR", Detail: "The form could not be read."}
	}
	form := p.r.PostForm //nolint:forbidigo // a request's form, no call of a client
	c, err := p.changeOf(form.Get("action"))
	if err != nil {
		return err
	}
	ctx, cancel := p.long()
	defer cancel()
	ctx, done := p.by.Together(ctx)
	b := bulk{Change: c, Filter: form.Get("q")}
	ids, over := form["id"], false
	for _, id := range ids[:min(len(ids), mostBulk)] {
		if over {
			b.Results = append(b.Results, result{id, "It was not tried. Try it again."})
			continue
		}
		r := result{ID: id}
		if err := p.change(ctx, c, id); err == nil {
			b.Done++
		} else if known, ok := errors.AsType[*api.Problem](err); ok && known.Status < http.StatusInternalServerError {
			r.Err = known.Detail
		} else if b.Done == 0 {
			return err
		} else {
			r.Err, over = "It was not answered, and may have been done.", true
		}
		b.Results = append(b.Results, r)
	}
	done()
	return p.show("bulk", c.Title+" jobs", "jobs", b)
}

// change makes a change to one job.
func (p *page) change(ctx context.Context, c change, id string) error {
	if c.Name == "cancel" {
		_, err := p.by.Cancel(ctx, id)
		return err
	}
	_, err := p.by.Retry(ctx, id)
	if known, ok := errors.AsType[*api.Problem](err); ok && known.Code == "ALREADY_REPLAYED" {
		return &api.Problem{
			Status: known.Status, Code: known.Code,
			Detail: "It was replayed as another job. To run it once more, replay its dead letter again.",
		}
	}
	return err
}
