package memory

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Begin records the job if it is new and says what to do with its message.
func (s *Jobs) Begin(_ context.Context, b store.Begin) (store.Begun, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	r, ok := s.rows[b.JobID]
	if !ok {
		r = &Row{Begin: b, State: job.Pending, At: now}
		s.rows[b.JobID] = r
	}
	if r.Placed {
		return r.begun(store.Dropped), nil
	}
	if r.Fingerprint != b.Fingerprint {
		return store.Begun{Decision: store.Conflict, State: string(r.State)}, nil
	}
	r.Sent = true
	switch {
	case r.State.Terminal() && b.Force && b.Source.MessageID != r.Consumed:
		r.reopen()
	case r.State == job.Canceled:
		return r.begun(store.Dropped), nil
	case r.State.Terminal():
		return r.begun(store.Done), nil
	case r.State == job.Running && now.Before(r.LeaseEnds):
		out := r.begun(store.Leased)
		out.Wait = r.LeaseEnds.Sub(now)
		return out, nil
	case r.State == job.Running && now.Before(r.NotBefore):
		out := r.begun(store.Waiting)
		out.Wait = r.NotBefore.Sub(now)
		return out, nil
	case r.Cancel:
		r.move(job.Cancel)
		return r.begun(store.Dropped), nil
	}
	return s.start(r, b, now), nil
}

// start gives the job a new fence and an attempt, unless its last worker took the last one with it.
func (s *Jobs) start(r *Row, b store.Begin, now time.Time) store.Begun {
	lost := r.State == job.Running && r.NotBefore.IsZero()
	if lost && r.Attempts >= b.MaxAttempts {
		r.move(job.LeaseSpent)
		r.Error = store.ErrorInfo{Class: string(job.WorkerLost), Message: "the worker was lost"}
		r.Dead = s.bury(r.JobID, b.Original, "exhausted", r.Error, r.Attempts)
		return r.begun(store.Spent)
	}
	if lost {
		r.move(job.LeaseLost)
	}
	if r.State == job.Pending {
		r.move(job.Start)
	}
	r.Attempts++
	r.Fence++
	r.MaxAttempts, r.Consumed = b.MaxAttempts, b.Source.MessageID
	r.LeaseEnds, r.NotBefore = now.Add(b.Lease), time.Time{}
	return r.begun(store.Run)
}

// reopen starts a new series of attempts for a forced message.
func (r *Row) reopen() {
	r.State, r.Attempts, r.Progress, r.Dead, r.Cancel, r.Result = job.Pending, 0, 0, nil, false, nil
}

func (r *Row) begun(d store.Decision) store.Begun {
	b := store.Begun{
		Decision: d, Fence: r.Fence, Attempt: r.Attempts, MaxAttempts: r.MaxAttempts,
		Progress: r.Progress, State: string(r.State), Checkpoint: r.Checkpoint,
	}
	if r.Dead != nil {
		ref := r.Dead.DeadLetterRef
		b.DeadLetter = &ref
	}
	return b
}
