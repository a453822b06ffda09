package store

import (
	"cmp"
	"strings"
	"time"
)

// FeedPosition is a position in the stream of all events of a tenant: that of an event, or of an end of the stream. The
// zero value is the end of the stream at the time of the call.
type FeedPosition struct {
	Tx    uint64    `json:"tx,string"` // the transaction that wrote the event, as PostgreSQL's xid8
	JobID string    `json:"job_id"`
	Seq   int64     `json:"seq"` // in the job
	At    time.Time `json:"at"`  // by the database's clock; it does not order positions
}

// Compare orders positions as the stream does.
func (p FeedPosition) Compare(o FeedPosition) int {
	return cmp.Or(cmp.Compare(p.Tx, o.Tx), strings.Compare(p.JobID, o.JobID), cmp.Compare(p.Seq, o.Seq))
}

// FeedEvent is an event with its place in the stream.
type FeedEvent struct {
	JobEvent
	Tx uint64 `json:"tx,string"` // 0: it is not in the stream, because an old version wrote it
}

// Position returns the event's position.
func (e *FeedEvent) Position() FeedPosition { return FeedPosition{e.Tx, e.JobID, e.Seq, e.At} }

// JobPosition is a position in the events of one job.
type JobPosition struct {
	JobID string `json:"job_id"`
	Seq   int64  `json:"seq"`
}

// FeedQuery reads on in the stream of a tenant's events, and in single jobs.
type FeedQuery struct {
	// After is a position in the stream; nil: the stream is not read.
	After *FeedPosition
	// Keep is how old After may be; zero: any age.
	Keep time.Duration
	// Jobs are positions in jobs. Their events do not wait for open transactions.
	Jobs  []JobPosition
	Limit int // 1-1000, of the stream's events and of those of Jobs
}

// FeedPage is the answer to a FeedQuery.
type FeedPage struct {
	Events []FeedEvent  `json:"events"`
	Next   FeedPosition `json:"next"` // after Events
	More   bool         `json:"more"` // there are further ones
	// Held: further events wait for an open transaction, which might still add events before them.
	Held bool `json:"held"`
	// Reset: After is older than Keep, or of another database. Events may be missing, and Next is the stream's end.
	Reset bool `json:"reset"`
	// JobEvents are those of Jobs, by job and number. If there are Limit of them there may be more.
	JobEvents []FeedEvent `json:"job_events"`
}
