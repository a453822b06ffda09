package llmtest

import (
	"encoding/json"
	"maps"
	"net/http"
)

// Fault is how a request fails. The zero value is not a fault.
type Fault struct {
	// Status, if not zero, is the answer's status, with an error object of Code, Param and Message.
	Status  int
	Code    string
	Param   string
	Message string
	Header  http.Header // of the answer, e.g. Retry-After, Retry-After-Ms, X-Ratelimit-…

	Cut  bool // the connection ends in the middle of the answer
	Hang bool // no answer comes until the client gives up or the server closes

	// Midway is the number of pieces after which Status, Cut and Hang end a stream: with an error event, a closed
	// connection, or silence. Zero: Status and Hang before the stream begins, Cut before its first piece.
	Midway     int
	Unfinished bool // a stream ends with [DONE], but with no finish_reason
	Garbled    bool // a stream ends within the JSON of a piece, the one after Midway

	Before func() // called when a request has arrived, before any answer

	Extra      int  // surplus results; below zero: missing ones
	SameIndex  bool // every result has the index 0
	NaN        bool // the first vector has a NaN
	Dimensions int  // vectors of this length; zero: the right one
}

// Common faults.
var (
	RateLimited  = Fault{Status: http.StatusTooManyRequests, Code: "rate_limit_exceeded"}
	NoQuota      = Fault{Status: http.StatusTooManyRequests, Code: "insufficient_quota"}
	Overloaded   = Fault{Status: http.StatusServiceUnavailable, Code: "server_error"}
	WrongKey     = Fault{Status: http.StatusUnauthorized, Code: "invalid_api_key"}
	CutShort     = Fault{Cut: true}
	NoAnswer     = Fault{Hang: true}
	UnknownModel = Fault{Status: http.StatusNotFound, Code: "model_not_found", Param: "model"}
	TooLong      = Fault{
		Status: http.StatusBadRequest, Code: "context_length_exceeded", Param: "messages",
		Message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 " +
			"tokens. Please reduce the length of the messages.",
	}
)

// After returns the fault with a Retry-After: a number of seconds, or a date.
func (f Fault) After(retryAfter string) Fault {
	f.Header = f.Header.Clone()
	if f.Header == nil {
		f.Header = http.Header{}
	}
	f.Header.Set("Retry-After", retryAfter)
	return f
}

func (f Fault) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), f.Header)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	// An error means that the client has gone.
	_ = json.NewEncoder(w).Encode(f.problem())
}

// problem is the error object, in an answer or in an event of a stream.
func (f Fault) problem() any {
	type problem struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code,omitempty"`
	}
	p := problem{Message: f.Message, Type: "invalid_request_error", Code: f.Code}
	if f.Param != "" {
		p.Param = &f.Param
	}
	if f.Status >= 429 {
		p.Type = f.Code
	}
	return map[string]problem{"error": p}
}
