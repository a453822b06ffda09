package store

import (
	"context"
	"encoding/json"
	"time"
)

// Publishing are the transactions of the publisher of lifecycle events. A tenant has one publisher at a time, under a
// lease. Its position in the stream of events is kept in the store.
type Publishing interface {
	// OpenPublisher notes where in the stream the tenant's publisher begins, unless it has begun: at the stream's end.
	OpenPublisher(ctx context.Context) error
	// ClaimPublisher makes a worker the publisher, unless another one is.
	ClaimPublisher(ctx context.Context, worker string, lease time.Duration) (PublisherClaim, error)
	// Outgoing returns what comes next, and extends the lease. ErrNotPublisher.
	Outgoing(ctx context.Context, q OutgoingQuery) (OutgoingPage, error)
	// Published moves the position, and extends the lease; a lease of zero gives it back. ErrNotPublisher.
	Published(ctx context.Context, p Published) error
	// PublisherState is the publisher for metrics and people.
	PublisherState(ctx context.Context) (PublisherState, error)
}

// PublisherClaim is the answer to ClaimPublisher.
type PublisherClaim struct {
	Held   bool          // the caller is the publisher, under Fence
	Fence  int64         // rises with every claim
	Lost   int64         // events that were removed before they were published, so far
	Reset  bool          // the position was of another database; it is now the stream's end
	Worker string        // not Held: who is
	Wait   time.Duration // not Held: until its lease ends
}

// OutgoingQuery reads what comes after the publisher's position.
type OutgoingQuery struct {
	Fence  int64
	Lease  time.Duration
	Limit  int // events, 1-1000
	Bytes  int // of all events, about; one is always returned
	Result int // bytes of a result; a longer one is left out
}

// OutgoingPosition is a position in the publisher's stream.
type OutgoingPosition struct {
	Tx     uint64 `json:"tx,string"`
	JobID  string `json:"job_id"`
	Seq    int64  `json:"seq"`
	Letter string `json:"letter"` // the id of a dead letter; empty: an event
}

// OutgoingPage is the answer to an OutgoingQuery.
type OutgoingPage struct {
	Events []Outgoing        `json:"events"`
	Next   *OutgoingPosition `json:"next"` // after Events; nil: there is nothing new
	More   bool              `json:"more"` // there may be further ones
	Held   bool              `json:"held"` // further ones wait for an open transaction
}

// The kinds of outgoing events.
const (
	OutgoingStarted   = "started"
	OutgoingProgress  = "progress"
	OutgoingCompleted = "completed"
	OutgoingFailed    = "failed"
	OutgoingCanceled  = "canceled"
	OutgoingLetter    = "dlq" // a dead letter
)

// Outgoing is an event of a job, or a dead letter, with what its readers need of the job.
type Outgoing struct {
	Position OutgoingPosition `json:"position"`

	Kind        string    `json:"kind"`
	ID          string    `json:"id"` // UUID
	At          time.Time `json:"at"`
	JobID       string    `json:"job_id"`    // of a dead letter maybe empty
	TaskType    string    `json:"task_type"` // of a rejected message maybe empty, or anything
	ContentID   string    `json:"content_id"`
	OwnerID     string    `json:"owner_id"`
	ParentJobID string    `json:"parent_job_id"`
	TraceParent string    `json:"traceparent"`
	Worker      string    `json:"worker"`
	Stage       string    `json:"stage"`
	Message     string    `json:"message"`
	Progress    int       `json:"progress"`
	Attempt     int       `json:"attempt"`

	PagesCompleted int `json:"pages_completed"`
	TotalPages     int `json:"total_pages"` // zero: not known

	// of a completed job
	Result           json.RawMessage `json:"result"` // nil: it is longer than OutgoingQuery.Result
	ResultBytes      int             `json:"result_bytes"`
	DerivedContentID string          `json:"derived_content_id"`
	DocumentID       string          `json:"document_id"`
	SummaryID        string          `json:"summary_id"`
	RunID            string          `json:"run_id"`
	DeckID           string          `json:"deck_id"`
	PageCount        *float64        `json:"page_count"`
	ProcessingMS     *float64        `json:"processing_time_ms"`

	// of a failed job or a dead letter
	ErrorType    string `json:"error_type"`
	ErrorClass   string `json:"error_class"`
	ErrorCode    string `json:"error_code"`
	ErrorMessage string `json:"error_message"`
	RetryCount   int    `json:"retry_count"`

	// of a dead letter
	Reason          string `json:"reason"`
	SourceQueue     string `json:"source_queue"`
	OriginalMessage string `json:"original_message"`
}

// Published says what was published.
type Published struct {
	Fence int64             `json:"fence"`
	Lease time.Duration     `json:"-"`              // sent as lease_ms
	Next  *OutgoingPosition `json:"next,omitempty"` // everything up to it; nil: only the lease is extended
	Count int               `json:"published"`      // events
	// Refused are those of Count that the sink did not take.
	Refused int `json:"refused"`
}

// PublisherState is the publisher for metrics and people.
type PublisherState struct {
	Exists    bool          // a worker has had EVENTS_URL
	Held      bool          // a worker publishes now
	Worker    string        // the last publisher
	Published int64         // events, so far
	Refused   int64         // of them, those that the sink did not take
	Lost      int64         // events that were removed before they were published
	Behind    int           // rows of the stream to publish, counted up to 10001
	Oldest    time.Duration // the age of the first of them
}
