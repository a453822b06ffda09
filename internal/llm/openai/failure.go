package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed-7227ef26/async-worker/internal/job"
)

// errTimeout is the cause of a request's end when it took too long.
var errTimeout = errors.New("the request took too long")

// failure is a failed request and what may be done about it here.
type failure struct {
	err     *job.Error
	passing bool   // worth another try within this call
	refused bool   // the service dislikes what it was sent
	detail  string // e.g. "HTTP 400, code invalid_request_error"; never the service's own text
}

func nonsense(format string, args ...any) *failure {
	problem := fmt.Errorf(format, args...)
	return &failure{passing: true, err: &job.Error{
		Class:   job.DependencyUnavailable,
		Message: "the embedding service gave " + problem.Error(),
	}}
}

func (e *Embedder) wrongLength(got int) *failure {
	return &failure{err: job.Errorf(job.DependencyUnavailable,
		"the model %q gives vectors of %d numbers, but EMBEDDING_DIMENSIONS is %d; set it to %d (and migrate), or choose another %s",
		e.model, got, e.dimensions, got, e.names.model)}
}

// classify says what an error of a request means. The service's own messages are not passed on: they
// repeat parts of keys and of the texts that were sent.
func (e *Embedder) classify(ctx context.Context, err error, r *record) *failure {
	if limited, ok := errors.AsType[*job.Error](err); ok { // of the limiter
		return &failure{err: limited}
	}
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errTimeout) {
		return &failure{err: &job.Error{Class: job.NetworkTimeout, Message: "embedding was stopped", Cause: context.Cause(ctx)}}
	}
	if refusal, ok := errors.AsType[*api.APIError](err); ok {
		return e.status(refusal.HTTPStatusCode, refusal, r)
	}
	if refusal, ok := errors.AsType[*api.RequestError](err); ok {
		return e.status(refusal.HTTPStatusCode, new(api.APIError), r)
	}
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && mismatch.Value == "array" {
		// It sends numbers although base64 was asked for: from now on numbers are asked for.
		e.floats.Store(true)
		return &failure{passing: true, err: job.Errorf(job.DependencyUnavailable, "the embedding service doesn't know base64")}
	}
	return e.transport(ctx, err, r)
}

// transport classifies the errors of connections and of answers that can't be read.
func (e *Embedder) transport(ctx context.Context, err error, r *record) *failure {
	var network net.Error
	if ctx.Err() != nil || errors.As(err, &network) && network.Timeout() {
		return &failure{passing: true, err: &job.Error{
			Class: job.NetworkTimeout, Message: fmt.Sprintf("the embedding service did not answer within %v", e.timeout), Cause: err,
		}}
	}
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, mismatch := errors.AsType[*json.UnmarshalTypeError](err)
	if syntax || mismatch {
		return &failure{err: job.Errorf(job.DependencyUnavailable,
			"the embedding service answered (HTTP %d) with something else than embeddings; check %s", r.status, e.names.url)}
	}
	return &failure{passing: true, err: &job.Error{
		Class:   job.DependencyUnavailable,
		Message: "the embedding service could not be reached, or the connection to it broke",
		Cause:   err,
	}}
}

// status classifies an answer that is an error.
func (e *Embedder) status(status int, refusal *api.APIError, r *record) *failure {
	detail := describe(status, refusal)
	fail := func(class job.Class, passing bool, format string, args ...any) *failure {
		err := job.Errorf(class, format, args...)
		err.Message += " (" + detail + ")"
		err.RetryAfter = retryAfter(r.header, e.limiter.now())
		return &failure{err: err, passing: passing, detail: detail}
	}
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		if p := refusal.Param; p != nil && *p != "" && !strings.Contains(*p, "input") {
			return fail(job.DependencyUnavailable, false, "the embedding service refuses a parameter of the request; check %s and EMBEDDING_DIMENSIONS", e.names.model)
		}
		f := fail(job.ValidationError, false, "the embedding service refuses the request")
		f.refused = true
		return f
	case http.StatusUnauthorized, http.StatusForbidden:
		return fail(job.DependencyUnavailable, false, "the embedding service refuses the key; check %s, and that it may use the model of %s", e.names.key, e.names.model)
	case http.StatusNotFound:
		return fail(job.DependencyUnavailable, false, "the embedding service doesn't know the model %q or the path; check %s and %s", e.model, e.names.model, e.names.url)
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return fail(job.NetworkTimeout, true, "the embedding service took too long")
	case http.StatusTooManyRequests:
		if refusal.Code == "insufficient_quota" || refusal.Type == "insufficient_quota" {
			return fail(job.QuotaExceeded, false, "the account at the embedding service has no quota left; add credit or raise its limit, then replay the task")
		}
		return fail(job.AIRateLimit, true, "the embedding service limits the rate of requests")
	case http.StatusServiceUnavailable, 529: // 529: "overloaded", as some services say
		return fail(job.ModelOverloaded, true, "the embedding service is overloaded")
	}
	return fail(job.DependencyUnavailable, status >= http.StatusInternalServerError, "the embedding service failed")
}

// word is what a code or parameter of an error may look like to be repeated.
var word = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

func describe(status int, refusal *api.APIError) string {
	detail := fmt.Sprintf("HTTP %d", status)
	if code := fmt.Sprint(refusal.Code); refusal.Code != nil && word.MatchString(code) {
		detail += ", code " + code
	} else if word.MatchString(refusal.Type) {
		detail += ", type " + refusal.Type
	}
	if refusal.Param != nil && word.MatchString(*refusal.Param) {
		detail += ", parameter " + *refusal.Param
	}
	return detail
}
