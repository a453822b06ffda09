// Package task says what a message asks for: the vocabulary of a task and its decoding from the
// texts that a frontend puts on a queue (native JSON, CloudEvents, base64 of either, claim checks).
// It does no I/O and imports nothing of ours.
package task

import (
	"encoding/json"
	"time"
)

// Type names what is to be done, e.g. "ingest". Which types a worker can do is the registry's
// knowledge, not this package's: decoding accepts every well-formed name.
type Type string

// The types of the fixed contract.
const (
	Ingest    Type = "ingest"
	Summarize Type = "summarize"
	Agent     Type = "agent"
	OCR       Type = "ocr"
	Convert   Type = "convert"
	Export    Type = "export"
	AI        Type = "ai"
	XML       Type = "xml"
)

// The events of a task's course that WebhookURL can be told of.
const (
	EventStarted  = "started"
	EventProgress = "progress"
)

// Priority chooses the queue. The zero value is not valid; decoding fills in PriorityNormal.
type Priority string

// The three priorities, one queue each.
const (
	PriorityHigh   Priority = "high"
	PriorityNormal Priority = "normal"
	PriorityLow    Priority = "low"
)

// Task is one decoded, well-formed message. The handler checks its payload.
type Task struct {
	ID         string          // 1-128 of [A-Za-z0-9._:-]; the idempotency key
	Type       Type            // never empty
	Payload    json.RawMessage // a JSON object
	WebhookURL string          // empty: none
	// WebhookEvents are EventStarted and EventProgress, if WebhookURL is to get them, too; sorted.
	WebhookEvents []string
	Priority      Priority
	Hints         Hints
	ClientID      string // from the message; may be empty
	RequestedBy   string // for audit; empty when unknown
	TraceParent   string // W3C trace context; empty when absent or malformed
	// RunAt is when it may start; zero: at once. It is not in its fingerprint.
	RunAt time.Time

	// Ignored names the unknown fields and hints that decoding ignored, e.g. "colour" or "hints.colour"; the engine
	// logs them.
	Ignored []string
}

// Hints change how a task is done, not what it is: they are not in its fingerprint.
type Hints struct {
	// Do it again although it is done.
	Force   bool          `json:"force,omitempty"`
	Timeout time.Duration `json:"-"` // zero: TASK_TIMEOUT_SEC
	// The longest that an attempt may take, in seconds. Default: TASK_TIMEOUT_SEC.
	TimeoutSec float64 `json:"timeout_seconds,omitempty" jsonschema:"minimum=0.001,maximum=86400"`
	// How long the task may wait for a service that is down, from when it was put on the queue, before it fails;
	// zero: WAIT_MAX_HOURS.
	MaxWait time.Duration `json:"-"`
	// The longest that the task may wait for a service that is down, in seconds. Default: WAIT_MAX_HOURS.
	MaxWaitSec float64 `json:"max_wait_seconds,omitempty" jsonschema:"minimum=1,maximum=31536000"`
	// The longest side of a page's image for OCR, in pixels. Default: the engine's.
	Resolution int `json:"resolution,omitempty" jsonschema:"minimum=1"`
	// The format of what is derived. Default: markdown.
	OutputFormat string `json:"output_format,omitempty" jsonschema:"enum=markdown,enum=text,enum=hocr,enum=json"`
	// As the message's priority, and before it.
	Priority Priority `json:"priority,omitempty" jsonschema:"enum=high,enum=normal,enum=low"`
}
