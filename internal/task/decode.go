package task

import (
	"encoding/json"
	"slices"
)

// Options say for whom a message is decoded.
type Options struct {
	// ClientID is ours. A message that names another client is refused (I10).
	ClientID string
	// Claimed says that the text is what a claim check named; it can't be another one.
	Claimed bool
}

// Decoded is a valid message: a task, or a claim check for one.
type Decoded struct {
	Task Task // the zero value for a claim check
	// ClaimCheck, unless empty, names the blob in the tenant's container that holds the message. It
	// is to be read (at most MaxBytes) and decoded with Options.Claimed.
	ClaimCheck string
	Known      Known // what stood beside the claim check, or the parts of the task
	// Priority is what the message asks for, by its hints or else by itself; empty: for none, so that it stays on the
	// queue that it is on.
	Priority Priority
	Origin   Origin // where it was moved from
}

// Decode reads a message's text: a task as JSON, or in a CloudEvents 1.0 envelope, or a claim check;
// raw, base64 (either alphabet, padded or not) or as a JSON string, each detected. The error is an
// *Invalid with the first thing wrong and with all that could be read nevertheless. Unknown fields
// are no error, see Task.Ignored; of a field given twice the last counts.
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
	if blob != "" {
		return Decoded{ClaimCheck: blob, Known: d.known(t), Priority: d.asked, Origin: m.origin}, nil
	}
	t.Ignored = append(d.rest(), d.ignored...)
	slices.Sort(t.Ignored)
	return Decoded{Task: t, Known: d.known(t), Priority: d.asked, Origin: m.origin}, nil
}

// message is a JSON object that is a task or a claim check, out of its wrappings.
type message struct {
	*fields
	event       bool   // it came in a CloudEvents envelope
	traceParent string // of the envelope
	origin      Origin
}

// open takes off the wrappings of a text. Its error is an *Invalid whose Known is empty.
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

// object reads the one JSON object that a text is or wraps.
func object(text string) (*fields, *Invalid) {
	text, invalid := unwrap(text)
	if invalid != nil {
		return nil, invalid
	}
	f := &fields{}
	if err := json.Unmarshal([]byte(text), &f.members); err != nil {
		return nil, notJSON(text, err)
	}
	f.err = inspect(text)
	f.spoiled = f.err != nil
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

// message reads a task, and the name of a blob when the message is a claim check. Every field is
// read even after an error, for the sake of Known.
func (d *decoder) message() (t Task, blob string) {
	blob, claimed := d.claimCheck()
	t.ClientID = d.client()
	t.ID = d.id(claimed)
	t.Type = d.taskType(claimed)
	t.Payload = d.payload(claimed)
	t.WebhookURL = d.webhookURL()
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
	return t, blob
}

func (d *decoder) known(t Task) Known {
	return Known{
		TaskID: t.ID, Type: t.Type, Payload: t.Payload, WebhookURL: t.WebhookURL,
		RequestedBy: t.RequestedBy, OtherClient: d.otherClient,
	}
}

// name returns the name that the sender is likely to know a field by.
func (d *decoder) name(native, inEvent string) string {
	if d.event {
		return inEvent
	}
	return native
}
