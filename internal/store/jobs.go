package store

import (
	"encoding/json"
	"time"
)

// Task is a task as the row of a new job records it. message.Record makes it of a task.Task.
type Task struct {
	JobID       string          `json:"job_id"`
	Type        string          `json:"type"`
	Payload     json.RawMessage `json:"payload"`
	Hints       json.RawMessage `json:"hints"`
	Priority    string          `json:"priority"`
	WebhookURL  string          `json:"webhook_url,omitempty"`
	RequestedBy string          `json:"requested_by,omitempty"`
	TraceParent string          `json:"traceparent,omitempty"`
	Fingerprint string          `json:"fingerprint"` // of type and payload (I5)
	MaxAttempts int             `json:"max_attempts"`
}

// Begin asks what to do with a decoded message.
type Begin struct {
	Task
	Force    bool          `json:"force,omitempty"` // hints.force
	Worker   string        `json:"worker"`
	Lease    time.Duration `json:"-"` // sent as lease_ms
	Source   Source        `json:"source"`
	Original string        `json:"original_message"` // for a dead letter
	ID       string        `json:"begin_id"`         // of this call; unique
	// Unanswered are the IDs of earlier begins of the job whose answer was lost. If one of them leased the job, its
	// attempt does not exist and is not counted (I9).
	Unanswered []string `json:"unanswered,omitempty"`
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
	Run      Decision = "run"      // run the job, under the fence
	Done     Decision = "done"     // it succeeded, or failed (see BeginAnswer.DeadLetter): acknowledge
	Leased   Decision = "leased"   // another worker has it: hide the message for BeginAnswer.Wait
	Waiting  Decision = "waiting"  // its backoff is not over: hide the message for BeginAnswer.Wait
	Dropped  Decision = "canceled" // it was canceled: acknowledge
	Conflict Decision = "conflict" // a job with another payload has the id: reject the message
	Spent    Decision = "spent"    // the worker of its last attempt was lost: it failed, see BeginAnswer.DeadLetter
)

// BeginAnswer is the answer to Begin.
type BeginAnswer struct {
	Decision    Decision
	Fence       int64 // rises with every run (I4)
	Attempt     int   // 1 is the first
	MaxAttempts int
	Progress    int // of the earlier attempts; it never falls (I8)
	State       string
	Checkpoint  json.RawMessage // of an earlier attempt; nil: none
	Wait        time.Duration   // for Leased and Waiting
	Worker      string          // of the last attempt, for Leased
	// First says, for Run, that this is the first begin of the series.
	First    bool
	LastWait time.Duration // before the last retry; zero: there was none
	// Duration is, for an ended job, from the start of the series to its end. Zero: it was not started.
	Duration   time.Duration
	DeadLetter *DeadLetterRef // of a failed job, if the copy may still have to be sent
	// Duplicate says, for Done, that the message was sent after the job failed, and that the store has recorded an
	// event and a webhook about it.
	Duplicate  bool
	Deliveries int           // for Duplicate and Spent: webhooks put in the outbox
	Releases   int           // of this series, with Waits and Tried
	Waited     time.Duration // since the first release of this series with Waits; zero: there was none
}

// DeadLetterRef describes a dead letter, for its copy on the dead-letter queue.
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

// Event is one line of a job's history. The store numbers events without gaps (I8), never lets progress fall or time
// go back, and ignores an ID that it has. An event is sent with its age, and the store takes the time from its own
// clock.
type Event struct {
	ID       string          `json:"id"` // UUID, made by the caller
	At       time.Time       `json:"-"`  // sent as ago_ms; the monotonic reading makes it safe from clock steps
	Stage    string          `json:"stage,omitempty"`
	Progress int             `json:"progress"`
	Message  string          `json:"message,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// MarshalJSON writes the event with its age.
func (e Event) MarshalJSON() ([]byte, error) {
	type fields Event
	return json.Marshal(struct {
		fields
		AgoMS int64 `json:"ago_ms"`
	}{fields(e), time.Since(e.At).Milliseconds()})
}

// Heartbeat extends the lease of a running job.
type Heartbeat struct {
	Holder
	Lease      time.Duration   `json:"-"` // sent as lease_ms
	Events     []Event         `json:"events,omitempty"`
	Checkpoint json.RawMessage `json:"checkpoint,omitempty"` // replaces the stored one unless nil
}

// HeartbeatAnswer is the answer to a Heartbeat.
type HeartbeatAnswer struct {
	Cancel bool // a cancel was requested
}

// Effect is what a handler wants committed with its success. Kind names the SQL function
// aw_effect_<kind>(client_id, job_id, fence, args) that does it. The store merges what the function returns into the
// result.
type Effect struct {
	Kind string `json:"kind"` // [a-z_]+
	Args any    `json:"args"`
}

// Completion is success.
type Completion struct {
	Holder
	Result  json.RawMessage `json:"result"` // a JSON object
	Effects []Effect        `json:"effects,omitempty"`
	Events  []Event         `json:"events,omitempty"` // not yet flushed; the store adds the terminal event
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

// ErrorInfo is an error as rows and webhooks show it.
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
	// Waits says that the job needs a service that is down. The row counts such releases and stores the time of the
	// first, which bounds the wait (I11). Tried says that the handler has run.
	Waits  bool    `json:"waits,omitempty"`
	Tried  bool    `json:"tried,omitempty"`
	Events []Event `json:"events,omitempty"`
}

// Rejection is a message that is not a valid task. Fields that could not be read are empty.
type Rejection struct {
	JobID       string          `json:"job_id,omitempty"` // well-formed, or empty
	Type        string          `json:"type,omitempty"`
	Payload     json.RawMessage `json:"payload,omitempty"`
	WebhookURL  string          `json:"webhook_url,omitempty"`
	RequestedBy string          `json:"requested_by,omitempty"`
	// Record allows a failed job row under JobID: the id is this tenant's.
	Record   bool      `json:"record"`
	Error    ErrorInfo `json:"error"`
	Reason   string    `json:"reason"` // malformed | wrong_client | unknown_type | invalid_payload | conflict | ...
	Worker   string    `json:"worker,omitempty"`
	Source   Source    `json:"source"`
	Original string    `json:"original_message"`
}

// Rejected is the State of a refused message whose id belongs to another task. That task's job does not change.
const Rejected = "rejected"

// Settlement is the answer to the calls that end an attempt.
type Settlement struct {
	State      string
	Attempts   int
	Result     json.RawMessage // of Complete: with the fields that effects have added
	DeadLetter *DeadLetterRef
	Deliveries int           // webhooks put in the outbox: the webhook loop may be woken
	Duration   time.Duration // of an ended job: from the start of the series to its end; zero: not started
}

// Submission is a job recorded before its message is sent.
type Submission struct {
	Task
	Queue   string `json:"queue"`   // where the message goes
	Message string `json:"message"` // for the sweep to send
}

// SubmitAnswer is the answer to Submit.
type SubmitAnswer struct {
	Created bool   // false: the job existed
	State   string // of the job now
	Sent    bool   // its message is on the queue
}
