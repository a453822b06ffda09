package memory

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Heartbeat extends the lease.
func (s *Jobs) Heartbeat(_ context.Context, b store.Heartbeat) (store.HeartbeatAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.held(b.Holder)
	if err != nil {
		return store.HeartbeatAnswer{}, err
	}
	r.LeaseEnds = time.Now().Add(b.Lease)
	r.tell(b.Events...)
	if b.Checkpoint != nil {
		r.Checkpoint = b.Checkpoint
	}
	return store.HeartbeatAnswer{Cancel: r.Cancel}, nil
}

// Complete commits success.
func (s *Jobs) Complete(_ context.Context, c store.Completion) (store.Settlement, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.held(c.Holder)
	if err != nil {
		return store.Settlement{}, err
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(c.Result, &object); err != nil {
		return store.Settlement{}, taskerr.Errorf(taskerr.InternalBug, "a result must be a JSON object")
	}
	for _, e := range c.Effects {
		if s.OnEffect == nil {
			break
		}
		if err := s.OnEffect(c.Holder, e); err != nil {
			return store.Settlement{}, err
		}
	}
	r.Effects = c.Effects
	r.Commits++
	return s.end(r, job.Success, ending{events: c.Events, result: c.Result}), nil
}

// Fail ends the job with an error.
func (s *Jobs) Fail(_ context.Context, f store.Failure) (store.Settlement, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.held(f.Holder)
	if err != nil {
		return store.Settlement{}, err
	}
	return s.end(r, job.Permanent, ending{
		events: f.Events, err: f.Error, reason: f.Reason, source: f.Source, original: f.Original,
	}), nil
}

// Canceled ends a job after a cancel request.
func (s *Jobs) Canceled(_ context.Context, h store.Holder, events []store.Event) (store.Settlement, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.held(h)
	if err != nil {
		return store.Settlement{}, err
	}
	return s.end(r, job.Cancel, ending{events: events}), nil
}

// Retry records a retryable error. The job stays running, and no worker holds it.
func (s *Jobs) Retry(_ context.Context, t store.Retry) (store.Settlement, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.held(t.Holder)
	if err != nil {
		return store.Settlement{}, err
	}
	if r.Cancel {
		return s.end(r, job.Cancel, ending{events: t.Events}), nil
	}
	if r.Attempts >= r.MaxAttempts { // I6
		return store.Settlement{}, taskerr.Errorf(taskerr.InternalBug, "job %s has no attempt left after %d", r.JobID,
			r.Attempts)
	}
	r.move(job.Retryable)
	r.tell(t.Events...)
	r.tell(own("retrying", t.Error.Message))
	r.Error = t.Error
	r.LeaseEnds, r.NotBefore, r.LastWait = time.Time{}, time.Now().Add(t.After), t.After
	return store.Settlement{State: string(r.State), Attempts: r.Attempts}, nil
}

// Release gives the job back without counting the attempt (I9).
func (s *Jobs) Release(_ context.Context, back store.Release) (store.Settlement, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.held(back.Holder)
	if err != nil {
		return store.Settlement{}, err
	}
	if r.Cancel {
		return s.end(r, job.Cancel, ending{events: back.Events}), nil
	}
	r.move(job.Released)
	if back.Waits && back.Tried {
		r.Releases++
	}
	if back.Waits && r.WaitingFrom.IsZero() {
		r.WaitingFrom = time.Now()
	}
	r.tell(back.Events...)
	r.tell(own("released", "released; the attempt is not counted"))
	r.Attempts--
	r.LeaseEnds, r.NotBefore = time.Time{}, time.Now()
	return store.Settlement{State: string(r.State), Attempts: r.Attempts}, nil
}

// ending is the end of a job: result for success; err, reason, source and original for failure.
type ending struct {
	events           []store.Event
	result           json.RawMessage
	err              store.ErrorInfo
	reason, original string
	source           store.Source
}

// end moves a job into a terminal state: row, last event, dead letter and webhook at once.
func (s *Jobs) end(r *Row, signal job.Signal, e ending) store.Settlement {
	again := r.State == job.Running && signal != job.Cancel && r.unsent() // by what was recorded while it ran
	if !again {
		r.wasSent()
	}
	r.move(signal)
	r.tell(e.events...)
	last := own(r.State.Wire(), "done")
	switch r.State {
	case job.Succeeded:
		last.Progress = 100
	case job.Failed:
		last.Message = e.err.Message
	case job.Canceled:
		last.Message = "canceled"
	}
	r.tell(last)
	r.Result, r.Error, r.Ended, r.Checkpoint = e.result, e.err, time.Now(), nil
	r.LeaseEnds, r.NotBefore, r.LastWait = time.Time{}, time.Time{}, 0
	if r.State == job.Failed {
		r.Dead = s.bury(r.JobID, r.Type, e.reason, e.err, r.Attempts, e.source, e.original)
		r.Dead.Worker = r.Worker
		r.Dead.Series = r.Series
	}
	return store.Settlement{
		State: string(r.State), Attempts: r.Attempts, Result: r.Result, DeadLetter: r.Dead.ref(),
		Deliveries: r.webhook(r.WebhookURL, r.State.Wire()),
		Duration:   r.duration(),
	}
}

// webhook adds a row to the outbox if there is a URL. It returns the number of rows.
func (r *Row) webhook(url, state string) int {
	if url == "" {
		return 0
	}
	r.Outbox = append(r.Outbox, Webhook{
		ID: "msg_" + r.JobID + "_" + strconv.Itoa(len(r.Outbox)+1), Event: "task." + state, URL: url,
	})
	return 1
}
