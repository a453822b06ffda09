package gatewaytest

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"
)

// Fault is how one call fails. The zero value is not a fault.
type Fault struct {
	Status int         // other than zero: the answer, with Header
	Header http.Header // of the answer with Status
	Drop   bool        // the connection closes without an answer
	Hang   bool        // no answer until the client gives up or the server closes
	Delay  time.Duration
	Before func() // called when the whole request has arrived

	// Of an answer with 200, which is paid for:
	Cut         bool   // the connection closes in the middle
	ContentType string // empty: that of the format
	Body        []byte // nil: the right one; empty: none
	Huge        int64  // bytes of XML, made while they are sent
}

// Faults that tests often need.
var (
	Dropped   = Fault{Drop: true}
	NoAnswer  = Fault{Hang: true}
	CutShort  = Fault{Cut: true}
	Empty     = Fault{Body: []byte{}}
	Malformed = Fault{Body: []byte("<invoice><total>2876.11</invoice>")}
	WrongType = Fault{ContentType: "text/html; charset=utf-8", Body: []byte("<html><body>Sign in</body></html>")}
	Entities  = Fault{Body: []byte(`<!DOCTYPE i [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><i>&b;</i>`)}
)

// Status is a fault that answers with a status.
func Status(status int) Fault { return Fault{Status: status} }

// begin records a call and returns its fault.
func (s *Server) begin(c Call) (Fault, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	number := len(s.calls) - 1
	if len(s.script) > 0 {
		fault := s.script[0]
		s.script = s.script[1:]
		return fault, number
	}
	if s.outage != nil {
		return *s.outage, number
	}
	return Fault{}, number
}

func (s *Server) answered(number, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[number].Status = status
}

// spoil applies what a fault does before an answer with 200, and reports whether the call has ended.
func (s *Server) spoil(w http.ResponseWriter, r *http.Request, f Fault, number int) (ended bool) {
	if f.Before != nil {
		f.Before()
	}
	if f.Delay > 0 {
		timer := time.NewTimer(f.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return true
		}
	}
	switch {
	case f.Hang:
		select {
		case <-r.Context().Done():
		case <-s.closing:
		}
		return true
	case f.Drop:
		panic(http.ErrAbortHandler)
	case f.Status != 0:
		maps.Copy(w.Header(), f.Header)
		s.answered(number, f.Status)
		refuse(w, f.Status, http.StatusText(f.Status))
		return true
	}
	return false
}

// huge writes about n bytes of well-formed XML.
func huge(w io.Writer, n int64) {
	line := []byte(strings.Repeat("<amount>2876.11</amount>\n", 1000))
	if _, err := io.WriteString(w, "<invoice>\n"); err != nil {
		return
	}
	for sent := int64(0); sent < n; sent += int64(len(line)) {
		if _, err := w.Write(line); err != nil {
			return // the client has read enough
		}
	}
	_, _ = io.WriteString(w, "</invoice>\n")
}

// refuse answers as the gateway does: JSON with a detail.
func refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "{\"detail\": %q}\n", detail) // fails only if the client is gone
}
