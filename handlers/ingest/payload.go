package ingest

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/handlers"
)

// Payload is what an ingest task says.
type Payload struct {
	// The document's name, by which it is known in its set.
	Filename string `json:"filename" jsonschema:"required,minLength=1,maxLength=1024"`
	// The set that it belongs to. A set is made by naming it.
	DocumentSet string `json:"document_set" jsonschema:"required,minLength=1,maxLength=200,pattern=^[^ ](.*[^ ])?$"`
	// The blob in the tenant's container that holds its bytes. Default: filename.
	Blob string `json:"blob" jsonschema:"maxLength=1024"`
	// Kept with the document. A title in it is embedded with each chunk.
	Metadata map[string]any `json:"metadata"`
	// Take the document out of the index, with what was made of its text.
	Delete bool `json:"delete"`
	// With delete: remove the blobs that were derived of it, too.
	Purge bool `json:"purge"`
}

// maxSetName is the longest name of a document set, in characters.
const maxSetName = 200

func readPayload(raw json.RawMessage) (Payload, error) {
	var p Payload
	if err := handlers.ReadPayload(raw, &p,
		"filename, document_set and blob are strings, metadata is an object, delete and purge are true or false"); err != nil {
		return p, err
	}
	if err := handlers.CheckSource(p.Filename, &p.Blob); err != nil {
		return p, err
	}
	if p.DocumentSet == "" {
		return p, handlers.Invalid("payload.document_set", "is missing; name the set that the document belongs to")
	}
	if problem := nameProblem(p.DocumentSet); problem != "" {
		return p, handlers.Invalid("payload.document_set", "%s", problem)
	}
	if p.Purge && !p.Delete {
		return p, handlers.Invalid("payload.purge",
			"is true, and delete is not: it removes what was derived of a document that is deleted")
	}
	return p, nil
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

// title is embedded with each chunk. Only the sender's counts: a title in the document is already a heading, and the
// file's name would make two chunks of the same text in two files.
func (p Payload) title() string {
	title, _ := p.Metadata["title"].(string)
	return title
}
