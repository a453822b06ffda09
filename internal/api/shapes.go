package api

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// schemaOf is the reference to a type's schema.
func schemaOf[T any](a *API) *huma.Schema {
	t := reflect.TypeFor[T]()
	return a.huma.OpenAPI().Components.Schemas.Schema(t, true, t.Name())
}

// encode is the JSON of a value of this package, none of which fails.
func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("api: " + err.Error())
	}
	return raw
}

// Object is a JSON object as it is.
type Object json.RawMessage

// Schema implements huma.SchemaProvider.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// MarshalJSON implements json.Marshaler.
func (o Object) MarshalJSON() ([]byte, error) {
	if len(o) == 0 {
		return []byte("{}"), nil
	}
	return o, nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *Object) UnmarshalJSON(text []byte) error {
	*o = append((*o)[:0], text...)
	return nil
}

// Page is a list and where it goes on.
type Page[T any] struct {
	Items      []T    `json:"items" nullable:"false"`
	NextCursor string `json:"nextCursor,omitempty" doc:"For the next page; left out: there is none."`
}

// page cuts a list, which was asked for with one more, and makes the cursor of its last item.
func page[T, S any](found []S, limit int, shape func(S) T, cursor func(S) string) Page[T] {
	p := Page[T]{Items: []T{}}
	for i, s := range found {
		if i == limit {
			p.NextCursor = cursor(found[i-1])
			break
		}
		p.Items = append(p.Items, shape(s))
	}
	return p
}

// Job is a job.
type Job struct {
	ID              string     `json:"id"`
	Type            string     `json:"type"`
	Status          string     `json:"status" enum:"pending,running,succeeded,failed,canceled"`
	Stage           string     `json:"stage"`
	Progress        int        `json:"progress" minimum:"0" maximum:"100" doc:"Percent; it never falls."`
	Attempts        int        `json:"attempts"`
	MaxAttempts     int        `json:"maxAttempts"`
	Priority        string     `json:"priority" enum:"high,normal,low"`
	CreatedAt       time.Time  `json:"createdAt"`
	UpdatedAt       time.Time  `json:"updatedAt"`
	StartedAt       *time.Time `json:"startedAt,omitempty"`
	CompletedAt     *time.Time `json:"completedAt,omitempty"`
	RunAt           *time.Time `json:"runAt,omitempty" doc:"It does not start before."`
	Error           *JobError  `json:"error,omitempty"`
	Result          *Object    `json:"result,omitempty"`
	ResultRef       string     `json:"resultRef,omitempty" doc:"The path of what the job made." example:"/v1/summaries/…"`
	RequestedBy     string     `json:"requestedBy,omitempty"`
	ParentJobID     string     `json:"parentJobId,omitempty" doc:"The job that this one replays."`
	CancelRequested bool       `json:"cancelRequested,omitempty"`
	Metadata        Object     `json:"metadata" doc:"Of the payload."`
}

// JobError is why a job failed, or its last attempt.
type JobError struct {
	Class     string `json:"class"`
	Code      string `json:"code"`
	Type      string `json:"type" doc:"validation, transient, permanent or timeout."`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	return new(t.UTC())
}

func jobOf(j store.Job) Job {
	out := Job{
		ID: j.ID, Type: j.Type, Status: j.Status, Stage: j.Stage, Progress: j.Progress, Attempts: j.Attempts,
		MaxAttempts: j.MaxAttempts, Priority: j.Priority, CreatedAt: j.CreatedAt.UTC(), UpdatedAt: j.UpdatedAt.UTC(),
		StartedAt: utc(j.StartedAt), CompletedAt: utc(j.CompletedAt), RunAt: utc(j.RunAt), RequestedBy: j.RequestedBy,
		ParentJobID: j.ParentJobID, CancelRequested: j.CancelAsked && j.CompletedAt == nil, Metadata: metadataOf(j.Payload),
	}
	if j.ErrorClass != "" && j.Status != "succeeded" {
		out.Error = &JobError{
			Class: j.ErrorClass, Code: j.ErrorCode, Type: j.ErrorType, Message: j.ErrorMessage,
			Retryable: j.ErrorType == "transient",
		}
	}
	if j.Result != nil {
		out.Result = new(Object(j.Result))
		out.ResultRef = resultRef(task.Type(j.Type), j.Result)
	}
	return out
}

// metadataOf is the metadata of a payload.
func metadataOf(payload json.RawMessage) Object {
	var fields struct {
		Metadata json.RawMessage `json:"metadata"`
	}
	if json.Unmarshal(payload, &fields) != nil || !strings.HasPrefix(string(fields.Metadata), "{") {
		return Object("{}")
	}
	return Object(fields.Metadata)
}

// resultRef is the path of what a job made, by the ids in its result. That of an export names the deck that it read.
func resultRef(of task.Type, result json.RawMessage) string {
	var ids map[string]any
	if of == task.Export || json.Unmarshal(result, &ids) != nil {
		return ""
	}
	for _, r := range [][2]string{
		{"summary_id", "summaries"},
		{"run_id", "agent-runs"},
		{"derived_content_id", "derived-contents"},
		{"document_id", "documents"},
		{"deck_id", "decks"},
	} {
		if id, ok := ids[r[0]].(string); ok && id != "" {
			return "/v1/" + r[1] + "/" + id
		}
	}
	return ""
}
