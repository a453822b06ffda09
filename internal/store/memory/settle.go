package memory

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Heartbeat extends the lease.
func (s *Jobs) Heartbeat(_ context.Context, b store.Beat) (store.Pulse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.held(b.Holder)
	if err != nil {
		return store.Pulse{}, err
	}
	r.LeaseEnds = time.Now().Add(b.Lease)
	r.append(b.Events)
	if b.Checkpoint != nil {
		r.Checkpoint = b.Checkpoint
	}
	return store.Pulse{Cancel: r.Cancel}, nil
}

// Complete commits success.
func (s *Jobs) Complete(_ context.Context, c store.Completion) (store.Settled, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.held(c.Holder)
	if err != nil {
		return store.Settled{}, err
	}
	for _, e := range c.Effects {
		if s.OnEffect == nil {
			break
		}
		if err := s.OnEffect(c.Holder, e); err != nil {
			return store.Settled{}, err
		}
	}
	r.move(job.Success)
	r.append(c.Events)
	r.Progress, r.Result, r.Effects = 100, c.Result, c.Effects
	r.Commits++
	r.end()
	return r.settled(), nil
}

// Fail ends the job with an error.
func (s *Jobs) Fail(_ context.Context, f store.Failure) (store.Settled, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.held(f.Holder)
	if err != nil {
		return store.Settled{}, err
	}
	r.move(job.Permanent)
	r.append(f.Events)
	r.Error = f.Error
	r.Dead = s.bury(r.JobID, f.Original, f.Reason, f.Error, r.Attempts)
	r.end()
	return r.settled(), nil
}

// Retry notes a retryable error.
func (s *Jobs) Retry(_ context.Context, t store.Retrial) (store.Settled, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.held(t.Holder)
	if err != nil {
		return store.Settled{}, err
	}
	r.move(job.Retryable)
	r.append(t.Events)
	r.Error = t.Error
	r.Fence++ // nobody holds it now
	r.LeaseEnds, r.NotBefore = time.Time{}, time.Now().Add(t.After)
	return r.settled(), nil
}

// Release gives the job back without a counted attempt (I9).
func (s *Jobs) Release(_ context.Context, h store.Holder, events []store.Event) (store.Settled, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.held(h)
	if err != nil {
		return store.Settled{}, err
	}
	r.move(job.Released)
	r.append(events)
	r.Attempts--
	r.LeaseEnds = time.Time{}
	return r.settled(), nil
}

// Canceled acknowledges a cancel request.
func (s *Jobs) Canceled(_ context.Context, h store.Holder, events []store.Event) (store.Settled, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.held(h)
	if err != nil {
		return store.Settled{}, err
	}
	r.move(job.Cancel)
	r.append(events)
	r.end()
	return r.settled(), nil
}

// RequestCancel cancels a pending job, asks a running one, and places a canceled one.
func (s *Jobs) RequestCancel(_ context.Context, id, _ string) (store.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.rows[id]
	switch {
	case !ok:
		r = &Row{Begin: store.Begin{JobID: id}, State: job.Canceled, Placed: true, At: time.Now()}
		s.rows[id] = r
	case r.State.Terminal():
		return store.Job{ID: id, Status: string(r.State)}, store.ErrTerminal
	case r.State == job.Pending || time.Now().After(r.LeaseEnds):
		r.move(job.Cancel)
		r.end()
	default:
		r.Cancel = true
	}
	return store.Job{ID: id, Status: string(r.State), CancelAsked: r.Cancel}, nil
}

// Reject records a message that can't become work.
func (s *Jobs) Reject(_ context.Context, j store.Rejection) (store.Settled, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, again := s.byMessage[j.Source.MessageID]
	if !again {
		d = s.bury(j.JobID, j.Original, j.Reason, j.Error, 0)
		if j.Source.MessageID != "" {
			s.byMessage[j.Source.MessageID] = d
		}
	}
	if _, taken := s.rows[j.JobID]; j.Record && !taken {
		s.rows[j.JobID] = &Row{
			Begin: store.Begin{JobID: j.JobID, Type: j.Type, Payload: j.Payload}, State: job.Failed,
			Error: j.Error, Dead: d, At: time.Now(), Consumed: j.Source.MessageID,
		}
	}
	ref := d.DeadLetterRef
	return store.Settled{State: string(job.Failed), DeadLetter: &ref}, nil
}

func (r *Row) end() {
	r.LeaseEnds, r.NotBefore, r.Checkpoint, r.Cancel = time.Time{}, time.Time{}, nil, false
}
