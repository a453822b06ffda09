package ingest

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/job"
)

// payload is what an ingest task says.
type payload struct {
	Filename    string         `json:"filename"`
	DocumentSet string         `json:"document_set"`
	Blob        string         `json:"blob"` // default: Filename
	Metadata    map[string]any `json:"metadata"`
}

// maxSetName is the longest name of a document set, in characters.
const maxSetName = 200

func readPayload(raw json.RawMessage) (payload, error) {
	var p payload
	raw, err := known(raw)
	if err != nil {
		return p, invalid("payload", "is not an object")
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return p, invalid("payload", "has a field of the wrong type (%s); filename, document_set and blob are strings, metadata is an object", typeProblem(err))
	}
	if p.Filename == "" {
		return p, invalid("payload.filename", "is missing; name the document")
	}
	if p.DocumentSet == "" {
		return p, invalid("payload.document_set", "is missing; name the set that the document belongs to")
	}
	if p.Blob == "" {
		p.Blob = p.Filename
	}
	if err := blob.CheckName(p.Filename); err != nil {
		return p, invalid("payload.filename", "is refused: %s", job.Classify(err).Message)
	}
	if err := blob.CheckName(p.Blob); err != nil {
		return p, invalid("payload.blob", "is refused: %s", job.Classify(err).Message)
	}
	if problem := nameProblem(p.DocumentSet); problem != "" {
		return p, invalid("payload.document_set", "%s", problem)
	}
	return p, nil
}

// known keeps the fields of a payload by their exact names: encoding/json would take Filename for filename
// too, and let a field that nobody knows spoil or replace one that somebody set.
func known(raw json.RawMessage) (json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	ours := map[string]json.RawMessage{}
	for _, name := range []string{"filename", "document_set", "blob", "metadata"} {
		if value, there := all[name]; there {
			ours[name] = value
		}
	}
	return json.Marshal(ours)
}

func nameProblem(s string) string {
	switch {
	case utf8.RuneCountInString(s) > maxSetName:
		return fmt.Sprintf("is longer than %d characters", maxSetName)
	case strings.IndexFunc(s, unicode.IsControl) >= 0:
		return "has a control character in it"
	case strings.TrimSpace(s) != s || s == "":
		return "begins or ends with white space"
	}
	return ""
}

func invalid(field, format string, args ...any) *job.Error {
	return job.Errorf(job.ValidationError, field+" "+format, args...)
}

// typeProblem names a field of the wrong type without repeating what it holds.
func typeProblem(err error) string {
	if e, ok := err.(*json.UnmarshalTypeError); ok { //nolint:errorlint // json.Unmarshal returns it bare
		return fmt.Sprintf("%s has a value of the type %s", e.Field, e.Value)
	}
	return "it can't be read"
}
