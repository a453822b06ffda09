package schedule

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

const (
	// lookAtMost and lookWith bound the time to the next look: without schedules, and with some. What another process
	// changes is seen then.
	lookAtMost = time.Minute
	lookWith   = 15 * time.Second
	// waitForJob is the time to the next look while a firing waits for the last job.
	waitForJob = 5 * time.Second
	// lookAtLeast keeps a schedule of every second from looking all the time.
	lookAtLeast = 200 * time.Millisecond
	batch       = 50 // schedules at a time
	// leaveFor is for how long a firing that this worker can't do is left to workers that can, of a newer version. It counts
	// from when it was due, since workers may live for less; a worker waits leaveAtLeast itself, as maybe none was running.
	leaveFor     = 15 * time.Minute
	leaveAtLeast = 5 * time.Minute
)

// errLeft says that a firing is left to other workers.
var errLeft = errors.New("the firing is left to workers of a newer version")

// Submitter records and sends tasks.
type Submitter interface {
	Submission(t task.Task) (store.Submission, error)
	Send(ctx context.Context, recorded store.Submission) error
}

// Outcome is what became of a firing.
type Outcome string

// The outcomes.
const (
	Fired   Outcome = "fired"
	Skipped Outcome = "skipped" // its last job was not over
	Missed  Outcome = "missed"  // and it is not made up
	Stopped Outcome = "stopped" // the schedule can't fire, and was paused
)

// Runner fires the schedules of a tenant. Any number may run at once.
type Runner struct {
	Checker
	Store  store.Schedules
	Submit Submitter
	Log    *slog.Logger
	// Observe is told of outcomes, and by how much the firing was late; nil: nobody is.
	Observe func(o Outcome, n int, late time.Duration)
	// Clock is told the database's time by each look, when it was asked, and how long the answer took; nil: nobody is.
	Clock func(there, asked time.Time, took time.Duration)
	// Wake makes it look at once; nil: nothing does.
	Wake <-chan struct{}

	left map[string]leftFiring // by schedule, its last firing that this worker could not do
}

// leftFiring is a firing that is left to other workers.
type leftFiring struct {
	updated, due time.Time // of the schedule as it was then
	since        time.Time
}

// Run fires until ctx is done.
func (r *Runner) Run(ctx context.Context) {
	failures := 0
	for ctx.Err() == nil {
		wait, err := r.Look(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if failures++; failures == 1 {
				r.Log.Warn("the schedules can't be read; trying again", "error", err)
			}
			wait = min(time.Duration(failures)*time.Second, lookAtMost)
		default:
			failures = 0
		}
		select {
		case <-ctx.Done():
		case <-r.Wake:
		case <-time.After(wait):
		}
	}
}

// Look fires what is due, and returns when to look again. A schedule that can't fire does not hold up the others.
func (r *Runner) Look(ctx context.Context) (wait time.Duration, err error) {
	asked := time.Now()
	due, err := r.Store.DueSchedules(ctx, batch+len(r.left)) // those that are left stay due, before the others
	if err != nil {
		return 0, err
	}
	if r.Clock != nil {
		r.Clock(due.Now, asked, time.Since(asked))
	}
	for _, s := range due.Due {
		if err := r.fire(ctx, s, due.Now); err != nil {
			if ctx.Err() != nil {
				return 0, err
			}
			if !errors.Is(err, errLeft) {
				r.Log.Warn("a schedule could not fire; trying again", "schedule", s.ID, "error", err)
			}
			wait = waitForJob
		}
	}
	switch {
	case wait > 0 && due.Next > 0:
		return max(lookAtLeast, min(wait, due.Next)), nil
	case wait > 0:
		return wait, nil
	case len(due.Due) > 0:
		return lookAtLeast, nil // there may be more
	case due.Waiting:
		return waitForJob, nil
	case due.Next > 0:
		return max(lookAtLeast, min(due.Next, lookWith)), nil
	}
	return retry.Jitter(lookAtMost, 0.2), nil
}

// fire does what is to be done about one schedule: it fires what is due, and then what it owes, one after another.
func (r *Runner) fire(ctx context.Context, s store.Schedule, now time.Time) error {
	calendar, err := ParseCalendar(s.Cron, s.TimeZone)
	if err == nil {
		_, err = r.TaskOf(s, now)
	}
	if err != nil {
		return r.unfit(ctx, s, now, err)
	}
	var p plan
	if s.NextAt == nil {
		p = plan{owed: s.Owed, next: calendar.Next(now)}
	} else {
		p = planOf(calendar, *s.NextAt, now, s.Owed, s.CatchUp, func(at time.Time) time.Duration {
			return calendar.Jitter(r.ClientID, s.ID, at, s.Jitter)
		})
	}
	dropped := len(p.owed) < len(s.Owed) // catch_up was lowered
	if s.NextAt == nil || !p.next.Equal(*s.NextAt) || dropped {
		f := store.Firing{Seen: s, Owed: p.owed, Missed: p.missed, At: p.now}
		f.NextAt, f.FiresAt = r.times(s, calendar, p.next)
		moved, err := r.submit(ctx, f, now)
		if err != nil || !moved {
			return err // another worker has moved it, and fires what it owes
		}
		s.NextAt, s.FiresAt, s.Owed = f.NextAt, f.FiresAt, f.Owed
	}
	return r.makeUp(ctx, s, now)
}

// unfit leaves a firing that this worker can't do, because the schedule was written by a newer version or without us, to
// workers that can. Once none of them has done it for leaveFor, the schedule is paused.
func (r *Runner) unfit(ctx context.Context, s store.Schedule, now time.Time, problem error) error {
	due := s.UpdatedAt // it is to be planned
	switch {
	case s.NextAt != nil && !s.NextAt.After(now):
		due = *s.NextAt
	case s.NextAt != nil && len(s.Owed) > 0: // others fire what is due, and it owes this for as long as its last job runs
		due = s.Owed[0]
	}
	f, known := r.left[s.ID]
	known = known && f.updated.Equal(s.UpdatedAt)
	switch {
	case !known || !f.due.Equal(due):
		if r.left == nil {
			r.left = map[string]leftFiring{}
		}
		r.left[s.ID] = leftFiring{updated: s.UpdatedAt, due: due, since: now}
		if !known {
			r.Log.Warn("this worker can't fire a schedule, and leaves it to workers of a newer version; if none fires it, it is paused",
				"schedule", s.ID, "error", problem, "paused_in", max(leaveFor-now.Sub(due), leaveAtLeast))
		}
		return errLeft
	case now.Sub(due) < leaveFor || now.Sub(f.since) < leaveAtLeast:
		return errLeft
	}
	if err := r.Store.StopSchedule(ctx, s, problem.Error()); err != nil {
		return err
	}
	delete(r.left, s.ID)
	r.Log.Error("a schedule is paused, because it can't fire; mend it, and resume it", "schedule", s.ID, "error", problem)
	r.tell(Stopped, 1, 0)
	return nil
}

// makeUp fires what a schedule owes, as long as its last job lets it.
func (r *Runner) makeUp(ctx context.Context, s store.Schedule, now time.Time) error {
	for len(s.Owed) > 0 {
		f := store.Firing{
			Seen: s, NextAt: s.NextAt, FiresAt: s.FiresAt, Owed: s.Owed[1:], At: s.Owed[0], Late: true,
		}
		moved, err := r.submit(ctx, f, now)
		if err != nil || !moved {
			return err
		}
		s.Owed = f.Owed
	}
	return nil
}

// submit carries out a firing, and sends its message. If somebody else has a job with the firing's id, it takes another
// one that nobody can know: who may send messages may not keep a schedule from firing.
func (r *Runner) submit(ctx context.Context, f store.Firing, now time.Time) (moved bool, err error) {
	done, err := r.record(ctx, &f, "")
	if err == nil && done.Taken {
		taken := f.Job.JobID
		if done, err = r.record(ctx, &f, "."+uuid.NewString()[:8]); err == nil && done.Created {
			r.Log.Warn("somebody else has a job with the id of a firing; it fires under another one", "schedule", f.Seen.ID,
				"task_id", f.Job.JobID, "taken", taken, "at", f.At.UTC())
		}
	}
	if err != nil || !done.Moved {
		return false, err
	}
	r.observe(f, done, now)
	if done.Created {
		if err := r.Submit.Send(ctx, *f.Job); err != nil { // it is recorded: a sweep sends it
			r.Log.Warn("a firing is recorded, but not sent yet", "schedule", f.Seen.ID, "task_id", f.Job.JobID, "error", err)
		}
	}
	return true, nil
}

// record moves the schedule on. The id of the firing's job has the suffix.
func (r *Runner) record(ctx context.Context, f *store.Firing, suffix string) (store.Fired, error) {
	if !f.At.IsZero() {
		t, err := r.TaskOf(f.Seen, f.At)
		if err != nil {
			return store.Fired{}, err
		}
		t.ID += suffix
		job, err := r.Submit.Submission(t)
		if err != nil {
			return store.Fired{}, err
		}
		f.Job = &job
	}
	return r.Store.FireSchedule(ctx, *f)
}

func (r *Runner) observe(f store.Firing, done store.Fired, now time.Time) {
	if f.Missed > 0 {
		r.Log.Warn("firings of a schedule were missed, and are not made up", "schedule", f.Seen.ID, "missed", f.Missed,
			"catch_up", f.Seen.CatchUp)
		r.tell(Missed, f.Missed, 0)
	}
	switch {
	case done.Created:
		r.Log.Info("a schedule has fired", "schedule", f.Seen.ID, "task_id", f.Job.JobID, "at", f.At.UTC(), "late", f.Late)
		r.tell(Fired, 1, now.Sub(f.At))
	case done.Skipped:
		r.Log.Warn("a firing is skipped, because the last job of the schedule is not over", "schedule", f.Seen.ID,
			"at", f.At.UTC(), "last_job", f.Seen.LastJobID)
		r.tell(Skipped, 1, 0)
	case f.Job != nil:
		r.Log.Warn("a firing is left out, because it has its job; the schedule was removed and added again, or the job "+
			"was canceled before", "schedule", f.Seen.ID, "task_id", f.Job.JobID, "at", f.At.UTC())
	}
}

func (r *Runner) tell(o Outcome, n int, late time.Duration) {
	if r.Observe != nil {
		r.Observe(o, n, late)
	}
}
