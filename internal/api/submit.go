package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

const (
	// KeepKey is how long an Idempotency-Key is remembered.
	KeepKey   = 24 * time.Hour
	maxKey    = 255                  // bytes
	maxAhead  = 366 * 24 * time.Hour // of runAt
	sendLimit = 20 * time.Second     // for a message, which a sweep sends otherwise
	maxSends  = 32                   // at a time
)

// mostActive is how many active jobs a document may have, by type. The engine makes one more wait.
var mostActive = map[task.Type]int{task.Ingest: 1, task.Convert: 1, task.Export: 2}

// NewJob is a job to submit.
type NewJob struct {
	Type       string     `json:"type" enum:"ingest,summarize,agent,ai,ocr,xml,convert,export" doc:"What is to be done."`
	Payload    Object     `json:"payload" doc:"What it is to be done with, by type; its members are named as in a message, e.g. document_set."`
	Priority   string     `json:"priority,omitempty" enum:"high,normal,low" doc:"Default: normal."`
	Hints      *NewHints  `json:"hints,omitempty"`
	WebhookURL string     `json:"webhookUrl,omitempty" maxLength:"2048" doc:"Who is told of the end: http or https."`
	RunAt      *time.Time `json:"runAt,omitempty" doc:"It does not start before; up to a year ahead."`
	ID         string     `json:"id,omitempty" pattern:"^[A-Za-z0-9._:-]{1,128}$" doc:"Default: a new one."`
}

// NewHints are how a job is to be done.
type NewHints struct {
	Force        bool    `json:"force,omitempty" doc:"Do it again although it is done."`
	Timeout      float64 `json:"timeoutSeconds,omitempty" minimum:"0.001" maximum:"86400"`
	MaxWait      float64 `json:"maxWaitSeconds,omitempty" minimum:"1" maximum:"31536000" doc:"For a service that is down."`
	Resolution   int     `json:"resolution,omitempty" minimum:"1" maximum:"100000"`
	OutputFormat string  `json:"outputFormat,omitempty" enum:"markdown,text,hocr,json"`
	Priority     string  `json:"priority,omitempty" enum:"high,normal,low"`
	// As a message has them.
	TimeoutAsMessage float64 `json:"timeout_seconds,omitempty" minimum:"0.001" maximum:"86400" deprecated:"true"`
	MaxWaitAsMessage float64 `json:"max_wait_seconds,omitempty" minimum:"1" maximum:"31536000" deprecated:"true"`
	FormatAsMessage  string  `json:"output_format,omitempty" enum:"markdown,text,hocr,json" deprecated:"true"`
}

type submitInput struct {
	Key     string `header:"Idempotency-Key" doc:"Of the request, quoted or bare, at most 255 characters; kept for 24 h."`
	RawBody []byte
	Body    NewJob
}

type submitOutput struct {
	Status   int
	Location string `header:"Location"`
	Replayed string `header:"Idempotent-Replayed" doc:"true: the request was made before."`
	Body     Job
}

func (a *API) registerSubmit() {
	job := schemaOf[Job](a)
	register(a, call{
		method: http.MethodPost, path: "/v1/jobs", id: "submit-job", tag: "jobs", scope: apitoken.Submit,
		summary: "Submit a job", status: http.StatusCreated,
		responses: map[string]*huma.Response{"200": {
			Description: "The same request was made before (Idempotent-Replayed: true), or hints.force has the job done again. " +
				"This is the job; until a worker begins it again, with its former end.",
			Headers: map[string]*huma.Header{"Idempotent-Replayed": {Schema: &huma.Schema{Type: huma.TypeString}}},
			Content: map[string]*huma.MediaType{"application/json": {Schema: job}},
		}},
	}, a.submit)
}

func (a *API) submit(ctx context.Context, in *submitInput) (*submitOutput, error) {
	by := principalFrom(ctx)
	key, err := parseKey(in.Key)
	if err != nil {
		return nil, err
	}
	t, err := a.taskOf(in.Body, by)
	if err != nil {
		return nil, err
	}
	if err := a.allowed(by, t); err != nil {
		return nil, err
	}
	runAt, err := startOf(in.Body.RunAt)
	if err != nil {
		return nil, err
	}
	overloaded := a.admit(ctx)
	if overloaded != nil && key == "" && in.Body.ID == "" {
		return nil, overloaded
	}
	s := a.record(t)
	if s.Repeated = overloaded != nil; !s.Repeated {
		if s.Message, err = message.Write(ctx, a.deps.Bucket, t); err != nil {
			return nil, err
		}
	}
	s.RunAt = runAt
	if key != "" {
		s.Key = hash(by.identity(), key)
		s.Request = task.Fingerprint(task.Task{Type: "request", Payload: in.RawBody})
		s.KeepKey = KeepKey
	}
	answer, err := a.deps.Store.SubmitOnce(ctx, s)
	if s.Repeated && errors.Is(err, store.ErrNotFound) {
		return nil, overloaded
	}
	if errors.Is(err, store.ErrManyLater) {
		return nil, overload("too many jobs wait for their runAt; try again later", time.Minute)
	}
	if err != nil {
		return nil, err
	}
	out := &submitOutput{Status: http.StatusOK, Location: "/v1/jobs/" + answer.Job.ID, Body: jobOf(answer.Job)}
	switch {
	case answer.Created:
		out.Status = http.StatusCreated
		a.audit(ctx, "submitted a job", "task_id", answer.Job.ID, "task_type", answer.Job.Type)
	case answer.Forced:
		a.audit(ctx, "submitted a job again", "task_id", answer.Job.ID, "task_type", answer.Job.Type)
	default:
		out.Replayed = "true"
		return out, nil
	}
	switch {
	case runAt.IsZero():
		a.send(ctx, t.Priority, s.Submission)
	case a.deps.StartsAt != nil:
		a.deps.StartsAt(runAt)
	}
	return out, nil
}

// hash identifies a key and whose it is.
func hash(subject, key string) string {
	sum := sha256.Sum256([]byte(subject + "\x00" + key))
	return hex.EncodeToString(sum[:])
}

// parseKey reads an Idempotency-Key: a string of a structured field (RFC 9651, as the IETF's draft has it), or bare, as
// others send it.
func parseKey(text string) (string, error) {
	const field = "header.Idempotency-Key"
	if text == "" {
		return "", nil
	}
	key := text
	if strings.HasPrefix(text, `"`) {
		if len(text) < 2 || !strings.HasSuffix(text, `"`) {
			return "", invalid(field, "begins with a quote and does not end with one")
		}
		key = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(text[1 : len(text)-1])
	}
	if key == "" || len(key) > maxKey {
		return "", invalid(field, "is not 1 to 255 characters long")
	}
	for _, c := range []byte(key) {
		if c < ' ' || c > '~' {
			return "", invalid(field, "has a character that is not printable ASCII")
		}
	}
	return key, nil
}

// startOf is when a job starts; zero: at once.
func startOf(at *time.Time) (time.Time, error) {
	switch {
	case at == nil || !at.After(time.Now()):
		return time.Time{}, nil
	case at.After(time.Now().Add(maxAhead)):
		return time.Time{}, invalid("body.runAt", "is more than a year ahead")
	}
	return *at, nil
}

// taskOf makes the task of a request, by the decoder of messages, and lets its handler check it.
func (a *API) taskOf(in NewJob, by Principal) (task.Task, error) {
	if in.ID == "." || in.ID == ".." {
		return task.Task{}, invalid("body.id", "is a part of an address: no client could ask for the job")
	}
	m := map[string]any{
		"task_id": in.ID, "task_type": in.Type, "payload": json.RawMessage(encode(in.Payload)), "requested_by": by.Subject,
	}
	if in.ID == "" {
		m["task_id"] = uuid.NewString()
	}
	if in.WebhookURL != "" {
		m["webhook_url"] = in.WebhookURL
	}
	if in.Priority != "" {
		m["priority"] = in.Priority
	}
	if h := in.Hints; h != nil {
		m["hints"] = hintsOf(*h)
	}
	decoded, err := task.Decode(string(encode(m)), task.Options{ClientID: a.deps.ClientID, FromClaimCheck: true})
	if err != nil {
		return task.Task{}, err
	}
	return decoded.Task, a.check(decoded.Task)
}

// check returns what a new task is refused for.
func (a *API) check(t task.Task) error {
	if a.deps.CheckNames != nil {
		if err := a.deps.CheckNames(t); err != nil {
			return err
		}
	}
	return a.deps.Check(t)
}

func hintsOf(h NewHints) map[string]any {
	hints := map[string]any{"force": h.Force}
	for name, value := range map[string]float64{
		"timeout_seconds": max(h.Timeout, h.TimeoutAsMessage), "resolution": float64(h.Resolution),
		"max_wait_seconds": max(h.MaxWait, h.MaxWaitAsMessage),
	} {
		if value > 0 {
			hints[name] = value
		}
	}
	format := h.OutputFormat
	if format == "" {
		format = h.FormatAsMessage
	}
	for name, value := range map[string]string{"output_format": format, "priority": h.Priority} {
		if value != "" {
			hints[name] = value
		}
	}
	return hints
}

// record is a task as it is recorded, without its message.
func (a *API) record(t task.Task) store.OnceSubmission {
	return store.OnceSubmission{
		Submission: store.Submission{
			Task: message.Record(t, a.deps.MaxAttempts(t.Type)), Queue: a.deps.Queue(t.Priority).Name(),
		},
		MostActive: mostActive[t.Type], MostLater: a.deps.HighWatermark,
	}
}

// send sends a recorded message. The job is accepted even if that fails, or the queue is too slow: a sweep sends it then.
func (a *API) send(ctx context.Context, p task.Priority, s store.Submission) {
	if !a.sends.do(ctx, sendLimit, func(ctx context.Context) { a.sendNow(ctx, p, s) }) {
		a.deps.Log.Warn("the message of an accepted job was not sent: earlier ones are still being sent; "+
			"a sweep sends it within minutes", "task_id", s.JobID)
	}
}

func (a *API) sendNow(ctx context.Context, p task.Priority, s store.Submission) {
	q := a.deps.Queue(p)
	err := queue.SendEnsured(ctx, q, s.Message, queue.SendOptions{})
	if errors.Is(err, queue.ErrTooLarge) { // its server has a limit of its own
		var claim string
		u := store.Unsent{JobID: s.JobID, Queue: s.Queue, Message: s.Message}
		if claim, err = message.IdentifiedClaim(ctx, a.deps.Bucket, u); err == nil {
			err = queue.SendEnsured(ctx, q, claim, queue.SendOptions{})
		}
	}
	if err == nil {
		err = a.deps.Store.MarkSent(ctx, s.JobID, s.Message)
	}
	if err != nil {
		a.deps.Log.Warn("the message of an accepted job was not sent, or not marked; a sweep sends it within minutes",
			"task_id", s.JobID, "error", err)
	}
	if a.deps.Submitted != nil {
		a.deps.Submitted()
	}
}
