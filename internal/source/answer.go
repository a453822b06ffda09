package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/guard"
	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// The suffixes of codes of errors about a source_uri, in place of their class's.
const (
	codeRefused   = "SOURCE_REFUSED"   // its address may not be called
	codeDenied    = "SOURCE_DENIED"    // the server wants a login
	codeRejected  = "SOURCE_REJECTED"  // the server answers with something else than a document
	codeUntrusted = "SOURCE_UNTRUSTED" // the server's certificate is not valid
)

// problem is an error about a source_uri. It names the host alone: path and query may hold a token.
func problem(class taskerr.Class, code string, address *url.URL, format string, args ...any) *taskerr.Error {
	return &taskerr.Error{
		Class: class, Suffix: code, Message: "source_uri: " + address.Hostname() + " " + fmt.Sprintf(format, args...),
	}
}

// refusedBy is the error of an answer that is not a document.
func refusedBy(answer *http.Response, address *url.URL) error {
	switch status := answer.StatusCode; {
	case status == http.StatusNotFound, status == http.StatusGone:
		return problem(taskerr.ContentMissing, "", address,
			"answered %d: there is no such document; correct the address and send the task under a new task_id", status)
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		return problem(taskerr.ContentMissing, codeDenied, address, "answered %d: it refuses access; give an address that "+
			"needs no login, e.g. a signed one that has not expired, or upload the document", status)
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests,
		status >= http.StatusInternalServerError:
		e := problem(taskerr.DependencyUnavailable, "", address, "answered %d", status)
		e.RetryAfter = retry.After(answer.Header, time.Now())
		return e
	default:
		return problem(taskerr.ContentMissing, codeRejected, address, "answered %d, and not with a document", status)
	}
}

// unreached is the error of a request without an answer.
func unreached(ctx context.Context, address *url.URL, err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // it has the whole address in its text
	}
	if refused, ok := errors.AsType[*guard.RefusedError](err); ok {
		return &taskerr.Error{
			Class: taskerr.ValidationError, Suffix: codeRefused, Message: refused.Public(), Hint: refused.Error(),
		}
	}
	if hop, ok := errors.AsType[*refusedHop](err); ok {
		return problem(taskerr.ValidationError, codeRefused, address, "can't be followed: %s", hop.problem)
	}
	if guard.Untrusted(err) {
		e := problem(taskerr.ContentMissing, codeUntrusted, address, "can't be trusted: %s", guard.TLSFailed)
		e.Cause = err
		return e
	}
	return broken(ctx, address, err)
}

// broken is the error of a connection that failed or was given up. Another attempt may succeed.
func broken(ctx context.Context, address *url.URL, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errNoAnswer), errors.Is(cause, errStalled), errors.Is(cause, errTooLong):
		return problem(taskerr.NetworkTimeout, "", address, "was given up: %s", cause)
	case cause != nil:
		return fmt.Errorf("fetch the document: %w", cause)
	}
	e := problem(taskerr.NetworkTimeout, "", address, "can't be reached: %s", guard.Reason(err))
	if encoding, ok := errors.AsType[*encodingError](err); ok {
		e.Message = "source_uri: " + address.Hostname() + " " + encoding.Error()
	}
	e.Cause = known(err)
	return e
}

// known is an error that may be logged: net/http quotes headers of the server in some.
func known(err error) error {
	if guard.Reason(err) == guard.NoValidAnswer {
		return nil
	}
	return err
}

// maxValidator limits what is kept of a header, in bytes.
const maxValidator = 512

// validator is a header that identifies what was fetched; empty: there is none that can be kept and sent again.
func validator(answer *http.Response, header string) string {
	value := answer.Header.Get(header)
	if len(value) > maxValidator || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
		return ""
	}
	return value
}
