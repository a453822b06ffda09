package cognee

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// kind is what an error means for the document and for Cognee.
type kind int

const (
	failing      kind = iota // it may be due to the document; worth another attempt
	down                     // every request would fail
	refused                  // Cognee will never take this document
	missing                  // there is no such document or dataset
	conflict                 // the document is there, with other content
	inconsistent             // Cognee works, and what it says contradicts itself; worth another attempt
)

// Error is a request that Cognee did not do. It holds nothing of the body that was sent: Cognee's answers may quote it.
type Error struct {
	Status     int           // of the answer; zero: there was none
	RetryAfter time.Duration // that the answer asked for
	kind       kind
	what       string
	cause      error
	at         place // of a conflict: where the document is
}

func (e *Error) Error() string {
	if e.cause != nil {
		return e.what + ": " + e.cause.Error()
	}
	return e.what
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// place is where Cognee has a document.
type place struct{ data, dataset string }

func is(err error, k kind) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.kind == k
}

// outage returns err as the error of an outage: one that every request would get.
func outage(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	return &Error{Status: e.Status, RetryAfter: e.RetryAfter, kind: down, what: e.what, cause: e.cause}
}

// health is what an error shows of Cognee itself.
func health(err error) string {
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return "" // of the database, or of a shutdown
	case e.kind == down:
		return store.CogneeDown
	case e.kind == failing:
		return store.CogneeFailing
	}
	return store.CogneeUp
}

// transport classifies the errors of connections and of interrupted answers.
func transport(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if redirect, ok := errors.AsType[*httpurl.RedirectError](err); ok {
		return &Error{kind: down, what: "set COGNEE_URL to the final address of Cognee", cause: redirect}
	}
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return &Error{kind: down, what: "Cognee could not be reached; is it running, and COGNEE_URL its address?", cause: dial}
	}
	err = httpurl.Unquoted(err)
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return &Error{kind: failing, what: "Cognee did not answer in time", cause: err}
	}
	return &Error{kind: failing, what: "the connection to Cognee broke", cause: err}
}

// problem classifies an answer that is not a success. It reads the start of the body and does not close it.
func problem(r *http.Response) error {
	raw, _ := io.ReadAll(io.LimitReader(r.Body, 64<<10)) // what can't be read explains nothing
	e := &Error{Status: r.StatusCode, RetryAfter: retry.After(r.Header, time.Now())}
	reason := fmt.Sprintf("HTTP %d", r.StatusCode)
	if label := label(raw); label != "" {
		reason += ", " + label
	}
	switch code := r.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		e.kind, e.what = down, "Cognee refuses the key ("+reason+"); check COGNEE_API_KEY"
	case code == http.StatusNotFound:
		e.kind, e.what = missing, "Cognee does not have it ("+reason+")"
	case code == http.StatusConflict:
		e.kind, e.what, e.at = conflict, "Cognee has other content under that name ("+reason+")", placeIn(raw)
	case code == http.StatusPaymentRequired:
		e.kind, e.what = down, "the budget of Cognee's model is spent ("+reason+")"
	case code == http.StatusTooManyRequests:
		e.kind, e.what = down, "Cognee asks to wait ("+reason+")"
	case code == http.StatusRequestTimeout || code >= 500:
		e.kind, e.what = failing, "Cognee failed ("+reason+"); its log says more"
	case code/100 == 4 && code != http.StatusMethodNotAllowed:
		e.kind, e.what = refused, "Cognee refuses it ("+reason+")"
	default:
		e.kind, e.what = down, "there is no Cognee at COGNEE_URL ("+reason+"); it must be its address, without /api/v1"
	}
	return e
}

// phrase is an "error" that names no value: neither a number nor a quotation.
var phrase = pattern.New(`^[A-Za-z][A-Za-z .,;_-]{0,79}$`)

// word is a type, or a part of a place, of FastAPI.
var word = pattern.New(`^[A-Za-z0-9_.]{1,40}$`)

// errorName is the name of an exception at the end of a detail.
var errorName = pattern.New(`\[([A-Za-z]{1,80})\]$`)

// label is the part of an error's body that quotes nothing of the request: an "error" of words, the name of the exception at
// the end of "detail", or the first of its types and places.
func label(raw []byte) string {
	var body struct {
		Error  string          `json:"error"`
		Detail json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(raw, &body) != nil {
		return ""
	}
	var detail string
	var items []struct {
		Type string `json:"type"`
		Loc  []any  `json:"loc"`
	}
	switch {
	case phrase.MatchString(body.Error):
		return body.Error
	case json.Unmarshal(body.Detail, &detail) == nil:
		if m := errorName.FindStringSubmatch(detail); m != nil {
			return m[1]
		}
	case json.Unmarshal(body.Detail, &items) == nil && len(items) > 0 && word.MatchString(items[0].Type) &&
		len(items[0].Loc) <= 8 && !slices.ContainsFunc(items[0].Loc, func(at any) bool { return !word.MatchString(fmt.Sprint(at)) }):
		return fmt.Sprintf("%s at %v", items[0].Type, items[0].Loc)
	}
	return ""
}

// update is how a conflict names the request that would replace the document.
var update = pattern.New(`data_id=([0-9a-fA-F-]{36})&dataset_id=([0-9a-fA-F-]{36})`)

// placeIn returns where a conflict says that the document is; the zero place: it does not say.
func placeIn(raw []byte) place {
	var body struct {
		Detail string `json:"detail"`
	}
	if json.Unmarshal(raw, &body) != nil {
		return place{}
	}
	if m := update.FindStringSubmatch(body.Detail); m != nil {
		return place{data: m[1], dataset: m[2]}
	}
	return place{}
}
