package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// begins remembers calls of begin that were not answered: the store may have executed one, or may still do so, and
// lease the job to an attempt that does not exist. Every later begin of the job names them, and the worker reports
// them, so that such an attempt is not counted (I9), also when another worker receives the message. Each begin has its
// own id, so that it can't be confused with a real attempt.
type begins struct {
	mu         sync.Mutex
	unanswered map[string][]unansweredBegin // by job, the oldest first
	added      chan struct{}                // signaled, capacity 1, when a begin was not answered
}

// unansweredBegin is a begin that was not answered.
type unansweredBegin struct {
	id       string
	at       time.Time
	reported time.Time // when the first report that the store accepted was sent; zero: none was accepted
}

// How long an unanswered begin is remembered, which is longer than any lease, and how many for each job.
const (
	unansweredKeptFor   = time.Hour
	maxUnansweredBegins = 400 // as many as an outage of an hour leaves
)

// reportBatch is how many jobs one report names: each may have maxUnansweredBegins ids.
const reportBatch = 50

func newBegins() *begins {
	return &begins{unanswered: map[string][]unansweredBegin{}, added: make(chan struct{}, 1)}
}

// lost notes that a begin was not answered.
func (b *begins) lost(jobID, beginID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for id, all := range b.unanswered {
		if now.Sub(all[len(all)-1].at) > unansweredKeptFor {
			delete(b.unanswered, id)
		}
	}
	all := append(b.unanswered[jobID], unansweredBegin{id: beginID, at: now})
	b.unanswered[jobID] = slices.Clone(all[max(0, len(all)-maxUnansweredBegins):])
	select {
	case b.added <- struct{}{}:
	default: // signaled already
	}
}

// of lists the begins of a job that were not answered; nil: none.
func (b *begins) of(jobID string) (ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.unanswered[jobID] {
		ids = append(ids, s.id)
	}
	return ids
}

// unreported lists the begins to report at a time. The store may execute a begin after a report of it, so a begin is
// reported again until a lease has passed since the first report. Begins without an accepted report come first.
func (b *begins) unreported(now time.Time, lease time.Duration) (due []store.UnansweredBegins) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var again []store.UnansweredBegins
	for _, jobID := range slices.Sorted(maps.Keys(b.unanswered)) {
		one, fresh := store.UnansweredBegins{JobID: jobID}, false
		for _, s := range b.unanswered[jobID] {
			if now.Sub(s.at) <= unansweredKeptFor && (s.reported.IsZero() || now.Sub(s.reported) <= lease) {
				one.IDs, fresh = append(one.IDs, s.id), fresh || s.reported.IsZero()
			}
		}
		switch {
		case fresh:
			due = append(due, one)
		case len(one.IDs) > 0:
			again = append(again, one)
		}
	}
	return append(due, again...)
}

// reported notes that the store accepted a report of a job's begins that was sent at a time.
func (b *begins) reported(report []store.UnansweredBegins, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range report {
		all := b.unanswered[one.JobID]
		for i := range all {
			if all[i].reported.IsZero() && slices.Contains(one.IDs, all[i].id) {
				all[i].reported = at
			}
		}
	}
}

// carriedOutLate is how long after it was sent a begin may be carried out by a database that comes back.
const carriedOutLate = 30 * time.Second

// callBegin calls store.Begin. A call without an answer may still be executed, so it is remembered even when a later
// one is answered. After an outage the jobs whose leases ended in it are left to their holders for a moment.
func (e *Engine) callBegin(ctx context.Context, a *attempt) (b store.BeginAnswer, err error) {
	asking := e.beginning(a)
	asking.ID, asking.Unanswered = e.ids.next(), e.begins.of(a.task.ID)
	if away := e.outages.away(e.commitPause()); away > 0 {
		asking.Away = away + carriedOutLate
	}
	a.calledAt = time.Now()
	over := e.outages.call()
	defer func() { over(transient(err), refused(err)) }() // also when it panics; the fault of one message is no outage
	b, err = e.deps.Store.Begin(ctx, asking)
	if transient(err) {
		e.begins.lost(a.task.ID, asking.ID)
	}
	return b, err
}

// reportLoop reports unanswered begins until ctx is done. It calls the store only when there are any.
func (e *Engine) reportLoop(ctx context.Context) {
	for {
		select {
		case <-e.begins.added:
		case <-ctx.Done():
			return
		}
		longest := e.commitPause()
		waits, failing := retry.Backoff{First: 200 * time.Millisecond, Max: longest, Jitter: 0.1}.Waits(), false
		for wait := waits.Next(); retry.Sleep(ctx, wait) == nil; {
			some, err := e.reportUnanswered(ctx)
			if !some {
				break
			}
			wait = e.cfg.Lease / 3
			if err != nil {
				wait = waits.Next()
			} else {
				waits.Reset()
			}
			if err != nil && !failing && ctx.Err() == nil {
				e.log.Warn("can't report begins that the database did not answer; retrying until it works", "error", err)
			}
			failing = err != nil
		}
	}
}

// reportUnanswered gives back the jobs that unanswered begins have leased. It returns whether there was any begin to
// report. A report that fails does not hold up the others.
func (e *Engine) reportUnanswered(ctx context.Context) (some bool, err error) {
	now := time.Now()
	due := e.begins.unreported(now, e.cfg.Lease)
	for report := range slices.Chunk(due, reportBatch) {
		bounded, done := context.WithTimeout(ctx, renewTime)
		n, failed := e.deps.Store.ReleaseUnanswered(bounded, report)
		done()
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		e.begins.reported(report, now)
		if n > 0 {
			e.log.Info("gave back jobs whose begin the database executed and did not answer", "jobs", n)
		}
	}
	return len(due) > 0, err
}
