package docling

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// errUnknownTask: the server doesn't know a task, because it was restarted, or the result was downloaded and
// removed.
var errUnknownTask = errors.New("docling: the server does not know the task")

// errTimeoutRefused: document_timeout is longer than the server allows.
var errTimeoutRefused = errors.New("docling: the server does not allow this document_timeout")

// down returns an error that is the server's fault; the circuit breaker counts it.
func down(class taskerr.Class, hint, format string, args ...any) *taskerr.Error {
	err := taskerr.Errorf(class, format, args...)
	err.Dependency, err.Hint = taskerr.Docling, hint
	return err
}

// transport classifies the errors of connections and of interrupted answers.
func transport(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if redirect, ok := errors.AsType[*httpurl.RedirectError](err); ok {
		return down(taskerr.DependencyUnavailable, "set DOCLING_URL to the final address of docling-serve",
			"docling-serve: %w", redirect)
	}
	const hint = "is docling-serve running, and DOCLING_URL its address? docling-serve's own log and GET /ready say " +
		"more"
	err = httpurl.Unquoted(err)
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return down(taskerr.NetworkTimeout, hint, "docling-serve did not answer in time: %w", err)
	}
	return down(taskerr.DependencyUnavailable, hint,
		"docling-serve could not be reached, or the connection to it broke: %w", err)
}

// refusal classifies an error response. It reads the start of the body and does not close it.
func refusal(r *http.Response) error {
	detail := detail(r.Body)
	answer := fmt.Sprintf("HTTP %d", r.StatusCode)
	if detail != "" {
		answer += ": " + detail
	}
	switch code := r.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return down(taskerr.DependencyUnavailable,
			"check DOCLING_API_KEY: it must be the server's DOCLING_SERVE_API_KEY",
			"docling-serve refuses the key (HTTP %d)", code)
	case code == http.StatusNotFound && strings.Contains(detail, "Task"):
		return errUnknownTask
	case code == http.StatusNotFound || code == http.StatusMethodNotAllowed || code/100 == 3:
		return down(taskerr.DependencyUnavailable,
			"DOCLING_URL must be the address of a docling-serve (API v1), without /v1",
			"there is no docling-serve at DOCLING_URL (HTTP %d)", code)
	case code == http.StatusRequestEntityTooLarge:
		return taskerr.Errorf(taskerr.QuotaExceeded,
			"the file is larger than docling-serve, or a proxy before it, takes (HTTP 413): split it into smaller files")
	case code == http.StatusUnprocessableEntity && strings.Contains(detail, optionTimeout):
		return errTimeoutRefused
	case code/100 == 4 && code != http.StatusTooManyRequests && code != http.StatusRequestTimeout:
		return down(taskerr.DependencyUnavailable,
			"docling-serve's policy (DOCLING_SERVE_ALLOWED_…) refuses an option of the worker; see docs/docling.md "+
				"for what it sends",
			"docling-serve refuses the request (%s)", answer)
	case code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable:
		err := down(taskerr.DependencyUnavailable,
			"docling-serve is starting or overloaded: GET /ready says which; give it more workers, or lower "+
				"WORKER_CONCURRENCY",
			"docling-serve is busy or not ready (%s)", answer)
		err.RetryAfter = retry.After(r.Header, time.Now())
		return err
	case code == http.StatusGatewayTimeout || code == http.StatusRequestTimeout:
		return down(taskerr.NetworkTimeout, "a proxy before docling-serve gave up waiting: see its timeouts",
			"docling-serve did not answer in time (%s)", answer)
	}
	return down(taskerr.DependencyUnavailable, "see docling-serve's log for the reason",
		"docling-serve failed (%s)", answer)
}

const detailBytes = 16 << 10

// detail returns an error body's message on one line: {"detail": "…"}, or a list of {"loc": […], "msg": "…"}.
func detail(body io.Reader) string {
	raw, err := io.ReadAll(io.LimitReader(body, detailBytes))
	if err != nil {
		return ""
	}
	var answer struct {
		Detail json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(raw, &answer) != nil {
		return ""
	}
	var text string
	if json.Unmarshal(answer.Detail, &text) == nil {
		return line(text)
	}
	var items []struct {
		Loc []any  `json:"loc"`
		Msg string `json:"msg"`
	}
	if json.Unmarshal(answer.Detail, &items) != nil {
		return ""
	}
	problems := make([]string, 0, len(items))
	for _, item := range items {
		where := make([]string, len(item.Loc))
		for i, part := range item.Loc {
			where[i] = fmt.Sprint(part)
		}
		problems = append(problems, strings.Join(where, ".")+": "+item.Msg)
	}
	return line(strings.Join(problems, "; "))
}

const lineRunes = 300

// line makes foreign text safe for an error: one short line without control characters.
func line(text string) string {
	text = strings.Join(strings.FieldsFunc(text,
		func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if runes := []rune(text); len(runes) > lineRunes {
		return string(runes[:lineRunes]) + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// taskFailed returns the error of a task that ended without a document.
func taskFailed(f *Failure, message string) *taskerr.Error {
	if f == nil {
		f = &Failure{Message: message}
	}
	what := line(f.Message)
	if what == "" {
		what = "it gave no reason; see its log"
	}
	switch {
	case f.Category == "policy":
		return taskerr.Errorf(taskerr.QuotaExceeded, "the document exceeds what docling-serve takes (%s)", what)
	case f.Retryable, f.Category == "internal", f.Category == "":
		// A server without its models fails every document this way, and so does one document that it can't
		// convert, so another attempt is worthwhile. No Dependency: one bad document would keep the circuit
		// breaker open.
		return taskerr.Errorf(taskerr.DependencyUnavailable,
			"docling-serve failed on the document (%s); see its log for the reason", what)
	}
	return corrupt(what)
}

func corrupt(what string) *taskerr.Error {
	return taskerr.Errorf(taskerr.CorruptionDetected,
		"docling could not convert the document (%s): it may be damaged; open it and save it again", what)
}

// documentFailed returns the error of a document that Docling gave up on.
func documentFailed(errs []ErrorItem) *taskerr.Error {
	messages := make([]string, 0, len(errs))
	timedOut := false
	for _, e := range errs {
		messages = append(messages, e.Message)
		timedOut = timedOut || e.Category == "timeout"
	}
	if timedOut {
		return taskerr.Errorf(taskerr.Timeout,
			"docling did not convert the document in the time that the task has left (%s): split it, or allow the task more",
			line(strings.Join(messages, "; "))).WithHint("split the document, or raise the task's hints.timeout_seconds if it " +
			"has them, else TASK_TIMEOUT_SEC; then send the task again, with hints.force or under a new task_id")
	}
	if len(messages) == 0 {
		messages = append(messages, "it gave no reason; see its log")
	}
	return corrupt(line(strings.Join(messages, "; ")))
}
