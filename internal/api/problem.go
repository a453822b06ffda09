package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/replay"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Problem is an error as RFC 9457 describes it, with a code for programs. It never repeats a value of the request.
type Problem struct {
	Type   string         `json:"type,omitempty" doc:"about:blank" example:"about:blank"`
	Title  string         `json:"title" doc:"The meaning of the status."`
	Status int            `json:"status" doc:"The HTTP status." example:"400"`
	Code   string         `json:"code" doc:"What is wrong, for programs." example:"VALIDATION_ERROR"`
	Detail string         `json:"detail,omitempty" doc:"What is wrong and what to do, for people."`
	Errors []ProblemField `json:"errors,omitempty" doc:"What is wrong with each field."`
	JobID  string         `json:"jobId,omitempty" doc:"The job that is in the way."`

	retryAfter time.Duration // zero: not sent
	stranger   bool          // nobody knows who asks
}

// ProblemField is what is wrong with a field.
type ProblemField struct {
	Field   string `json:"field" doc:"Where: body, query, path or header, and the name." example:"body.payload.filename"`
	Message string `json:"message" doc:"What is wrong."`
}

// Error implements error.
func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// GetHeaders implements huma.HeadersError.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((p.retryAfter+time.Second-1)/time.Second)))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="async-worker"`)
	}
	if p.Status == http.StatusUnauthorized || p.stranger {
		h.Set("Connection", "close") // an unauthorized client must not hold a connection
	}
	return h
}

func problem(status int, code, detail string) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

// invalid is a VALIDATION_ERROR of one field.
func invalid(field, message string) *Problem {
	p := problem(http.StatusBadRequest, codeValidation, "the request is not valid: "+field+" "+message)
	p.Errors = []ProblemField{{field, message}}
	return p
}

// failure is the Problem for what only the log describes.
func failure() *Problem {
	return problem(http.StatusInternalServerError, "INTERNAL_ERROR", "the request could not be done; try again later, or "+
		"ask the operator: the worker's log says why")
}

const (
	codeValidation = "VALIDATION_ERROR"
	codeNotFound   = "NOT_FOUND"
	codeOverloaded = "QUEUE_OVERLOADED"
)

// nextReport is the remedy for what must not happen.
const nextReport = "a bug in the worker: please report it"

// codes are the codes of statuses that the library, not a handler, answers with.
var codes = map[int]string{
	http.StatusBadRequest: codeValidation, http.StatusUnauthorized: "UNAUTHORIZED", http.StatusForbidden: "FORBIDDEN",
	http.StatusNotFound: codeNotFound, http.StatusMethodNotAllowed: "METHOD_NOT_ALLOWED",
	http.StatusNotAcceptable: "NOT_ACCEPTABLE", http.StatusRequestTimeout: "REQUEST_TIMEOUT",
	http.StatusRequestEntityTooLarge: "BODY_TOO_LARGE", http.StatusUnsupportedMediaType: "UNSUPPORTED_MEDIA_TYPE",
	http.StatusTooManyRequests: "RATE_LIMITED", http.StatusServiceUnavailable: "UNAVAILABLE",
}

// useProblems makes the library answer with a Problem. It has no other way than this variable, which all APIs of the
// process share.
var useProblems = sync.OnceFunc(func() { //nolint:gochecknoglobals // as its comment says
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		if status == http.StatusUnprocessableEntity {
			status = http.StatusBadRequest
		}
		code := codes[status]
		if status >= http.StatusInternalServerError || code == "" {
			return failure()
		}
		p := problem(status, code, message)
		for _, err := range errs {
			if d, ok := err.(huma.ErrorDetailer); ok {
				p.Errors = append(p.Errors, ProblemField{d.ErrorDetail().Location, wordsOf(d.ErrorDetail().Message)})
			}
		}
		if len(p.Errors) > 0 {
			p.Detail = "the request is not valid: " + p.Errors[0].Field + ": " + p.Errors[0].Message
		}
		return p
	}
})

// wordsOf is a message of the library's validation, without what it quotes of a value.
func wordsOf(message string) string {
	for _, prefix := range []string{"invalid character", "json: "} {
		if strings.HasPrefix(message, prefix) {
			return "the value is not valid JSON of the expected type"
		}
	}
	return message
}

// answer is the Problem for an error of the layers below. What it does not know is logged, and not described.
func (a *API) answer(ctx context.Context, doing string, err error) error {
	if known := describe(err); known != nil {
		return known
	}
	late := errors.Is(context.Cause(ctx), errPatience)
	if ctx.Err() != nil && !late {
		return problem(http.StatusServiceUnavailable, "UNAVAILABLE", "the request was given up; repeat it")
	}
	a.deps.Log.Warn("a request failed", "doing", doing, "error", err)
	if e, ok := errors.AsType[*taskerr.Error](err); late || ok && taskerr.Classes[e.Class].Retryable {
		p := problem(http.StatusServiceUnavailable, "UNAVAILABLE", "a service that this needs does not answer; try again")
		p.retryAfter = 5 * time.Second
		return p
	}
	return failure()
}

// refusals are the errors that say what a caller may know.
var refusals = []struct {
	err    error
	status int
	code   string
	detail string
}{
	{store.ErrNotFound, http.StatusNotFound, codeNotFound, "there is no such thing, or this token may not see it; check the id and " +
		"the token"},
	{store.ErrKeyUsed, http.StatusConflict, "IDEMPOTENCY_CONFLICT", "the Idempotency-Key was used for another request; " +
		"use a new one for a new job"},
	{store.ErrConflict, http.StatusConflict, "IDEMPOTENCY_CONFLICT", "a job with another type or payload has this id; " +
		"choose another id"},
	{store.ErrRunWaits, http.StatusConflict, "RUN_WAITS", "another run of this job waits, for its time or for the queue; " +
		"wait for it, or cancel the job: that also stops the run that is under way"},
	{store.ErrTerminal, http.StatusConflict, "ALREADY_TERMINAL", "the job has ended; nothing is left to cancel"},
	{store.ErrNotFailed, http.StatusConflict, "NOT_FAILED", "only a failed job can be retried; to do another one again, " +
		"submit it with hints.force"},
	{store.ErrExhausted, http.StatusConflict, "ATTEMPTS_EXHAUSTED", "the job has no attempt left; resetAttempts=true resets them"},
	{store.ErrReplayed, http.StatusConflict, "ALREADY_REPLAYED", "it was replayed before; force=true replays it again"},
	{store.ErrDelivered, http.StatusConflict, "ALREADY_DELIVERED", "the webhook was delivered; force=true sends it again"},
	{store.ErrScheduleExists, http.StatusConflict, "SCHEDULE_EXISTS", "there is a schedule with this id; change it, or choose another id"},
	{store.ErrNotResendable, http.StatusConflict, "NOT_RESENDABLE", "the webhook is still pending, or can't be signed; " +
		"a pending one is sent by itself"},
	{blob.ErrExists, http.StatusConflict, "BLOB_EXISTS", "there is a blob with this name, and it was not changed; use a new name"},
	{blob.ErrUnsigned, http.StatusConflict, "NO_UPLOAD_ADDRESS", "the worker's storage can't sign addresses; " +
		"use PUT /v1/blobs for up to 32 MiB, or async-worker enqueue --upload on the worker's machine"},
	{store.ErrForbidden, http.StatusForbidden, "FORBIDDEN", "the database does not allow it; use a token of its " +
		"owner, or ask the operator: async-worker doctor shows which right the worker lacks"},
}

func describe(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	for _, r := range refusals {
		if errors.Is(err, r.err) {
			return problem(r.status, r.code, r.detail)
		}
	}
	if busy, ok := errors.AsType[*store.BusyError](err); ok {
		p := problem(http.StatusConflict, "DOCUMENT_BUSY", "another job works on this document; wait for its end")
		p.JobID, p.retryAfter = busy.JobID, max(busy.RetryAfter, time.Second)
		return p
	}
	if refused, ok := errors.AsType[*replay.Refusal](err); ok {
		return problem(http.StatusConflict, "NOT_REPLAYABLE", refused.Why)
	}
	if bad, ok := errors.AsType[*task.Invalid](err); ok {
		return invalidTask(bad)
	}
	if bad, ok := errors.AsType[*search.InvalidError](err); ok {
		return invalid("body."+bad.Field, bad.Problem+"; "+bad.Remedy)
	}
	if e, ok := errors.AsType[*taskerr.Error](err); ok && taskerr.Classes[e.Class].Coarse == "validation" {
		return invalidPayload(e.Message)
	}
	return nil
}

// apiFields are the names of a message's fields in the API.
var apiFields = map[string]string{
	"task_id": "id", "task_type": "type", "webhook_url": "webhookUrl", "hints.timeout_seconds": "hints.timeoutSeconds",
	"hints.output_format": "hints.outputFormat", "hints.max_wait_seconds": "hints.maxWaitSeconds", "run_at": "runAt",
}

func invalidTask(bad *task.Invalid) *Problem {
	field := bad.Field
	if name, ok := apiFields[field]; ok {
		field = name
	}
	message := bad.Problem
	if strings.Contains(message, `"`) { // it quotes the value
		message = "is not valid"
	}
	if bad.Remedy != "" {
		message += "; " + bad.Remedy
	}
	return invalid(strings.TrimSuffix("body."+field, "."), message)
}

// quoted is what a message quotes.
var quoted = regexp.MustCompile(`"[^"]*"`)

// invalidPayload is what a handler's message says of a payload: it begins with the field, and may quote a value.
func invalidPayload(message string) *Problem {
	message = quoted.ReplaceAllString(message, "…")
	field, rest, ok := strings.Cut(message, " ")
	if !ok || !strings.HasPrefix(field, "payload") {
		return invalid("body.payload", message)
	}
	return invalid("body."+strings.TrimRight(field, ":,"), rest)
}

// write writes a problem outside of the library.
func (p *Problem) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), p.GetHeaders())
	w.Header().Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	_, _ = fmt.Fprintln(w, string(encode(p))) // an error means that the client is gone
}
