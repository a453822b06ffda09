package webhook

import (
	"errors"

	"github.com/seed-7227ef26/async-worker/internal/guard"
)

// ReachError is a request without an answer. Its text names only the kind of failure, because the tenant reads it in
// the row. Unwrap has the names and addresses, for the operator's log.
type ReachError struct {
	sort  string
	cause error
}

func (e *ReachError) Error() string { return "the receiver can't be reached: " + e.sort }

// Unwrap returns the error in full.
func (e *ReachError) Unwrap() error { return e.cause }

// unreached makes a ReachError of an error of a net/http client.
func unreached(err error) *ReachError { return &ReachError{sort: guard.Reason(err), cause: err} }

// detail is an attempt's full error, for the log; empty: the row has it.
func (a Attempt) detail() string {
	if reach, ok := errors.AsType[*ReachError](a.Err); ok {
		return reach.cause.Error()
	}
	if refused, ok := errors.AsType[*RefusedError](a.Err); ok {
		return refused.Error()
	}
	return ""
}
