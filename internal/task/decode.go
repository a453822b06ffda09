package task

import (
	"encoding/json"
	"slices"
)

// Options are the receiver of a message.
type Options struct {
	// ClientID is the worker's client. A message that names another one is rejected (I10).
	ClientID string
	// FromClaimCheck means that the text is the content of a claim check; it can't be another claim check.
	FromClaimCheck bool
}

// Decoded is a valid message: a task, or a claim check for one.
type Decoded struct {
	Task Task // of a claim check only Ignored
	// ClaimCheck, unless empty, names the blob in the tenant's container that holds the message. Read it (at most
	// MaxBytes) and decode it with Options.FromClaimCheck.
	ClaimCheck string
	Known      Known // the fields next to the claim check, or the task's
	// Priority is the message's priority, from its hints or its own field; empty: none, so that the task stays on its
	// queue.
	Priority Priority
	Origin   Origin // the message that it was moved from
}

// Decode parses a message's text: a task as JSON, or in a CloudEvents 1.0 envelope, or a claim check; raw, base64
// (either alphabet, padded or not) or as a JSON string, each detected. The error is an *Invalid with the first fault
// and all fields that could be read. Unknown fields are not an error, see Task.Ignored; of a repeated field the last
// counts.
func Decode(text string, opts Options) (Decoded, error) {
	m, err := open(text)
	if err != nil {
		return Decoded{}, err
	}
	d := decoder{opts: opts, fields: m.fields, event: m.event}
	t, blob := d.message()
	if t.TraceParent == "" {
		t.TraceParent = m.traceParent
	}
	if d.err != nil {
		d.err.Known = d.known(t)
		return Decoded{Known: d.err.Known}, d.err
	}
	decoded := Decoded{ClaimCheck: blob, Known: d.known(t), Priority: d.asked, Origin: m.origin}
	t.Ignored = slices.Sorted(slices.Values(slices.Concat(d.rest(), d.ignored, m.ignored)))
	if blob != "" {
		t = Task{Ignored: t.Ignored}
	}
	decoded.Task = t
	return decoded, nil
}

// message is a JSON object that is a task or a claim check, unwrapped.
type message struct {
	*fields
	event       bool     // it came in a CloudEvents envelope
	traceParent string   // of the envelope
	ignored     []string // attributes of the envelope
	origin      Origin
}

// open unwraps a text. Its error is an *Invalid whose Known is empty.
func open(text string) (message, error) {
	outer, invalid := object(text)
	if invalid != nil {
		return message{}, invalid
	}
	origin := outer.origin()
	if _, event := outer.members["specversion"]; event {
		m, err := openEvent(outer)
		m.origin = origin
		return m, err
	}
	return message{fields: outer, origin: origin}, nil
}

// object parses the one JSON object that a text is or wraps.
func object(text string) (*fields, *Invalid) {
	text, invalid := unwrap(text)
	if invalid != nil {
		return nil, invalid
	}
	raw := []byte(text)
	if !json.Valid(raw) {
		return nil, notJSON(text, json.Unmarshal(raw, new(json.RawMessage)))
	}
	all, sound := members(raw)
	f := &fields{members: all}
	if !sound {
		f.err = inspect(text)
		f.spoiled = f.err != nil
	}
	return f, nil
}

// decoder reads the fields of a task.
type decoder struct {
	opts Options
	*fields
	event       bool
	ignored     []string
	otherClient bool
	asked       Priority // empty: the message names none
}

// message reads a task, or the name of a blob if the message is a claim check. It reads every field even after an
// error, for Known.
func (d *decoder) message() (t Task, blob string) {
	blob, claimed := d.claimCheck()
	t.ClientID = d.client()
	t.ID = d.id(claimed)
	t.Type = d.taskType(claimed)
	t.Payload = d.payload(claimed)
	t.WebhookURL = d.webhookURL()
	t.WebhookEvents = d.webhookEvents()
	d.asked = d.priority()
	t.Hints = d.hints()
	if t.Hints.Priority != "" {
		d.asked = t.Hints.Priority
	}
	if t.Priority = d.asked; t.Priority == "" {
		t.Priority = PriorityNormal
	}
	t.RequestedBy = d.alias("requested_by", "owner_id", maxRequestedBy)
	t.TraceParent = d.traceParent()
	t.RunAt = d.runAt()
	return t, blob
}

func (d *decoder) known(t Task) Known {
	return Known{
		TaskID: t.ID, Type: t.Type, Payload: t.Payload, WebhookURL: t.WebhookURL,
		RequestedBy: t.RequestedBy, OtherClient: d.otherClient,
	}
}

// name returns the field's name in the form that the sender used.
func (d *decoder) name(native, inEvent string) string {
	if d.event {
		return inEvent
	}
	return native
}
