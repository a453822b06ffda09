package memory

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Submit records a pending job.
func (s *Jobs) Submit(_ context.Context, m store.Submission) (store.Submitted, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.rows[m.JobID]; ok {
		if r.Fingerprint != m.Fingerprint {
			return store.Submitted{}, store.ErrConflict
		}
		return store.Submitted{State: string(r.State), Sent: r.Sent}, nil
	}
	s.rows[m.JobID] = &Row{
		Begin: store.Begin{
			JobID: m.JobID, Type: m.Type, Payload: m.Payload, Hints: m.Hints, Priority: m.Priority,
			WebhookURL: m.WebhookURL, Fingerprint: m.Fingerprint, MaxAttempts: m.MaxAttempts,
		},
		State: job.Pending, Submitted: &m, At: time.Now(),
	}
	return store.Submitted{Created: true, State: string(job.Pending)}, nil
}

// MarkSent notes that the message is on the queue.
func (s *Jobs) MarkSent(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.rows[id]
	if !ok {
		return store.ErrNotFound
	}
	r.Sent = true
	return nil
}

// Unsent lists what was submitted and never sent.
func (s *Jobs) Unsent(_ context.Context, olderThan time.Duration, limit int) ([]store.Unsent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []store.Unsent
	for id, r := range s.rows {
		if len(out) < limit && r.Submitted != nil && !r.Sent && r.State == job.Pending && time.Since(r.At) >= olderThan {
			out = append(out, store.Unsent{JobID: id, Queue: r.Submitted.Queue, Message: r.Submitted.Message})
		}
	}
	return out, nil
}
