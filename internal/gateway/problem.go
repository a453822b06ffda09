package gateway

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// The codes of errors.
const (
	Code4XX     = "GW_4XX"     // the gateway refuses the file: never retried
	Code5XX     = "GW_5XX"     // the gateway fails, can't be reached, or answers with something that is not what was asked for
	CodeTimeout = "GW_TIMEOUT" // GATEWAY_TIMEOUT_MS passed
	CodeIO      = "IO_ERROR"   // of a file of the worker, or of the container
)

// down returns an error that is the gateway's fault; the circuit breaker counts it.
func down(class taskerr.Class, code, hint, format string, args ...any) *taskerr.Error {
	err := taskerr.Errorf(class, format, args...)
	err.Code, err.Dependency, err.Hint = code, taskerr.Gateway, hint
	return err
}

func (c *Client) late() error {
	return down(taskerr.NetworkTimeout, CodeTimeout, "look at the gateway's load, or raise GATEWAY_TIMEOUT_MS",
		"the gateway did not answer within %s (GATEWAY_TIMEOUT_MS)", c.o.Timeout.Round(time.Millisecond))
}

// unreachable classifies the errors of connections and of interrupted answers.
func unreachable(err error) error {
	if redirect, ok := errors.AsType[*httpurl.RedirectError](err); ok {
		return down(taskerr.DependencyUnavailable, Code5XX, "set GATEWAY_URL to the final address of the gateway",
			"the gateway: %w", redirect)
	}
	const hint = "is the gateway running, and GATEWAY_URL its address? async-worker doctor asks it"
	err = httpurl.Unquoted(err)
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return down(taskerr.NetworkTimeout, CodeTimeout, hint, "the gateway did not answer in time: %w", err)
	}
	return down(taskerr.DependencyUnavailable, Code5XX, hint,
		"the gateway could not be reached, or the connection to it broke: %w", err)
}

// refusal classifies an answer that is not 200. Its body is not repeated: it may quote the document.
func refusal(r *http.Response) error {
	status := r.StatusCode
	switch status / 100 {
	case 4:
		return refused(status)
	case 5:
		err := down(taskerr.DependencyUnavailable, Code5XX, "see the gateway's log for the reason",
			"the gateway failed (HTTP %d)", status)
		if status == http.StatusGatewayTimeout {
			err.Class, err.Hint = taskerr.NetworkTimeout, "something behind the gateway gave up waiting: see its log"
		}
		err.RetryAfter = retry.After(r.Header, time.Now())
		return err
	}
	return down(taskerr.DependencyUnavailable, Code5XX, "is GATEWAY_URL the address of the gateway, without /process?",
		"the gateway answered with HTTP %d in place of a file", status)
}

// refused is the error of a 4xx.
func refused(status int) error {
	const log = "see the gateway's log for the reason"
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return final(taskerr.ValidationError, log, "the gateway can't convert this file with this mapping", status)
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return final(taskerr.ValidationError, "let the gateway accept this machine, then replay the task",
			"the gateway does not let this worker in", status)
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return final(taskerr.ValidationError, "set GATEWAY_URL to the gateway's address, without /process, and replay the task; or "+
			"correct payload.mapping, and send the task under a new task_id",
			"there is no gateway at GATEWAY_URL, or it doesn't know the mapping", status)
	case http.StatusNotAcceptable:
		return final(taskerr.ValidationError, log, "the gateway can't answer in the requested format with this mapping", status)
	case http.StatusRequestEntityTooLarge:
		return final(taskerr.QuotaExceeded, log,
			"the file is larger than the gateway, or a proxy before it, takes: it has to be split", status)
	case http.StatusUnsupportedMediaType:
		return final(taskerr.UnsupportedFormat, log, "the gateway does not take this format of file", status)
	case http.StatusTooManyRequests, http.StatusRequestTimeout:
		return final(taskerr.ValidationError, "lower GATEWAY_CONCURRENCY, then replay the task",
			"the gateway refuses the request", status)
	}
	return final(taskerr.ValidationError, log, "the gateway refuses the request", status)
}

// final is an error that is not retried: the same request would be refused, and paid for, again.
func final(class taskerr.Class, hint, what string, status int) error {
	err := taskerr.Errorf(class, "%s (HTTP %d)", what, status)
	err.Code, err.Hint = Code4XX, hint
	return err
}

// badAnswer is the error of an answer with status 200 that is not what was asked for.
func badAnswer(format string, args ...any) error {
	return down(taskerr.DependencyUnavailable, Code5XX, "see the gateway's log; async-worker does not repeat what it answered",
		"the gateway's answer can't be used: %s", fmt.Sprintf(format, args...))
}

// tooLarge is not retried: the next answer would be as large.
func tooLarge(limit int64) error {
	err := taskerr.Errorf(taskerr.QuotaExceeded, "the gateway's answer is larger than %d MB", limit>>20)
	err.Code, err.Hint = Code5XX, "look at what the gateway makes of the document; GATEWAY_MAX_MB is the limit of XML"
	return err
}

// ioError is the error of a file of the worker.
func ioError(doing string, err error) error {
	e := taskerr.Errorf(taskerr.TransientStorage, "the worker can't %s: %w", doing, err)
	e.Code = CodeIO
	if known := taskerr.Classify(errors.Unwrap(e)); known.Hint != "" {
		e.Hint = known.Hint
	}
	return e
}

func asIO(doing string, err error) error {
	if err == nil {
		return nil
	}
	return ioError(doing, err)
}
