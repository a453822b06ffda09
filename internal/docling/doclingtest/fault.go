package doclingtest

import (
	"encoding/json"
	"maps"
	"net/http"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/docling"
)

// Fault is how one request fails. The zero value is not a fault.
type Fault struct {
	// Status other than zero is the response, with Detail (a string, or a list of {"loc", "msg", "type"}) in
	// FastAPI's format, and with Header.
	Status int
	Detail any
	Header http.Header

	Drop bool // the connection closes without a response
	Cut  bool // the connection closes in the middle of the response; a submitted file is still converted
	Hang bool // no response until the client gives up or the server closes

	Before func() // called when the request has arrived, before any response
}

// Faults that tests often need.
var (
	Unready = Fault{Status: http.StatusServiceUnavailable, Detail: "Models not yet loaded"}
	Busy    = Fault{
		Status: http.StatusServiceUnavailable, Detail: "Server is busy, please try again shortly.",
		Header: http.Header{"Retry-After": {"1"}},
	}
	LimitRate = Fault{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"7"}}}
	GaveUp    = Fault{Status: http.StatusGatewayTimeout}
	Dropped   = Fault{Drop: true}
	CutShort  = Fault{Cut: true}
	NoAnswer  = Fault{Hang: true}
)

// Conversion is the outcome of one submitted file. The zero value succeeds at once.
type Conversion struct {
	Takes    time.Duration       // from the submission to its end, by the clock
	Held     <-chan struct{}     // if not nil, it does not end before this is closed
	Status   string              // of the document; empty: success, or failure without a document
	Errors   []docling.ErrorItem // of the document
	Failure  *docling.Failure    // of the task: its result is a TaskFailureResult
	Bare     string              // error_message of a failed task on the engine "local", which has no result
	Document json.RawMessage     // the DoclingDocument; nil: Options.Document
	Forget   bool                // the task is forgotten once it was polled, as after a restart of the engine "local"
	Vanish   bool                // its result is gone although the task succeeded
}

func (f Fault) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), f.Header)
	detail := f.Detail
	if detail == nil {
		detail = http.StatusText(f.Status)
	}
	answer(w, f.Status, map[string]any{"detail": detail})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails only if the client is gone
}
