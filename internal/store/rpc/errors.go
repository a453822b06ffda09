package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// blame classifies the error of a call, and attributes it to the database.
func blame(ctx context.Context, fn string, err error) error {
	if err = classify(ctx, fn, err); errors.Is(err, context.Canceled) {
		return err // the caller canceled it: the database is not to blame
	}
	return taskerr.Blame(taskerr.Database, err)
}

// SQLError is an error raised by the database (a SQLSTATE) or by PostgREST (PGRST…).
type SQLError struct {
	State   string
	Message string
}

func (e *SQLError) Error() string { return fmt.Sprintf("(%s) %s", e.State, e.Message) }

// Uncertain reports whether the error is about the connection or the server: the call may have been executed. A pooler
// whose connection to Postgres breaks reports it so (08P01), also after the commit.
func (e *SQLError) Uncertain() bool {
	return strings.HasPrefix(e.State, "08") || strings.HasPrefix(e.State, "57P") || strings.HasPrefix(e.State, "PGRST00")
}

// refusal is one of the store's sentinels, as the database raised it.
type refusal struct {
	sentinel error
	raised   *SQLError
}

func (e *refusal) Error() string   { return e.sentinel.Error() + ": " + e.raised.Message }
func (e *refusal) Unwrap() []error { return []error{e.sentinel, e.raised} }

// cutOff is an error of the connection: Postgres closes it, has none left or starts up, or PostgREST has none.
type cutOff struct{ error }

func (e cutOff) Unwrap() []error { return []error{store.ErrCutOff, e.error} }

// notServing is an error that the database gives to whoever asks.
type notServing struct{ error }

func (e notServing) Unwrap() []error { return []error{store.ErrNotServing, e.error} }

// badValue is an error of one value.
type badValue struct{ error }

func (e badValue) Unwrap() []error { return []error{store.ErrValue, e.error} }

// busy is the message of AW007.
type busy struct {
	JobID      string `json:"job_id"`
	RetryAfter millis `json:"retry_after_ms"`
}

// classify converts errors of the database to the store's. It includes only messages of our own functions: others may
// quote a row, and so a document.
func classify(ctx context.Context, fn string, err error) error {
	raised, ok := errors.AsType[*SQLError](err)
	if !ok {
		if hang, ok := errors.AsType[*hangError](context.Cause(ctx)); ok {
			return &taskerr.Error{
				Class:   taskerr.TransientStorage,
				Message: "the database did not answer " + fn + " within " + hang.patience.String(), Cause: hang,
			}
		}
		if ctx.Err() != nil {
			return &taskerr.Error{
				Class: taskerr.TransientStorage, Message: fn + " was stopped: " + ctx.Err().Error(),
				Cause: errors.Join(ctx.Err(), context.Cause(ctx), err),
			}
		}
		if redirect, ok := errors.AsType[*httpurl.RedirectError](err); ok {
			return taskerr.Errorf(taskerr.TransientStorage, "the database: %w", redirect)
		}
		return &taskerr.Error{
			Class: taskerr.TransientStorage, Message: "the database did not answer " + fn, Cause: cutOff{err},
		}
	}
	switch raised.State {
	case "AW001":
		return &refusal{store.ErrFenced, raised}
	case "AW002":
		return &refusal{store.ErrNotFound, raised}
	case "AW003":
		return &refusal{store.ErrConflict, raised}
	case "AW004":
		return &refusal{store.ErrForbidden, raised}
	case "AW005":
		return &refusal{store.ErrTerminal, raised}
	case "AW007":
		var b busy
		if err := json.Unmarshal([]byte(raised.Message), &b); err != nil {
			return &taskerr.Error{
				Class: taskerr.TransientStorage, Message: "another job works on this document", Cause: err,
				Hint: "wait: the task runs again when that job has ended",
			}
		}
		return &store.BusyError{JobID: b.JobID, RetryAfter: time.Duration(b.RetryAfter)}
	case "AW012":
		return &refusal{store.ErrReplayed, raised}
	case "AW013":
		return &refusal{store.ErrExhausted, raised}
	case "AW014":
		return &refusal{store.ErrNotFailed, raised}
	case "AW015":
		return &refusal{store.ErrNotResendable, raised}
	case "AW016":
		return &refusal{store.ErrDelivered, raised}
	case "AW017":
		return &refusal{store.ErrKeyUsed, raised}
	case "AW022":
		return &refusal{store.ErrScheduleExists, raised}
	case "AW028":
		return &refusal{store.ErrConflict, raised}
	case "AW021":
		return &refusal{store.ErrNotPublisher, raised}
	case "AW030":
		return &refusal{store.ErrCogneeLost, raised}
	case "AW032":
		return &refusal{store.ErrRunWaits, raised}
	case "AW033":
		return &refusal{store.ErrManyLater, raised}
	case "AW031":
		return &refusal{store.ErrQuestion, raised}
	case "AW006", "AW008", "AW010", "AW011":
		return &taskerr.Error{Class: taskerr.InternalBug, Message: fn + ": " + raised.Message, Cause: err}
	}
	return classifyState(fn, raised)
}

// vectorWidth matches pgvector's complaints, which quote nothing but numbers.
var vectorWidth = pattern.New(`^(expected \d+ dimensions, not \d+|different \w+ dimensions \d+ and \d+)$`)

// classifyState converts errors that PostgreSQL and PostgREST raise by themselves.
func classifyState(fn string, e *SQLError) error {
	has := func(prefixes ...string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(e.State, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("28"): // the message has the login, the host and the database, but no password
		return fmt.Errorf("%w: %s (%s)", store.ErrLogin, e.Message, e.State)
	case has("PGRST301", "PGRST302", "PGRST303", "401"):
		return &store.RefusedError{State: e.State, Message: e.Message}
	case has("42501", "403"): // the message names the function or table, and quotes no row
		return fmt.Errorf("%w (%s in %s: %s): check that the key or login is this tenant's, and has the role "+
			"async_worker or service_role",
			store.ErrForbidden, e.State, fn, e.Message)
	case has("PGRST106"):
		return fmt.Errorf("%w: %s", store.ErrUnexposed, e.Message) // the message names the exposed schemas
	case has("42883", "42P01", "42703", "42704", "3F000", "PGRST202", "PGRST203", "404"):
		return fmt.Errorf("%w (%s in %s)", store.ErrSchema, e.State, fn)
	case has("22", "54"):
		if vectorWidth.MatchString(e.Message) {
			return &taskerr.Error{
				Class: taskerr.ValidationError, Message: "the embedding does not fit the schema: " + e.Message, Cause: e,
				Hint: "EMBEDDING_DIMENSIONS is not that of the schema's vectors: async-worker doctor shows both",
			}
		}
		message := "a value can't be stored (" + e.State + " in " + fn + ")"
		var cause error = e
		if has("22003", "22P02", "22P05") {
			cause = badValue{e}
		}
		return &taskerr.Error{Class: taskerr.ValidationError, Message: message, Cause: cause}
	case has("42P05"): // no fault of the task's
	case has("42", "23", "P0", "21", "AW"):
		return &taskerr.Error{
			Class: taskerr.InternalBug, Message: "the database refused " + fn + " (" + e.State + ")", Cause: e,
		}
	}
	var cause error = e
	if has("08", "57P", "53300", "PGRST000", "PGRST001", "PGRST003") {
		cause = cutOff{e}
	}
	if has("57P03", "53300", ReadOnly, "PGRST000", "PGRST003") {
		cause = notServing{cause}
	}
	return &taskerr.Error{
		Class: taskerr.TransientStorage, Message: "the database could not run " + fn + " (" + e.State + ")", Cause: cause,
		Hint: Remedy(e.State),
	}
}
