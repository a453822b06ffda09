package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// errTimeout is the cause of the end of a request that took too long.
var errTimeout = errors.New("the request took too long")

// failure is a failed request and whether it may be retried within the call.
type failure struct {
	err      *taskerr.Error
	passing  bool   // may be retried within this call
	adapted  bool   // the next request omits what was rejected: it is sent at once
	broken   bool   // an answer broke off: may be retried, however long it took
	refused  bool   // the service rejects the content
	param    string // the rejected parameter; empty: none
	filtered bool   // by its content filter
	detail   string // e.g. "HTTP 400, code invalid_request_error"; never the service's own text
}

func (f *failure) Error() string { return f.err.Error() }

// tries is how many requests one call may make when they fail in this way.
func (f *failure) tries() int {
	if f.err.Class == taskerr.AIRateLimit {
		return limitTries
	}
	return maxTries
}

func (s *service) nonsense(format string, args ...any) *failure {
	problem := fmt.Errorf(format, args...)
	return &failure{passing: true, err: &taskerr.Error{
		Class:   taskerr.DependencyUnavailable,
		Message: s.names.what + " gave " + problem.Error(),
	}}
}

func (e *Embedder) wrongLength(got int) *failure {
	return &failure{err: taskerr.Errorf(taskerr.DependencyUnavailable,
		"the model %q gives vectors of %d numbers, but EMBEDDING_DIMENSIONS is %d; choose an %s of %d dimensions, or set "+
			"EMBEDDING_DIMENSIONS to %d with another DB_SCHEMA, migrate that, restart the worker, and ingest again",
		e.model, got, e.dimensions, e.names.model, e.dimensions, got)}
}

// classify converts an error of a request. The service's own messages are not included: they may quote parts of keys
// and of the texts sent.
func (s *service) classify(ctx context.Context, err error, r *record) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if limited, ok := errors.AsType[*taskerr.Error](err); ok { // of the limiter
		return &failure{err: limited}
	}
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errTimeout) {
		return &failure{
			err: &taskerr.Error{
				Class: taskerr.NetworkTimeout, Message: "the request to a model was stopped", Cause: context.Cause(ctx),
			},
		}
	}
	if refusal, ok := errors.AsType[*api.APIError](err); ok {
		return s.status(refusal.HTTPStatusCode, refusal, r)
	}
	if refusal, ok := errors.AsType[*api.RequestError](err); ok {
		return s.status(refusal.HTTPStatusCode, new(api.APIError), r)
	}
	return s.transport(ctx, err, r)
}

// transport classifies errors of connections and of responses that can't be read.
func (s *service) transport(ctx context.Context, err error, r *record) *failure {
	var network net.Error
	if ctx.Err() != nil || errors.As(err, &network) && network.Timeout() {
		return &failure{passing: true, err: &taskerr.Error{
			Class: taskerr.NetworkTimeout, Message: fmt.Sprintf("%s did not answer within %v", s.names.what, s.timeout),
			Cause: err,
		}}
	}
	if redirect, ok := errors.AsType[*httpurl.RedirectError](err); ok {
		return &failure{err: taskerr.Errorf(taskerr.DependencyUnavailable, "%s: %w", s.names.what, redirect)}
	}
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, mismatch := errors.AsType[*json.UnmarshalTypeError](err)
	if syntax || mismatch {
		return &failure{err: &taskerr.Error{
			Class: taskerr.DependencyUnavailable,
			Message: fmt.Sprintf("%s answered (HTTP %d) with something other than %s; check %s", s.names.what, r.status,
				s.names.gives, s.names.url),
			Hint: "the service at " + r.host + " answers, but not with this API: is " + s.names.url +
				" the whole address, e.g. with its /v1?",
		}}
	}
	return &failure{passing: true, err: &taskerr.Error{
		Class:   taskerr.DependencyUnavailable,
		Message: s.names.what + " could not be reached, or the connection to it broke",
		Cause:   err,
	}}
}

// status classifies an error response.
func (s *service) status(status int, refusal *api.APIError, r *record) *failure {
	detail := describe(status, refusal)
	fail := func(class taskerr.Class, passing bool, format string, args ...any) *failure {
		err := taskerr.Errorf(class, s.names.what+" "+format, args...)
		err.Message += " (" + detail + ")"
		err.RetryAfter = retry.After(r.header, s.limiter.now())
		return &failure{err: err, passing: passing, detail: detail}
	}
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		if p := refusal.Param; p != nil && *p != "" && !aboutContent(*p) {
			f := fail(taskerr.DependencyUnavailable, false, "refuses a parameter of the request; check %s",
				s.names.parameters)
			f.param = *p
			return f
		}
		if deniedWords.MatchString(refusal.Message) {
			return fail(taskerr.DependencyUnavailable, false, "refuses the key or doesn't know the model; check %s and %s",
				s.names.key, s.names.model)
		}
		f := fail(taskerr.ValidationError, false, "refuses the request")
		f.refused, f.filtered = true, refusal.Code == "content_filter"
		return f
	case http.StatusUnauthorized, http.StatusForbidden:
		return fail(taskerr.DependencyUnavailable, false,
			"refuses the key; check %s, and that it may use the model of %s", s.names.key, s.names.model)
	case http.StatusNotFound:
		return fail(taskerr.DependencyUnavailable, false, "doesn't know the model %q or the path; check %s and %s",
			s.model, s.names.model, s.names.url)
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return fail(taskerr.NetworkTimeout, true, "took too long")
	case http.StatusTooManyRequests:
		if refusal.Code == "insufficient_quota" || refusal.Type == "insufficient_quota" {
			return fail(taskerr.QuotaExceeded, false,
				"has no quota left for this account; add credit or raise its limit, then replay the task")
		}
		return fail(taskerr.AIRateLimit, true, "limits the rate of requests")
	case http.StatusServiceUnavailable, 529: // 529: "overloaded", as some services say
		return fail(taskerr.ModelOverloaded, true, "is overloaded")
	}
	return fail(taskerr.DependencyUnavailable, status >= http.StatusInternalServerError, "failed")
}

// deniedWords are how some services (Gemini, DeepSeek, Mistral) report a wrong key or model with status 400.
var deniedWords = pattern.New(`(?i)\bapi[ _]?key\b|\binvalid model\b|\bmodel\b.{0,80}\bnot (exist|found)\b`)

// aboutContent reports whether a parameter is content, not an option.
func aboutContent(param string) bool {
	return strings.Contains(param, "input") || strings.HasPrefix(param, "messages") || param == "prompt"
}

// word is the form of codes and parameters that may be repeated in a message.
var word = pattern.New(`^[A-Za-z0-9_.-]{1,64}$`)

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
