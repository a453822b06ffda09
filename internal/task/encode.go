package task

import (
	"encoding/json"
	"fmt"
	"time"
)

// Message is a task in the contract's form. docs/schemas/message.schema.json is made from its comments and tags.
type Message struct {
	// The task's id, and its idempotency key: a second message with the same type and payload is the same task, and is
	// dropped once that has failed (TASK_ALREADY_FAILED); with others it is refused (TASK_ID_CONFLICT).
	ID string `json:"task_id" jsonschema:"required,pattern=^[A-Za-z0-9._:-]{1\\,128}$"`
	// What is to be done.
	Type Type `json:"task_type" jsonschema:"required"`
	// What it is to be done with, by task_type.
	Payload json.RawMessage `json:"payload" jsonschema:"required"`
	// Who is told of the end: an absolute http or https URL without a user name, in ASCII. Default: nobody.
	WebhookURL string `json:"webhook_url,omitempty" jsonschema:"maxLength=2048,pattern=^(https?://([A-Za-z0-9.-]+|\\[[0-9A-Fa-f:.]+\\])(:([1-9][0-9]{0\\,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?([/?#]([!-$&-~]|%[0-9A-Fa-f]{2})*)?)?$"`
	// What else webhook_url is told of, by task.started and task.progress (at most one in two seconds). Each is tried
	// once, and may come late: see its timestamp. Default: nothing.
	WebhookEvents []string `json:"webhook_events,omitempty" jsonschema:"maxItems=16,enum=started,enum=progress"`
	// The queue to be done from. Default: the one that the message is on.
	Priority Priority `json:"priority,omitempty" jsonschema:"enum=high,enum=normal,enum=low"`
	// How it is to be done.
	Hints Hints `json:"hints,omitzero"`
	// The tenant. If it is given, it has to be the one whose queue this is.
	ClientID string `json:"client_id,omitempty" jsonschema:"pattern=^[a-z0-9-]{0\\,28}$"`
	// Who asked for it, for the record.
	RequestedBy string `json:"requested_by,omitempty" jsonschema:"maxLength=256,pattern=^[^\\x00-\\x1f\\x7f]*$"`
	// The W3C trace context of the sender.
	TraceParent string `json:"traceparent,omitempty"`
	// It does not start before: a time such as 2026-12-01T06:00:00Z, at most a year ahead. Default: it starts at once.
	RunAt time.Time `json:"run_at,omitzero"`
}

// Encode writes a task as native JSON. It rejects what a worker of the task's client would reject, with the same
// *Invalid, so that decoding the text returns the same task.
func Encode(t Task) (string, error) {
	n := Message{
		ID: t.ID, Type: t.Type, Payload: t.Payload, WebhookURL: t.WebhookURL, Priority: t.Priority,
		WebhookEvents: t.WebhookEvents,
		Hints:         t.Hints, ClientID: t.ClientID, RequestedBy: t.RequestedBy, TraceParent: t.TraceParent,
		RunAt: t.RunAt,
	}
	if n.Hints.TimeoutSec == 0 {
		n.Hints.TimeoutSec = t.Hints.Timeout.Seconds()
	}
	if n.Hints.MaxWaitSec == 0 {
		n.Hints.MaxWaitSec = t.Hints.MaxWait.Seconds()
	}
	n.Hints.Timeout, n.Hints.MaxWait = 0, 0
	text, err := json.Marshal(n)
	if err != nil {
		return "", fmt.Errorf("encode task %s: %w", t.ID, err)
	}
	if _, err := Decode(string(text), Options{ClientID: t.ClientID, FromClaimCheck: true}); err != nil {
		return "", fmt.Errorf("encode task %s: %w", t.ID, err)
	}
	return string(text), nil
}
