package upkeep

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// The rows of one transaction. They are removed in some ten milliseconds.
const (
	jobBatch   = 200
	eventBatch = 1000
)

// Events removes the events of jobs that ended longer than keep ago. lost gets how many of them had not been published.
func Events(s store.Expiry, keep time.Duration, lost func(int)) Chore {
	return Chore{Name: "events of jobs", Every: every, Do: func(ctx context.Context) (int, bool, error) {
		gone, err := s.ExpireEvents(ctx, store.EventExpiry{Keep: keep, Jobs: jobBatch, Events: eventBatch})
		lost(gone.Lost)
		return gone.Events, gone.More, err
	}}
}

// Deliveries removes webhooks that were delivered, or given up, longer than keep ago.
func Deliveries(s store.Expiry, keep time.Duration) Chore {
	return Chore{Name: "deliveries of webhooks", Every: every, Do: func(ctx context.Context) (int, bool, error) {
		n, err := s.ExpireDeliveries(ctx, keep, jobBatch)
		return n, n == jobBatch, err
	}}
}

// Jobs removes jobs that ended longer than keep ago and that nothing needs, when their events are removed.
func Jobs(s store.Expiry, keep time.Duration) Chore {
	var after *store.EndedJob // within a round; nil: it begins
	return Chore{Name: "jobs", Every: every, Do: func(ctx context.Context) (int, bool, error) {
		gone, err := s.ExpireJobs(ctx, store.JobExpiry{Keep: keep, Limit: jobBatch, After: after})
		after = gone.Next
		return gone.Removed, after != nil, err
	}}
}
