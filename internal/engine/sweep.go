package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// The sweep finds lost messages (I1): those of jobs whose submitter died after recording the job, and of jobs that are
// due long after their message should have come. It runs rarely, because an idle tenant must cost almost nothing: one
// query.
const (
	DefaultSweepEvery = 5 * time.Minute // Config.SweepEvery

	sweepBatch = 50 // a message may have 1 MiB
	sweepPages = 20 // of stalled jobs of which none is sent, in a round: each costs a query

	// sweepAgain is the first pause after a sweep that failed; it doubles up to that of the rounds.
	sweepAgain = 10 * time.Second
	// never is longer than any message waits: a sweep with it sends only those whose time has come.
	never = 100 * 365 * 24 * time.Hour
)

// overdue defines when the sweep takes a job. Its message may just be waiting in a long queue, so resends are rare;
// begin answers the message that comes second.
var overdue = store.SweepAges{
	UnsentFor:    2 * time.Minute,
	StalledFor:   10 * time.Minute,
	UnstartedFor: 24 * time.Hour,
	AgainAfter:   time.Hour,
}

func (e *Engine) sweepLoop(ctx context.Context) {
	// At the start the messages of many jobs are still on the queue: process those first.
	revive, ages := false, overdue
	var from store.Mark // where the next round goes on among the stalled jobs
	every := cmp.Or(e.cfg.SweepEvery, DefaultSweepEvery)
	round := time.Now().Add(jittered(every))
	pauses := retry.Backoff{First: sweepAgain, Max: every, Jitter: 0.1}.Waits()
	for {
		due, err := e.sweep(ctx, ages, revive, &from)
		e.StartsAt(due)
		if ages = overdue; err == nil {
			pauses.Reset()
		} else { // until the next round a queue that refuses messages is not asked for a batch of all that wait
			ages.UnsentFor = never
			e.StartsAt(time.Now().Add(pauses.Next()))
		}
		if err != nil && ctx.Err() == nil {
			e.log.Warn("can't find or resend lost messages; retrying later", "error", err)
		}
		if e.awaitSweep(ctx, round) != nil {
			return
		}
		if revive = !time.Now().Before(round); revive {
			round, ages = time.Now().Add(jittered(every)), overdue
		}
	}
}

// StartsAt makes the sweep send the message of a job that waits for that time; zero: of none.
func (e *Engine) StartsAt(t time.Time) {
	if t.IsZero() {
		return
	}
	e.nextStart.Lock()
	defer e.nextStart.Unlock()
	if e.nextStart.at.IsZero() || t.Before(e.nextStart.at) {
		e.nextStart.at = t
		signal(e.nextStart.changed)
	}
}

// nextStart is the earliest time of a job that waits for it.
type nextStart struct {
	sync.Mutex
	at      time.Time     // zero: none is known
	changed chan struct{} // capacity 1
}

// shortestSweep is the least time between two sweeps.
const shortestSweep = time.Second

// awaitSweep waits for the next round, for the time of a job, or for the end of a pause after a failure.
func (e *Engine) awaitSweep(ctx context.Context, round time.Time) error {
	if err := retry.Sleep(ctx, shortestSweep); err != nil {
		return err
	}
	for {
		e.nextStart.Lock()
		until := round
		if at := e.nextStart.at; !at.IsZero() && at.Before(round) {
			until = at
		}
		e.nextStart.Unlock()
		timer := time.NewTimer(time.Until(until))
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-e.nextStart.changed:
			timer.Stop()
		case <-timer.C:
			e.nextStart.Lock()
			e.nextStart.at = time.Time{} // the sweep finds the next one
			e.nextStart.Unlock()
			return nil
		}
	}
}

// sweep continues while it finds full batches and makes progress. A failure with one job doesn't hold up the others, nor
// does a queue that takes no message: the next batch has none of its. Nor do jobs that wait for a service, as the next batch
// has what comes after them; after sweepPages the next round goes on there, at from. It returns when the next job is due that
// waits for its time; zero: none is known.
func (e *Engine) sweep(ctx context.Context, ages store.SweepAges, revive bool, from *store.Mark) (due time.Time, err error) {
	pages := 0
	if revive {
		pages = sweepPages
	}
	for more := true; more; {
		if ages.OnlyUnsent = pages == 0; pages > 0 {
			ages.After = *from
		}
		found, failed := e.lost(ctx, ages)
		if failed != nil {
			return due, errors.Join(err, failed)
		}
		if found.DueIn > 0 {
			due = time.Now().Add(found.DueIn)
		}
		refusing, failed := e.sendAllUnsent(ctx, found.Unsent)
		err = errors.Join(err, failed)
		skip := slices.Compact(slices.Sorted(slices.Values(append(refusing, ages.SkipQueues...))))
		progress := failed == nil && len(refusing) == 0 || len(skip) > len(ages.SkipQueues)
		ages.SkipQueues, more = skip, progress && len(found.Unsent) == sweepBatch
		if pages > 0 {
			sent, next, failed := e.revivePage(ctx, found.Stalled, from)
			err = errors.Join(err, failed)
			if !next {
				pages = 0
			} else if !sent {
				pages--
			}
			more = more || pages > 0
		}
	}
	return due, err
}

// lost finds a batch of jobs whose messages are lost. Its result also tells whether the store works.
func (e *Engine) lost(ctx context.Context, ages store.SweepAges) (found store.SweepAnswer, err error) {
	asked := time.Now()
	if found, err = e.deps.Store.Sweep(ctx, ages, sweepBatch); ctx.Err() != nil {
		return found, err
	}
	var failure *taskerr.Error
	if err != nil {
		failure = classify(err)
	}
	e.StartsAt(e.throttle.store.swept(asked, failure))
	return found, err
}

// sendAllUnsent returns the queues that took none of their messages.
func (e *Engine) sendAllUnsent(ctx context.Context, all []store.Unsent) (refusing []string, err error) {
	took := map[string]bool{}
	for _, u := range all {
		taken, failed := e.sendUnsent(ctx, u)
		err = errors.Join(err, failed)
		took[u.Queue] = took[u.Queue] || taken
	}
	for name, some := range took {
		if !some {
			refusing = append(refusing, name)
		}
	}
	return refusing, err
}

// sendUnsent reports whether the queue took the message. An older version recorded messages that are too large for it.
func (e *Engine) sendUnsent(ctx context.Context, u store.Unsent) (taken bool, err error) {
	q, ok := e.queueNamed(u.Queue)
	if !ok {
		e.log.Error("an unsent job names a queue that is not this tenant's", "task_id", u.JobID, "hint",
			"cancel the job, and send its task again under a new task_id")
		return false, nil
	}
	err = sendFitting(ctx, e.deps.Bucket, u, func(text string) error {
		err := e.sendRecorded(ctx, q, u.JobID, text, u.Message)
		taken = !errors.Is(err, errNotTaken)
		return err
	})
	if err != nil {
		return taken, err
	}
	e.log.Info("sent the message of a job that was recorded but never sent", "task_id", u.JobID)
	return true, nil
}

// errNotTaken reports that a message could not be put on its queue.
var errNotTaken = errors.New("the queue did not take it")

// sendRecorded sends the text of a recorded message, to a queue that may have been deleted, and records that it was sent.
func (e *Engine) sendRecorded(ctx context.Context, q queue.Queue, jobID, text, recorded string) error {
	if err := queue.SendEnsured(ctx, q, text, queue.SendOptions{}); err != nil {
		return fmt.Errorf("send the message of job %s: %w: %w", jobID, errNotTaken, err)
	}
	e.Wake()
	if err := e.deps.Store.MarkSent(ctx, jobID, recorded); err != nil {
		return fmt.Errorf("record that job %s was sent: %w", jobID, err)
	}
	return nil
}

func (e *Engine) queueNamed(name string) (queue.Queue, bool) {
	for _, q := range []queue.Queue{e.deps.Queues.High, e.deps.Queues.Normal, e.deps.Queues.Low} {
		if q.Name() == name {
			return q, true
		}
	}
	return nil, false
}
