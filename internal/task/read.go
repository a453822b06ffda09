package task

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Limits on fields, in bytes.
const (
	maxID          = 128
	maxType        = 64
	maxURL         = 2048
	maxBlobName    = 4 * MaxBlobName // UTF-8 has up to 4 bytes for a character
	maxRequestedBy = 256
	maxAttribute   = 1024
)

const (
	idRemedy       = "send 1 to 128 of A-Z, a-z, 0-9 and . _ : -"
	typeRemedy     = "send a task type, such as ingest or summarize"
	payloadRemedy  = "send an object with what the task type needs"
	urlRemedy      = "send an absolute http or https URL without a user name, of at most 2048 bytes, or none"
	priorityRemedy = "send high, normal or low, or leave it out"
	blobRemedy     = "name a blob in the tenant's container, without a leading slash and without .."
)

// The lengths are not in the expressions, which would be a program of as many steps in each process.
var (
	taskID   = regexp.MustCompile(`^[A-Za-z0-9._:-]+$`)
	taskType = regexp.MustCompile(`^[a-z][a-z0-9._-]*$`)
)

// alias reads a field that has another name in an event's data. Two names with two values are refused:
// nobody can tell which of them is meant.
func (d *decoder) alias(native, inEvent string, limit int) string {
	value := d.text(native, limit)
	if !d.event {
		return value
	}
	other := d.text(inEvent, limit)
	switch {
	case value == "":
		return other
	case other != "" && other != value:
		d.bad(inEvent, "and "+d.place+native+" differ", "send one of the two")
	}
	return value
}

func (d *decoder) client() string {
	client := d.alias("client_id", "tenant_id", maxAttribute)
	if client == "" || client == d.opts.ClientID {
		return client
	}
	d.otherClient = true
	d.fail(&Invalid{
		Reason: WrongClient, Field: d.place + d.name("client_id", "tenant_id"),
		Problem: "is " + quote(client) + ", but this queue belongs to " + quote(d.opts.ClientID),
		Remedy:  "send the message to the queue of its own client",
	})
	return client
}

// ValidID reports whether a text can be a task's id: 1 to 128 of A-Z, a-z, 0-9 and . _ : -
func ValidID(id string) bool { return len(id) <= maxID && taskID.MatchString(id) }

func (d *decoder) id(optional bool) string {
	id := d.alias("task_id", "job_id", 4*maxID)
	name := d.name("task_id", "job_id")
	switch {
	case id == "" && optional:
		return ""
	case id == "":
		d.bad(name, "is missing", idRemedy)
		return ""
	case !ValidID(id):
		d.bad(name, "is "+quote(id), idRemedy)
		return ""
	}
	return id
}

// claimCheck reads {"claim_check": {"blob": "…"}}; claimed says that there is one, be it valid or not.
func (d *decoder) claimCheck() (blob string, claimed bool) {
	raw, claimed := d.take("claim_check")
	if !claimed {
		return "", false
	}
	if d.opts.FromClaimCheck {
		d.bad("claim_check", "names another claim check", "put the task itself into the blob")
		return "", true
	}
	inner := &fields{place: d.place + "claim_check."}
	if err := json.Unmarshal(raw, &inner.members); err != nil {
		d.bad("claim_check", "is "+kind(raw)+", not an object", `send {"claim_check": {"blob": "…"}}`)
		return "", true
	}
	blob = inner.text("blob", maxBlobName)
	if inner.err != nil {
		d.fail(inner.err)
	} else if problem := BlobNameProblem(blob); problem != "" {
		inner.bad("blob", problem, blobRemedy)
		d.fail(inner.err)
	}
	return blob, true
}

// taskType reads the type; an event's data without one means ocr.
func (d *decoder) taskType(optional bool) Type {
	raw := string(d.members["task_type"])
	absent := raw == "" || raw == "null" || raw == `""`
	t := d.text("task_type", maxAttribute)
	switch {
	case absent && optional:
		return ""
	case absent && d.event:
		return OCR
	case t == "":
		d.bad("task_type", "is missing", typeRemedy)
		return ""
	case len(t) > maxType, !taskType.MatchString(t):
		d.bad("task_type", "is "+quote(t), typeRemedy)
		return ""
	}
	return Type(t)
}

// payload reads the payload; in an event's data a content_id names its file unless it does so itself.
func (d *decoder) payload(optional bool) json.RawMessage {
	raw, there := d.take("payload")
	content := ""
	if d.event {
		content = d.text("content_id", maxBlobName)
	}
	problem := ""
	switch {
	case !there && content != "":
		raw = json.RawMessage("{}")
	case !there && optional:
		return nil
	case !there:
		problem = "is missing"
	case raw[0] != '{':
		problem = "is " + kind(raw) + ", not an object"
	}
	if problem != "" {
		d.fail(&Invalid{Reason: InvalidPayload, Field: d.place + "payload", Problem: problem, Remedy: payloadRemedy})
		return nil
	}
	if d.spoiled {
		return nil
	}
	if content != "" {
		return withFilename(raw, content)
	}
	return bytes.Clone(raw)
}

func withFilename(payload json.RawMessage, filename string) json.RawMessage {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(payload, &members); err != nil {
		return payload // it was read as an object before
	}
	if given, ok := members["filename"]; ok && string(given) != "null" {
		return payload
	}
	name, err := json.Marshal(filename)
	if err != nil {
		return payload // a string always marshals
	}
	members["filename"] = name
	changed, err := json.Marshal(members)
	if err != nil {
		return payload // its members were read as JSON before
	}
	return changed
}

func (d *decoder) webhookURL() string {
	text := d.text("webhook_url", maxURL)
	if text == "" {
		return ""
	}
	problem := WebhookURLProblem(text)
	if strings.ContainsFunc(text, unicode.IsSpace) {
		problem = "has white space in it"
	}
	if problem != "" {
		d.bad("webhook_url", problem, urlRemedy)
		return ""
	}
	return text
}

// webhookEvents reads which events of its course the task's receiver wants. It gets outcomes in any case.
func (d *decoder) webhookEvents() (wanted []string) {
	const name, remedy = "webhook_events", `send a list of "started" and "progress", or leave it out`
	raw, ok := d.take(name)
	if !ok {
		return nil
	}
	var names []string
	if err := json.Unmarshal(raw, &names); err != nil || len(names) > 16 {
		d.bad(name, "is not a list of a few strings", remedy)
		return nil
	}
	for _, event := range names {
		switch event {
		case EventStarted, EventProgress:
			wanted = append(wanted, event)
		case "completed", "failed", "canceled", "rejected":
		default:
			d.bad(name, "has "+quote(event)+" in it", remedy)
			return nil
		}
	}
	slices.Sort(wanted)
	return slices.Compact(wanted)
}

// runAt reads when the task may start.
func (f *fields) runAt() time.Time {
	text := f.text("run_at", maxAttribute)
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Year() < 1 {
		f.bad("run_at", "is "+quote(text)+", not a time", "use the form 2026-12-01T06:00:00Z")
		return time.Time{}
	}
	return at.UTC()
}

func (f *fields) priority() Priority {
	switch p := Priority(f.text("priority", maxAttribute)); p {
	case "", PriorityHigh, PriorityNormal, PriorityLow:
		return p
	default:
		f.bad("priority", "is "+quote(string(p)), priorityRemedy)
		return ""
	}
}
