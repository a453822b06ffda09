package gatewaytest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
)

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	s.probes++
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"status":"ok"}`+"\n") // fails only if the client is gone
}

// upload is the form of a request.
type upload struct {
	call Call
	file []byte
}

// refusal is an error with its status.
type refusal struct {
	status int
	detail string
}

func (r refusal) Error() string { return r.detail }

func (s *Server) process(w http.ResponseWriter, r *http.Request) {
	u, err := s.read(r)
	fault, number := s.begin(u.call)
	if s.spoil(w, r, fault, number) {
		return
	}
	if err == nil {
		err = s.check(u)
	}
	if no, ok := errors.AsType[refusal](err); ok {
		s.answered(number, no.status)
		refuse(w, no.status, no.detail)
		return
	}
	if err != nil {
		return // the client is gone
	}
	s.answer(w, u, fault, number)
}

// read reads the form.
func (s *Server) read(r *http.Request) (upload, error) {
	u := upload{call: Call{Accept: r.Header.Get("Accept")}}
	parts, err := r.MultipartReader()
	if err != nil {
		return u, refusal{http.StatusBadRequest, "the request is not a form"}
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return u, nil
		}
		if err != nil {
			return u, fmt.Errorf("read the form: %w", err)
		}
		if err := s.part(&u, part); err != nil {
			return u, err
		}
	}
}

func (s *Server) part(u *upload, part *multipart.Part) error {
	content, err := io.ReadAll(io.LimitReader(part, s.options.MaxFile+1))
	if err != nil {
		return fmt.Errorf("read the form: %w", err)
	}
	if int64(len(content)) > s.options.MaxFile {
		return refusal{http.StatusRequestEntityTooLarge, "the file is too large"}
	}
	switch part.FormName() {
	case "file":
		sum := sha256.Sum256(content)
		u.file, u.call.Format, u.call.SHA256 = content, part.Header.Get("Content-Type"), hex.EncodeToString(sum[:])
	case "mapping":
		u.call.Mapping = string(content)
	case "pretty":
		u.call.Pretty = string(content) == "1"
	}
	return nil
}

// check applies the rules of the protocol.
func (s *Server) check(u upload) error {
	toJSON := u.call.Accept == "application/json"
	switch {
	case u.file == nil:
		return refusal{http.StatusBadRequest, "the field file is missing"}
	case !slices.Contains(s.options.Mappings, u.call.Mapping):
		return refusal{http.StatusBadRequest, "there is no such mapping"}
	case !toJSON && u.call.Accept != "application/xml":
		return refusal{http.StatusNotAcceptable, "Accept must be application/xml or application/json"}
	}
	switch u.call.Format {
	case "application/pdf":
		if !bytes.HasPrefix(u.file, []byte("%PDF-")) {
			return refusal{http.StatusBadRequest, "the file is not a PDF"}
		}
	case "application/json":
		if toJSON {
			return refusal{http.StatusNotAcceptable, "JSON is converted to XML only"}
		}
		if !json.Valid(u.file) {
			return refusal{http.StatusBadRequest, "the file is not JSON"}
		}
	default:
		return refusal{http.StatusUnsupportedMediaType, "send application/pdf or application/json"}
	}
	return nil
}

// answer sends the result. The call is paid for from here on.
func (s *Server) answer(w http.ResponseWriter, u upload, f Fault, number int) {
	s.answered(number, http.StatusOK)
	invoice := s.options.Invoice
	if u.call.Format == "application/json" {
		invoice = u.file
	}
	kind, body := u.call.Accept, []byte(invoice)
	if kind == "application/xml" {
		body = Convert(invoice, u.call.Mapping, u.call.Pretty)
	}
	if f.ContentType != "" {
		kind = f.ContentType
	}
	if f.Body != nil {
		body = f.Body
	}
	w.Header().Set("Content-Type", kind)
	switch {
	case f.Huge > 0:
		huge(w, f.Huge)
	case f.Cut:
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	default:
		_, _ = w.Write(body) // fails only if the client is gone
	}
}

// Convert makes XML of an invoice in JSON, member by member.
func Convert(invoice json.RawMessage, mapping string, pretty bool) []byte {
	decoder := json.NewDecoder(bytes.NewReader(invoice))
	decoder.UseNumber()
	x := &xmlWriter{pretty: pretty}
	x.WriteString(`<?xml version="1.0" encoding="UTF-8"?>`)
	x.line(0)
	fmt.Fprintf(x, `<document mapping="%s">`, mapping)
	x.value(decoder, "", 1)
	x.line(0)
	x.WriteString("</document>\n")
	return x.Bytes()
}

type xmlWriter struct {
	bytes.Buffer
	pretty bool
}

func (x *xmlWriter) line(depth int) {
	if x.pretty {
		x.WriteString("\n" + strings.Repeat("  ", depth))
	}
}
