package cli

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/feed"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// rows is a store whose rows a test wrote. What it does not implement would panic.
type rows struct {
	store.Store

	mu         sync.Mutex
	jobs       []store.Job
	events     map[string][]store.JobEvent
	deliveries []store.DeliveryStatus
	outbox     []store.DeliveryEntry // the newest first
	listed     store.DeliveryFilter
	letters    []store.DeadLetter
	hits       []store.Hit
	documents  []store.DocumentEntry // in the order of a listing
	asked      store.Query
	canceled   []string
	hidden     map[string]bool // jobs that no list has room for
	fail       error           // what every question is answered with
	failures   int             // how often; 0: always
	submitted  map[string]store.Submission
	sent       map[string]bool
	cognee     store.CogneeState
	schedules  []store.Schedule
}

func (r *rows) Schedules(context.Context, string, int) ([]store.Schedule, error) {
	return r.schedules, r.trouble()
}

func (r *rows) CogneeState(context.Context) (store.CogneeState, error) { return r.cognee, r.trouble() }

func (r *rows) RetryCognee(context.Context) (store.CogneeRetried, error) {
	return store.CogneeRetried{Documents: 1, Datasets: 2}, r.trouble()
}

func (r *rows) CloseCognee(context.Context) (int, error) { return 5, r.trouble() }

func (r *rows) trouble() error {
	if r.fail == nil {
		return nil
	}
	err := r.fail
	if r.failures > 0 {
		if r.failures--; r.failures == 0 {
			r.fail = nil
		}
	}
	return err
}

func (r *rows) Job(_ context.Context, id string) (store.Job, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.trouble(); err != nil {
		return store.Job{}, err
	}
	for _, j := range r.jobs {
		if j.ID == id {
			return j, nil
		}
	}
	return store.Job{}, store.ErrNotFound
}

func (r *rows) PlanRequeue(ctx context.Context, id string) (store.RequeuePlan, error) {
	_, err := r.Job(ctx, id)
	return store.RequeuePlan{}, err
}

func (r *rows) ResendDelivery(context.Context, store.DeliveryResend) (store.DeliveryEntry, error) {
	return store.DeliveryEntry{}, store.ErrNotFound
}

func (r *rows) Jobs(_ context.Context, f store.JobFilter) ([]store.Job, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []store.Job
	for _, j := range r.jobs {
		if (f.Status == "" || j.Status == f.Status) && !r.hidden[j.ID] {
			out = append(out, j)
		}
	}
	return out, r.trouble()
}

func (r *rows) Events(_ context.Context, id string, after int64, limit int) ([]store.JobEvent, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []store.JobEvent
	for _, e := range r.events[id] {
		if e.Seq > after && len(out) < limit {
			out = append(out, e)
		}
	}
	return out, r.trouble()
}

func (r *rows) Feed(ctx context.Context, q store.FeedQuery) (store.FeedPage, error) {
	return feed.OfReader(r).Feed(ctx, q)
}

func (r *rows) JobDeliveries(context.Context, string) ([]store.DeliveryStatus, error) {
	return r.deliveries, r.trouble()
}

func (r *rows) ListDeliveries(_ context.Context, f store.DeliveryFilter) (found []store.DeliveryEntry, err error) {
	r.listed = f
	for _, d := range r.outbox {
		if f.Status == "" || d.Status == f.Status {
			found = append(found, d)
		}
	}
	return found, r.trouble()
}

func (r *rows) DeadLetters(context.Context, store.DeadLetterFilter) ([]store.DeadLetter, error) {
	return r.letters, r.trouble()
}

func (r *rows) DeadLetter(_ context.Context, id string) (store.DeadLetter, error) {
	for _, d := range r.letters {
		if d.ID == id {
			return d, r.trouble()
		}
	}
	return store.DeadLetter{}, store.ErrNotFound
}

func (r *rows) Search(_ context.Context, q store.Query) ([]store.Hit, error) {
	r.asked = q
	return r.hits, r.trouble()
}

// Documents is as the database's, whose cursor is a place in the order of names and sets.
func (r *rows) Documents(_ context.Context, q store.DocumentQuery) (found []store.DocumentEntry, err error) {
	has := func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(q.Filter)) }
	for _, d := range r.documents {
		after := q.After == nil || d.Filename > q.After.Filename || d.Filename == q.After.Filename &&
			d.DocumentSet > q.After.DocumentSet
		if after && (q.DocumentSet == "" || d.DocumentSet == q.DocumentSet) && (has(d.Filename) || has(d.Title)) &&
			len(found) < q.Limit {
			found = append(found, d)
		}
	}
	return found, r.trouble()
}

func (r *rows) DocumentSets(context.Context, int) (sets []store.DocumentSet, err error) {
	for _, d := range r.documents {
		if !slices.ContainsFunc(sets, func(s store.DocumentSet) bool { return s.Name == d.DocumentSet }) {
			sets = append(sets, store.DocumentSet{Name: d.DocumentSet})
		}
	}
	return sets, r.trouble()
}

func (r *rows) RequestCancel(_ context.Context, id, _ string) (store.Job, error) {
	for _, j := range r.jobs {
		if j.ID == id {
			if job.State(j.Status).Terminal() {
				return j, store.ErrTerminal
			}
			r.canceled = append(r.canceled, id)
			return j, nil
		}
	}
	return store.Job{ID: id, Status: "canceled"}, nil
}

func (r *rows) Submit(_ context.Context, s store.Submission) (store.SubmitAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.trouble(); err != nil {
		return store.SubmitAnswer{}, err
	}
	if old, ok := r.submitted[s.JobID]; ok {
		if old.Fingerprint != s.Fingerprint {
			return store.SubmitAnswer{}, store.ErrConflict
		}
		return store.SubmitAnswer{State: "pending", Sent: r.sent[s.JobID]}, nil
	}
	if r.submitted == nil {
		r.submitted, r.sent = map[string]store.Submission{}, map[string]bool{}
	}
	r.submitted[s.JobID] = s
	return store.SubmitAnswer{Created: true, State: "pending"}, nil
}

func (r *rows) MarkSent(_ context.Context, id, _ string) error {
	r.sent[id] = true
	return nil
}

// happen appends events to a job and sets its state, as one transaction does.
func (r *rows) happen(id string, state job.State, events ...store.JobEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range events {
		e.Seq, e.JobID, e.At = int64(len(r.events[id]))+1, id, time.Now()
		r.events[id] = append(r.events[id], e)
	}
	for i := range r.jobs {
		if r.jobs[i].ID == id {
			r.jobs[i].Status = string(state)
		}
	}
}

// put adds a job, the newest.
func (r *rows) put(j store.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.jobs = append([]store.Job{j}, r.jobs...)
}

// edit changes a job.
func (r *rows) edit(id string, change func(*store.Job)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.jobs {
		if r.jobs[i].ID == id {
			change(&r.jobs[i])
		}
	}
}

// hide leaves a job out of lists, as when newer ones take its place.
func (r *rows) hide(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hidden = map[string]bool{id: true}
}

// refuse fails this many requests; 0: all.
func (r *rows) refuse(err error, times int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail, r.failures = err, times
}
