package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// The sweep finds lost messages (I1): those of jobs whose submitter died after recording the job, and of jobs that are
// due long after their message should have come. It runs rarely, because an idle tenant must cost almost nothing: one
// query.
const (
	DefaultSweepEvery = 5 * time.Minute // Config.SweepEvery

	sweepBatch = 50 // a message may have 1 MiB

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
	every := cmp.Or(e.cfg.SweepEvery, DefaultSweepEvery)
	round := time.Now().Add(jittered(every))
	pauses := retry.Backoff{First: sweepAgain, Max: every, Jitter: 0.1}.Waits()
	for {
		due, err := e.sweep(ctx, ages, revive)
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
// has what comes after them. It returns when the next job is due that waits for its time; zero: none is known.
func (e *Engine) sweep(ctx context.Context, ages store.SweepAges, revive bool) (due time.Time, err error) {
	for more := true; more; {
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
		if revive {
			failed = e.reviveAll(ctx, found.Stalled)
			err = errors.Join(err, failed)
			if revive = failed == nil && len(found.Stalled) == sweepBatch; revive {
				before := ages.After.JobID
				ages.After = found.Stalled[sweepBatch-1].Mark()
				revive = ages.After.JobID != before // functions of the version before know no pages
			}
			more = more || revive
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

func (e *Engine) reviveAll(ctx context.Context, stalled []store.Stalled) (err error) {
	for _, s := range stalled {
		err = errors.Join(err, e.revive(ctx, s))
	}
	return err
}

// sendUnsent reports whether the queue took the message.
func (e *Engine) sendUnsent(ctx context.Context, u store.Unsent) (taken bool, err error) {
	q, ok := e.queueNamed(u.Queue)
	if !ok {
		e.log.Error("an unsent job names a queue that is not this tenant's", "task_id", u.JobID)
		return false, nil
	}
	text := identified(q, u, u.Message)
	err = e.sendRecorded(ctx, q, u.JobID, text, u.Message)
	if errors.Is(err, queue.ErrTooLarge) { // an older version recorded it as it came
		claim, failed := message.Fit(ctx, e.deps.Bucket, task.Task{ID: u.JobID}, text)
		if failed != nil {
			return false, failed
		}
		err = e.sendRecorded(ctx, q, u.JobID, identified(q, u, claim), u.Message)
	}
	if err != nil {
		return !errors.Is(err, errNotTaken), err
	}
	e.log.Info("sent the message of a job that was recorded but never sent", "task_id", u.JobID)
	return true, nil
}

// revive sends a stalled job's message again, made from its row.
func (e *Engine) revive(ctx context.Context, s store.Stalled) error {
	log := e.log.With("task_id", s.Job.ID, "task_type", s.Job.Type, "waits_since", s.Since)
	if s.WorkerLost {
		log = log.With("error_class", taskerr.WorkerLost)
	}
	again := store.Resend{JobID: s.Job.ID, Fence: s.Fence, Ages: overdue}
	t, needs, refusal := e.recorded(s)
	if refusal != nil {
		log.Error("a job's message is lost and can't be rebuilt; cancel the job, or start a worker that takes it",
			"error", refusal.Message)
		_, err := e.deps.Store.Resend(ctx, again) // without a message: postponed
		return err
	}
	if e.breakers.anyDown(t.ID, needs) {
		return nil // its message waits for the same
	}
	text, err := message.Write(ctx, e.deps.Bucket, t)
	if err != nil {
		return err
	}
	q := e.deps.Queues.For(t.Priority)
	again.Queue, again.Message = q.Name(), text
	if recorded, err := e.deps.Store.Resend(ctx, again); err != nil || !recorded {
		return err // the job moved on, or another worker's sweep was first
	}
	if err := e.sendRecorded(ctx, q, s.Job.ID, text, text); err != nil {
		return err
	}
	log.Warn("resent the message of a job that no worker had picked up", "attempts", s.Job.Attempts)
	return nil
}

// recorded makes the task of a stalled job, and lists what it needs. The error is why its message would be rejected.
func (e *Engine) recorded(s store.Stalled) (task.Task, []taskerr.Dependency, *taskerr.Error) {
	t, err := message.Task(s.Recorded, e.cfg.ClientID)
	if err != nil {
		return t, nil, taskerr.Errorf(taskerr.ValidationError, "a message can't be made from its row: %v", err)
	}
	t.Hints.Force = false // it would begin another series if the job ended before the message comes
	h, ok := e.tuning().Handlers[t.Type]
	if !ok {
		return t, nil, taskerr.Errorf(taskerr.ValidationError, "this worker does not take tasks of that type")
	}
	if s.Fingerprint != "" && task.Fingerprint(t) != s.Fingerprint { // aw_enqueue leaves it to begin
		return t, nil, taskerr.Errorf(taskerr.ValidationError,
			"the payload has characters that the database can't store, such as U+0000; send it without them")
	}
	if _, err := safely(e.log, func() (struct{}, error) { return struct{}{}, h.Check(t) }); err != nil {
		return t, nil, taskerr.Classify(err)
	}
	return t, specOf(h, t).Needs, nil
}

// errNotTaken reports that a message could not be put on its queue.
var errNotTaken = errors.New("the queue did not take it")

// sendRecorded sends the text of a recorded message, to a queue that may have been deleted, and records that it was sent.
func (e *Engine) sendRecorded(ctx context.Context, q queue.Queue, jobID, text, recorded string) error {
	if err := sendEnsured(ctx, q, text, queue.SendOptions{}); err != nil {
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
