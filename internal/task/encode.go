package task

import (
	"encoding/json"
	"fmt"
)

// native is a task as the contract spells it.
type native struct {
	ID          string          `json:"task_id"`
	Type        Type            `json:"task_type"`
	Payload     json.RawMessage `json:"payload"`
	WebhookURL  string          `json:"webhook_url,omitempty"`
	Priority    Priority        `json:"priority,omitempty"`
	Hints       Hints           `json:"hints,omitzero"`
	ClientID    string          `json:"client_id,omitempty"`
	RequestedBy string          `json:"requested_by,omitempty"`
	TraceParent string          `json:"traceparent,omitempty"`
}

// Encode writes a task as native JSON. What a worker of the task's client would refuse is refused
// here already, with the same *Invalid; so decoding the text gives the task back.
func Encode(t Task) (string, error) {
	n := native{
		ID: t.ID, Type: t.Type, Payload: t.Payload, WebhookURL: t.WebhookURL, Priority: t.Priority,
		Hints: t.Hints, ClientID: t.ClientID, RequestedBy: t.RequestedBy, TraceParent: t.TraceParent,
	}
	if n.Hints.TimeoutSec == 0 {
		n.Hints.TimeoutSec = t.Hints.Timeout.Seconds()
	}
	n.Hints.Timeout = 0
	text, err := json.Marshal(n)
	if err != nil {
		return "", fmt.Errorf("encode task %s: %w", t.ID, err)
	}
	if _, err := Decode(string(text), Options{ClientID: t.ClientID, Claimed: true}); err != nil {
		return "", fmt.Errorf("encode task %s: %w", t.ID, err)
	}
	return string(text), nil
}
