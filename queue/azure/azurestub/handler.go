package azurestub

import (
	"encoding/xml"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// failure is an error response of the protocol.
type failure struct {
	status int
	code   string
}

var (
	queueNotFound    = &failure{http.StatusNotFound, "QueueNotFound"}
	messageNotFound  = &failure{http.StatusNotFound, "MessageNotFound"}
	receiptMismatch  = &failure{http.StatusBadRequest, "PopReceiptMismatch"}
	outOfRange       = &failure{http.StatusBadRequest, "OutOfRangeQueryParameterValue"}
	invalidXML       = &failure{http.StatusBadRequest, "InvalidXmlDocument"}
	tooLarge         = &failure{http.StatusRequestEntityTooLarge, "RequestBodyTooLarge"}
	verbNotSupported = &failure{http.StatusMethodNotAllowed, "UnsupportedHttpVerb"}
)

const (
	maxText       = 64 << 10
	maxVisibility = 7 * 24 * 3600
	never         = -1
)

// ServeHTTP serves /account/queue, /account/queue/messages and /account/queue/messages/id.
func (s *Stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("x-ms-version", "2026-04-06")
	w.Header().Set("x-ms-request-id", "stub")
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(parts) < 2 || len(parts) > 4 || len(parts) > 2 && parts[2] != "messages" {
		(&failure{http.StatusBadRequest, "InvalidUri"}).write(w)
		return
	}
	var f *failure
	switch name := parts[1]; {
	case len(parts) == 2:
		f = s.serveQueue(w, r, name)
	case len(parts) == 3:
		f = s.serveMessages(w, r, name)
	default:
		f = s.serveMessage(w, r, name, parts[3])
	}
	if f != nil {
		f.write(w)
	}
}

func (f *failure) write(w http.ResponseWriter) {
	w.Header().Set("x-ms-error-code", f.code)
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(f.status)
	_, _ = io.WriteString(w, xml.Header+"<Error><Code>"+f.code+"</Code><Message>stub</Message></Error>")
}

func (s *Stub) serveQueue(w http.ResponseWriter, r *http.Request, name string) *failure {
	switch {
	case r.Method == http.MethodPut && r.URL.Query().Get("comp") == "":
		if s.create(name) {
			w.WriteHeader(http.StatusCreated)
		} else {
			w.WriteHeader(http.StatusNoContent)
		}
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.URL.Query().Get("comp") == "metadata":
		depth, f := s.depth(name)
		if f != nil {
			return f
		}
		w.Header().Set("x-ms-approximate-messages-count", strconv.Itoa(depth))
		w.WriteHeader(http.StatusOK)
	default:
		return verbNotSupported
	}
	return nil
}

func (s *Stub) serveMessages(w http.ResponseWriter, r *http.Request, name string) *failure {
	query := r.URL.Query()
	switch r.Method {
	case http.MethodGet:
		n, okN := number(query.Get("numofmessages"), 1, 1, 32)
		visibility, okV := number(query.Get("visibilitytimeout"), 30, 1, maxVisibility)
		if !okN || !okV {
			return outOfRange
		}
		var messages []message
		var f *failure
		if query.Get("peekonly") == "true" {
			messages, f = s.peek(name, n)
		} else {
			messages, f = s.get(name, n, time.Duration(visibility)*time.Second)
		}
		if f != nil {
			return f
		}
		writeMessages(w, http.StatusOK, messages, query.Get("peekonly") != "true")
	case http.MethodPost:
		delay, okD := number(query.Get("visibilitytimeout"), 0, 0, maxVisibility)
		ttl, okT := number(query.Get("messagettl"), maxVisibility, never, 1<<31-1)
		if !okD || !okT || ttl == 0 {
			return outOfRange
		}
		text, given, f := readText(r)
		if f != nil {
			return f
		}
		if !given {
			return invalidXML
		}
		m, f := s.put(name, text, time.Duration(delay)*time.Second, time.Duration(ttl)*time.Second)
		if f != nil {
			return f
		}
		writeMessages(w, http.StatusCreated, []message{m}, true)
	default:
		return verbNotSupported
	}
	return nil
}

func (s *Stub) serveMessage(w http.ResponseWriter, r *http.Request, name, id string) *failure {
	query := r.URL.Query()
	receipt := query.Get("popreceipt")
	switch r.Method {
	case http.MethodDelete:
		if f := s.remove(name, id, receipt); f != nil {
			return f
		}
	case http.MethodPut:
		visibility, ok := number(query.Get("visibilitytimeout"), 0, 0, maxVisibility)
		if !ok {
			return outOfRange
		}
		text, given, f := readText(r)
		if f != nil {
			return f
		}
		m, f := s.update(name, id, receipt, time.Duration(visibility)*time.Second, text, given)
		if f != nil {
			return f
		}
		w.Header().Set("x-ms-popreceipt", m.receipt)
		w.Header().Set("x-ms-time-next-visible", m.visibleAt.UTC().Format(http.TimeFormat))
	default:
		return verbNotSupported
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// number reads a query parameter in whole numbers.
func number(s string, absent, least, most int) (int, bool) {
	if s == "" {
		return absent, true
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= least && n <= most
}

// readText reads a message's text from a body; given is false when there is no body.
func readText(r *http.Request) (text string, given bool, f *failure) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return "", false, invalidXML
	}
	if len(body) == 0 {
		return "", false, nil
	}
	var m struct {
		Text *string `xml:"MessageText"`
	}
	if xml.Unmarshal(body, &m) != nil || m.Text == nil {
		return "", false, invalidXML
	}
	if len(*m.Text) > maxText {
		return "", false, tooLarge
	}
	return *m.Text, true, nil
}

// writeMessages writes the list without encoding/xml, which would take half of the stub's time.
func writeMessages(w http.ResponseWriter, status int, messages []message, receipts bool) {
	var b strings.Builder
	b.WriteString(xml.Header)
	b.WriteString("<QueueMessagesList>")
	for _, m := range messages {
		b.WriteString("<QueueMessage><MessageId>" + m.id + "</MessageId><InsertionTime>" +
			m.insertedAt.UTC().Format(http.TimeFormat))
		b.WriteString("</InsertionTime><ExpirationTime>" + m.expiresAt.UTC().Format(http.TimeFormat) +
			"</ExpirationTime>")
		if receipts {
			b.WriteString("<PopReceipt>" + m.receipt + "</PopReceipt><TimeNextVisible>" +
				m.visibleAt.UTC().Format(http.TimeFormat) + "</TimeNextVisible>")
		}
		if status == http.StatusOK {
			b.WriteString("<DequeueCount>" + strconv.Itoa(m.dequeues) + "</DequeueCount><MessageText>")
			_ = xml.EscapeText(&b, []byte(m.text))
			b.WriteString("</MessageText>")
		}
		b.WriteString("</QueueMessage>")
	}
	b.WriteString("</QueueMessagesList>")
	w.Header().Set("Content-Type", "application/xml")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, b.String())
}
