package store

import (
	"encoding/json"
	"time"
)

// Job is a row of jobs. Its JSON is what `jobs get -o json` prints.
type Job struct {
	ID           string          `json:"id"`
	ClientID     string          `json:"client_id"`
	Type         string          `json:"type"`
	Status       string          `json:"status"`
	Stage        string          `json:"stage"`
	Progress     int             `json:"progress"`
	Attempts     int             `json:"attempts"`
	MaxAttempts  int             `json:"max_attempts"`
	Priority     string          `json:"priority"`
	Payload      json.RawMessage `json:"payload"`
	Hints        json.RawMessage `json:"hints"`
	ErrorClass   string          `json:"error_class,omitempty"`
	ErrorCode    string          `json:"error_code,omitempty"`
	ErrorMessage string          `json:"error_message,omitempty"`
	ErrorType    string          `json:"error_type,omitempty"`         // validation, transient, permanent or timeout
	RetryCount   int             `json:"retry_count"`                  // attempts after the first
	ProcessingMS *int64          `json:"processing_time_ms,omitempty"` // of the attempt that ended it; nil: none did
	WorkerID     string          `json:"worker_id,omitempty"`          // of the last attempt
	Result       json.RawMessage `json:"result,omitempty"`
	RequestedBy  string          `json:"requested_by,omitempty"`
	ParentJobID  string          `json:"parent_job_id,omitempty"`
	Replay       int             `json:"replay,omitempty"` // its number as a replay; 0: it is none
	CancelAsked  bool            `json:"cancel_requested,omitempty"`
	RunAt        *time.Time      `json:"run_at,omitempty"` // its message is not sent before; nil: at once
	CreatedAt    time.Time       `json:"created_at"`
	UpdatedAt    time.Time       `json:"updated_at"`
	StartedAt    *time.Time      `json:"started_at,omitempty"`
	CompletedAt  *time.Time      `json:"completed_at,omitempty"`
}

// JobEvent is a row of job_events.
type JobEvent struct {
	ID       string          `json:"id"`
	Seq      int64           `json:"seq"`
	JobID    string          `json:"job_id"`
	At       time.Time       `json:"at"`
	Stage    string          `json:"stage"`
	Progress int             `json:"progress"`
	Attempt  int             `json:"attempt"`
	Message  string          `json:"message"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// Delta is a piece of streamed text in an event's metadata.
type Delta struct {
	Piece   string `json:"delta"`
	Restart bool   `json:"restart,omitempty"` // discard the text before it
}

// Delta returns the event's piece of streamed text, if it has one.
func (e JobEvent) Delta() (d Delta, ok bool) {
	if len(e.Metadata) == 0 || json.Unmarshal(e.Metadata, &d) != nil {
		return Delta{}, false
	}
	return d, d.Piece != "" || d.Restart
}

// JobFilter narrows a listing, newest first. Zero fields don't narrow.
type JobFilter struct {
	Status string    `json:"status,omitempty"`
	Type   string    `json:"type,omitempty"`
	Before time.Time `json:"before,omitzero"` // created before
	Since  time.Time `json:"since,omitzero"`  // created at or after
	// RequestedBy is the requester as a whole; DocumentSet that of the payload.
	RequestedBy string     `json:"requested_by,omitempty"`
	DocumentSet string     `json:"document_set,omitempty"`
	Parent      string     `json:"parent,omitempty"` // the job that submitted them, or that they replay
	Text        string     `json:"text,omitempty"`   // a part of the id or the payload's filename, whatever its case
	After       *JobCursor `json:"after,omitempty"`  // for the next page
	Limit       int        `json:"limit"`            // 1-1000
}

// JobCursor is a place in a listing of jobs.
type JobCursor struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// Cursor returns the place of j in a listing, for JobFilter.After.
func (j Job) Cursor() *JobCursor { return &JobCursor{At: j.CreatedAt, ID: j.ID} }

// DeadLetter is a row of dead_letters.
type DeadLetter struct {
	ID           string `json:"id"`
	JobID        string `json:"job_id,omitempty"`
	TaskType     string `json:"task_type,omitempty"`
	Reason       string `json:"reason"`
	ErrorClass   string `json:"error_class"`
	ErrorCode    string `json:"error_code,omitempty"`
	ErrorMessage string `json:"error_message"`
	ErrorType    string `json:"error_type"` // validation, transient, permanent or timeout
	Attempts     int    `json:"attempts"`
	RetryCount   int    `json:"retry_count"` // attempts after the first
	// of the last failed attempt; nil: an old version did not record it
	ProcessingMS *int64     `json:"processing_time_ms,omitempty"`
	WorkerID     string     `json:"worker_id,omitempty"`
	Original     string     `json:"original_message"`
	SourceQueue  string     `json:"source_queue,omitempty"`
	CreatedAt    time.Time  `json:"created_at"`
	ReplayedAt   *time.Time `json:"replayed_at,omitempty"`
	ReplayedAs   string     `json:"replayed_as,omitempty"` // id of the job that repeats it, maybe the same
	ReplayedBy   string     `json:"replayed_by,omitempty"`
	Replays      int        `json:"replays,omitempty"` // number of replays
	// More is of the last one of a page that its size has ended: the list goes on after it.
	More bool `json:"more,omitempty"`
}

// DeadLetterFilter narrows a listing, newest first. Zero fields don't narrow.
type DeadLetterFilter struct {
	JobID    string            `json:"job_id,omitempty"`
	Type     string            `json:"type,omitempty"`
	Class    string            `json:"class,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	Replayed string            `json:"replayed,omitempty"` // yes or no
	Since    time.Time         `json:"since,omitzero"`     // created at or after
	Before   time.Time         `json:"before,omitzero"`    // created before
	After    *DeadLetterCursor `json:"after,omitempty"`    // for the next page
	Oldest   bool              `json:"oldest,omitempty"`   // the oldest first, else the newest
	Brief    bool              `json:"brief,omitempty"`    // without Original, which may be large
	Limit    int               `json:"limit"`              // 1-1000
	// Bytes is the size from which on no dead letter is added to those of a page, as JSON; zero: 2 MiB, which is the most.
	Bytes int `json:"bytes"`
}
