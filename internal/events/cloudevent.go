package events

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Event is a CloudEvent 1.0 that a sink sends. Source: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md
// and formats/json-format.md there.
type Event struct {
	ID   string
	Type string // e.g. ocr.job.started; also its NATS subject
	Job  string // events of one job are sent in order; maybe empty
	// Body is the event in structured mode, as JSON.
	Body []byte

	from   store.Outgoing
	client string
}

// unknown stands for a task type that is missing or malformed: a rejected message may name anything.
const unknown = "unknown"

// word is one word of a subject of NATS. A type with a dot would be of a subject with more words, which the sink's login
// may not publish to: one rejected message would hold up all events.
var word = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// typeOf is the type of an event.
func typeOf(o store.Outgoing) string {
	prefix := o.TaskType
	if len(prefix) > 64 || !word.MatchString(prefix) {
		prefix = unknown
	}
	if o.Kind == store.OutgoingLetter {
		return prefix + ".dlq"
	}
	return prefix + ".job." + o.Kind
}

// Make makes the event of a row of a tenant's stream.
func Make(client string, o store.Outgoing) (Event, error) {
	e := Event{ID: o.ID, Type: typeOf(o), Job: o.JobID, from: o, client: client}
	err := e.encode(o)
	return e, err
}

// maxReduced is how long the texts of a reduced event are, in bytes.
const maxReduced = 1 << 10

// Reduced is the event without what may be long: the result, of which a reference stays, and the original message. It
// has at most some kilobytes.
func (e Event) Reduced() (Event, error) {
	o := e.from
	o.Result, o.OriginalMessage = nil, ""
	for _, text := range []*string{&o.Message, &o.ErrorMessage, &o.ContentID, &o.OwnerID} {
		*text = cut(*text, maxReduced)
	}
	r := e
	err := r.encode(o)
	return r, err
}

// cut shortens a text to at most n bytes, at the end of a character.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// envelope is a CloudEvent with the extension "distributed tracing".
type envelope struct {
	SpecVersion string    `json:"specversion"`
	ID          string    `json:"id"`
	Source      string    `json:"source"`
	Type        string    `json:"type"`
	Subject     string    `json:"subject,omitempty"`
	Time        time.Time `json:"time"`
	ContentType string    `json:"datacontenttype"`
	TraceParent string    `json:"traceparent,omitempty"`
	Data        any       `json:"data"`
}

// subject is what all data has.
type subject struct {
	JobID       string    `json:"job_id,omitempty"`
	ContentID   string    `json:"content_id"`
	TenantID    string    `json:"tenant_id"`
	OwnerID     string    `json:"owner_id"`
	Timestamp   time.Time `json:"timestamp"`
	WorkerID    string    `json:"worker_id"`
	TaskType    string    `json:"task_type"`
	Attempt     int       `json:"attempt"`
	ParentJobID string    `json:"parent_job_id,omitempty"`
}

type progress struct {
	subject

	Stage          string  `json:"stage"`
	Message        string  `json:"message,omitempty"`
	PagesCompleted int     `json:"pages_completed"`
	TotalPages     int     `json:"total_pages"` // 0: not known yet
	Percent        float64 `json:"percent_complete"`
}

type completed struct {
	subject

	DerivedContentID string          `json:"derived_content_id,omitempty"`
	ProcessingMS     float64         `json:"processing_time_ms"`
	PageCount        *float64        `json:"page_count,omitempty"`
	Result           json.RawMessage `json:"result,omitempty"`
	ResultRef        string          `json:"result_ref,omitempty"` // the path of the job in the HTTP API
	ResultBytes      int             `json:"result_bytes,omitempty"`
	DocumentID       string          `json:"document_id,omitempty"`
	SummaryID        string          `json:"summary_id,omitempty"`
	RunID            string          `json:"run_id,omitempty"`
	DeckID           string          `json:"deck_id,omitempty"`
}

type failed struct {
	subject

	ErrorType    string  `json:"error_type"`
	ErrorMessage string  `json:"error_message"`
	RetryCount   int     `json:"retry_count"`
	ProcessingMS float64 `json:"processing_time_ms"`
	ErrorClass   string  `json:"error_class"`
	ErrorCode    string  `json:"error_code"`
}

type letter struct {
	failed

	DeadLetterID    string  `json:"dead_letter_id"`
	Reason          string  `json:"reason"`
	SourceQueue     string  `json:"source_queue,omitempty"`
	OriginalMessage *string `json:"original_message,omitempty"` // left out of a reduced event
}

func (e *Event) encode(o store.Outgoing) error {
	body, err := json.Marshal(envelope{
		SpecVersion: "1.0", ID: o.ID, Source: "async-worker/" + e.client, Type: e.Type, Subject: o.JobID, Time: o.At.UTC(),
		ContentType: "application/json", TraceParent: o.TraceParent, Data: data(e.client, o),
	})
	if err != nil {
		return fmt.Errorf("write event %s of job %s: %w", o.ID, o.JobID, err)
	}
	e.Body = body
	return nil
}

// data is what the event says.
func data(client string, o store.Outgoing) any {
	s := subject{
		JobID: o.JobID, ContentID: o.ContentID, TenantID: client, OwnerID: o.OwnerID, Timestamp: o.At.UTC(),
		WorkerID: o.Worker, TaskType: o.TaskType, Attempt: o.Attempt, ParentJobID: o.ParentJobID,
	}
	f := failed{
		subject: s, ErrorType: o.ErrorType, ErrorMessage: o.ErrorMessage, RetryCount: o.RetryCount,
		ProcessingMS: number(o.ProcessingMS), ErrorClass: o.ErrorClass, ErrorCode: o.ErrorCode,
	}
	switch o.Kind {
	case store.OutgoingProgress:
		return progress{
			subject: s, Stage: o.Stage, Message: o.Message, PagesCompleted: o.PagesCompleted, TotalPages: o.TotalPages,
			Percent: float64(o.Progress),
		}
	case store.OutgoingCompleted:
		c := completed{
			subject: s, DerivedContentID: o.DerivedContentID, ProcessingMS: number(o.ProcessingMS), PageCount: o.PageCount,
			Result: o.Result, DocumentID: o.DocumentID, SummaryID: o.SummaryID, RunID: o.RunID, DeckID: o.DeckID,
		}
		if o.Result == nil && o.ResultBytes > 0 {
			c.ResultRef, c.ResultBytes = "/v1/jobs/"+o.JobID, o.ResultBytes
		}
		return c
	case store.OutgoingFailed:
		return f
	case store.OutgoingLetter:
		l := letter{failed: f, DeadLetterID: o.ID, Reason: o.Reason, SourceQueue: o.SourceQueue}
		if o.OriginalMessage != "" {
			l.OriginalMessage = new(strings.ToValidUTF8(o.OriginalMessage, "?"))
		}
		return l
	default: // started, canceled
		return s
	}
}

func number(n *float64) float64 {
	if n == nil {
		return 0
	}
	return *n
}
