package store

import (
	"encoding/json"
	"time"
)

// Task is a task as the row of a new job records it; message.Record makes it.
type Task struct {
	JobID      string          `json:"job_id"`
	Type       string          `json:"type"`
	Payload    json.RawMessage `json:"payload"`
	Hints      json.RawMessage `json:"hints"`
	Priority   string          `json:"priority"`
	WebhookURL string          `json:"webhook_url,omitempty"`
	// WebhookEvents are started and progress, if WebhookURL is to get them, too.
	WebhookEvents []string `json:"webhook_events,omitempty"`

	RequestedBy string `json:"requested_by,omitempty"`
	TraceParent string `json:"traceparent,omitempty"`
	Fingerprint string `json:"fingerprint"` // of type and payload (I5)
	MaxAttempts int    `json:"max_attempts"`
}

// Begin asks what to do with a message that could be decoded.
type Begin struct {
	Task
	Force    bool          `json:"force,omitempty"` // hints.force
	RunAt    time.Time     `json:"run_at,omitzero"` // when the message's run was to start; zero: at once
	Worker   string        `json:"worker"`
	Lease    time.Duration `json:"-"` // sent as lease_ms
	Source   Source        `json:"source"`
	Original string        `json:"original_message"` // for a dead letter
	ID       string        `json:"begin_id"`         // of this call; unique
	// Unanswered are the IDs of earlier begins of the job whose answer was lost. If one of them leased the job, its
	// attempt does not exist and is not counted (I9).
	Unanswered []string `json:"unanswered,omitempty"`
	// Away is for how long the store had taken no writes of the worker when it just did, or still does not; 0: it does. A job
	// whose lease ended since then is Leased for another moment: its holder could not renew it, and may be about to (I9).
	Away time.Duration `json:"-"` // sent as away_ms
}

// UnansweredBegins are begins of a job whose answer was lost.
type UnansweredBegins struct {
	JobID string   `json:"job_id"`
	IDs   []string `json:"begin_ids"` // of Begin.ID
}

// Source is where a message came from.
type Source struct {
	Queue      string    `json:"queue,omitempty"`
	MessageID  string    `json:"message_id,omitempty"`
	InsertedAt time.Time `json:"inserted_at,omitzero"`
}

// Decision is what to do with a message.
type Decision string

// The decisions.
const (
	Run      Decision = "run"      // do it, under the fence
	Done     Decision = "done"     // it has succeeded, or failed (see BeginAnswer.DeadLetter): acknowledge
	Leased   Decision = "leased"   // another worker has it: hide the message for BeginAnswer.Wait
	Waiting  Decision = "waiting"  // its backoff has not ended: hide the message for BeginAnswer.Wait
	Dropped  Decision = "canceled" // it was canceled: acknowledge
	Conflict Decision = "conflict" // another payload has the id: reject the message
	Spent    Decision = "spent"    // its worker was lost in the last attempt: it has failed, see BeginAnswer.DeadLetter
)

// BeginAnswer is the answer to Begin.
type BeginAnswer struct {
	Decision    Decision
	Fence       int64 // rises with every run (I4)
	Attempt     int   // 1 is the first
	MaxAttempts int
	Progress    int // of earlier attempts; it never falls (I8)
	State       string
	Checkpoint  json.RawMessage // of an earlier attempt; nil: none
	Wait        time.Duration   // for Leased and Waiting
	Worker      string          // for Leased: the one that began the last attempt
	Ran         bool            // an attempt began with this message of a job that a worker has, or lost; else it is a duplicate
	// for Run: it is the first attempt of the series
	First    bool
	LastWait time.Duration // before the last retry; zero: there was none
	// of an ended job: from the start of its first attempt to its end; zero: not started
	Duration   time.Duration
	DeadLetter *DeadLetterRef // of a failed job; its copy may not have been sent yet
	// for Done: the message was sent after the job failed, which an event and a webhook report
	Duplicate  bool
	Deliveries int           // for Run, Duplicate and Spent: webhooks added to the outbox
	Releases   int           // of this series, with Waits and Tried
	Waited     time.Duration // since the first release of this series with Waits; zero: there was none
}

// DeadLetterRef is what the engine needs to send the queue copy of a dead letter.
type DeadLetterRef struct {
	ID       string `json:"id"`
	Reason   string `json:"reason"`
	Class    string `json:"error_class"`
	Message  string `json:"error_message"`
	Attempts int    `json:"attempts"`
	Sent     bool   `json:"sent"` // the copy is on the dead-letter queue
}

// Holder names a running job and proves the right to write to it.
type Holder struct {
	JobID string `json:"job_id"`
	Fence int64  `json:"fence"`
}

// Event is one line of a job's history. The store numbers events without gaps (I8), lets neither progress nor time go
// back, and ignores an ID that it has already. It gets the age of the event and takes the time from its own clock.
type Event struct {
	ID       string          `json:"id"` // UUID, made by the caller
	At       time.Time       `json:"-"`  // sent as ago_ms; with a monotonic reading, steps of the clock have no effect
	Stage    string          `json:"stage,omitempty"`
	Progress int             `json:"progress"`
	Message  string          `json:"message,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// MarshalJSON writes the age of the event in place of its time.
func (e Event) MarshalJSON() ([]byte, error) {
	type fields Event
	return json.Marshal(struct {
		fields
		AgoMS int64 `json:"ago_ms"`
	}{fields(e), time.Since(e.At).Milliseconds()})
}

// Heartbeat is a heartbeat.
type Heartbeat struct {
	Holder
	Lease      time.Duration   `json:"-"` // sent as lease_ms
	Events     []Event         `json:"events,omitempty"`
	Checkpoint json.RawMessage `json:"checkpoint,omitempty"` // replaces the stored one unless nil
}

// HeartbeatAnswer is the answer to a heartbeat.
type HeartbeatAnswer struct {
	Cancel     bool `json:"cancel"`     // a cancel of the job was requested
	Deliveries int  `json:"deliveries"` // webhooks added to the outbox
}

// Effect is what a handler commits together with its success. The SQL function
// aw_effect_<kind>(client_id, job_id, fence, args) does it; its result is merged into the job's.
type Effect struct {
	Kind string `json:"kind"` // [a-z_]+
	Args any    `json:"args"`
}

// Completion is success.
type Completion struct {
	Holder
	Result  json.RawMessage `json:"result"` // a JSON object
	Effects []Effect        `json:"effects,omitempty"`
	Events  []Event         `json:"events,omitempty"` // not yet flushed; the terminal event is the store's
}

// Failure is a permanent error, or a retryable one on the last attempt.
type Failure struct {
	Holder
	Error    ErrorInfo `json:"error"`
	Reason   string    `json:"reason"` // why it is dead-lettered: permanent | exhausted | timeout
	Source   Source    `json:"source"`
	Original string    `json:"original_message"`
	Events   []Event   `json:"events,omitempty"`
}

// ErrorInfo is an error as rows and webhooks have it.
type ErrorInfo struct {
	Type      string `json:"type"` // short CamelCase
	Class     string `json:"class"`
	Code      string `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
	Coarse    string `json:"error_type"` // validation, transient, permanent or timeout
	// ProcessingMS is the duration of the failed attempt; 0: there was none.
	ProcessingMS int64 `json:"processing_time_ms"`
}

// Retry is a retryable error with attempts left.
type Retry struct {
	Holder
	Error  ErrorInfo     `json:"error"`
	After  time.Duration `json:"-"` // sent as after_ms
	Events []Event       `json:"events,omitempty"`
}

// Release gives a job back; the attempt is not counted (I9).
type Release struct {
	Holder
	// Waits means that a service which the job needs is down. The row records how often and since when, because the
	// engine limits both (I11). Tried: its handler had run.
	Waits  bool    `json:"waits,omitempty"`
	Tried  bool    `json:"tried,omitempty"`
	Events []Event `json:"events,omitempty"`
}

// Rejection is a message that can't become a task. Fields that could not be read are empty.
type Rejection struct {
	JobID       string          `json:"job_id,omitempty"` // well-formed, or empty
	Type        string          `json:"type,omitempty"`
	Payload     json.RawMessage `json:"payload,omitempty"`
	WebhookURL  string          `json:"webhook_url,omitempty"`
	RequestedBy string          `json:"requested_by,omitempty"`
	// Record means that JobID is an id of this tenant, so that a failed job may be recorded under it.
	Record   bool      `json:"record"`
	Error    ErrorInfo `json:"error"`
	Reason   string    `json:"reason"` // malformed | wrong_client | unknown_type | invalid_payload | conflict | ...
	Worker   string    `json:"worker,omitempty"`
	Source   Source    `json:"source"`
	Original string    `json:"original_message"`
}

// Rejected is the State of a refused message whose id belongs to another task, which stays as it is.
const Rejected = "rejected"

// Settlement is the answer to a call that ends an attempt.
type Settlement struct {
	State      string
	Attempts   int
	Result     json.RawMessage // of Complete, including what the effects added
	DeadLetter *DeadLetterRef
	Deliveries int           // webhooks added to the outbox
	Duration   time.Duration // of an ended job: from the start of its first attempt to its end; zero: not started
}

// Submission is a job recorded before its message is sent.
type Submission struct {
	Task
	Queue   string `json:"queue"`   // where the message goes
	Message string `json:"message"` // its text, for the sweep
	// SendAt is when a sweep sends the message; nil: the caller sends it at once.
	SendAt *time.Time `json:"send_at,omitempty"`
}

// SubmitAnswer is the answer to Submit.
type SubmitAnswer struct {
	Created bool   // false: the job existed already
	State   string // as it is now
	Sent    bool   // its message is on the queue already
}
