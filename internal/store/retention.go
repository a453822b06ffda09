package store

import (
	"context"
	"time"
)

// Expiry has the transactions that remove what is older than it is kept. Each is short: it looks at a limited number
// of rows, and skips locked ones. Ages are by the database's clock.
type Expiry interface {
	// ExpireEvents removes events of jobs that ended so long ago.
	ExpireEvents(ctx context.Context, q EventExpiry) (ExpiredEvents, error)
	// ExpireDeliveries removes deliveries that were done so long ago, at most limit (1000). It returns how many.
	ExpireDeliveries(ctx context.Context, keep time.Duration, limit int) (int, error)
	// ExpireJobs removes jobs that ended so long ago, whose events are removed, and that nothing else needs.
	ExpireJobs(ctx context.Context, q JobExpiry) (ExpiredJobs, error)
}

// EventExpiry limits what ExpireEvents removes.
type EventExpiry struct {
	Keep   time.Duration // after the end of the job
	Jobs   int           // whose events are removed, 1-1000
	Events int           // 1-50000; a job may have more
}

// ExpiredEvents counts what ExpireEvents removed.
type ExpiredEvents struct {
	Jobs   int  `json:"jobs"` // without events now
	Events int  `json:"events"`
	Lost   int  `json:"lost"` // of Events, those that were not published yet
	More   bool `json:"more"` // a limit was reached: there may be more
}

// JobExpiry limits what ExpireJobs removes.
type JobExpiry struct {
	Keep  time.Duration
	Limit int       // jobs that are looked at, 1-1000
	After *EndedJob // ExpiredJobs.Next of the call before; nil: from the first
}

// EndedJob is a position in the order in which jobs ended.
type EndedJob struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// ExpiredJobs is the answer to a JobExpiry.
type ExpiredJobs struct {
	Removed int       `json:"removed"`
	Next    *EndedJob `json:"next"` // nil: all were looked at
}
