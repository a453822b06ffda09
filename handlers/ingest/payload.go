package ingest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Payload is what an ingest task says.
type Payload struct {
	// The document's name, by which it is known in its set. Default: that of its blob; or that it has already; or that
	// its server gives it.
	Filename string `json:"filename" jsonschema:"minLength=1,maxLength=1024"`
	// The set that it belongs to. A set is made by naming it.
	DocumentSet string `json:"document_set" jsonschema:"required,minLength=1,maxLength=200"`
	// The blob in the tenant's container that holds its bytes. Default: filename.
	Blob string `json:"blob" jsonschema:"maxLength=1024"`
	// In place of blob: blob:NAME, or an https address.
	SourceURI string `json:"source_uri" jsonschema:"maxLength=4096"`
	// In place of one document: a job of its own for each new or changed blob whose name begins so. Empty: for all.
	Prefix *string `json:"prefix" jsonschema:"maxLength=1024"`
	// Kept with the document. A title in it is embedded with each chunk. Default: what the document has already.
	Metadata store.Metadata `json:"metadata"`
	// Take the document out of the index, with what was made of its text.
	Delete bool `json:"delete"`
	// With delete: remove the blobs that were derived of it, too.
	Purge bool `json:"purge"`
	// With delete: only if its blob is gone.
	OnlyMissing bool `json:"only_missing"`
	// With prefix: delete the set's documents whose blob begins so and is gone.
	DeleteMissing bool `json:"delete_missing"`

	place   source.Place // where the document is
	derived bool         // its name is not the sender's
}

// maxSetName is the longest name of a document set, in characters.
const maxSetName = 200

// kinds describes the fields.
const kinds = "filename, document_set, blob, source_uri and prefix are strings, metadata is an object, delete, purge, " +
	"only_missing and delete_missing are true or false"

func readPayload(raw json.RawMessage) (Payload, error) {
	var p Payload
	err := handlers.ReadPayload(raw, &p, kinds)
	if err != nil {
		return p, err
	}
	if p.Prefix != nil {
		err = p.checkPrefix()
	} else {
		p.place, err = handlers.CheckSource(&p.Filename, &p.Blob, p.SourceURI)
	}
	if err != nil {
		return p, err
	}
	if p.DocumentSet == "" {
		return p, handlers.Invalid("payload.document_set", "is missing; name the set that the document belongs to")
	}
	if problem := nameProblem(p.DocumentSet); problem != "" {
		return p, handlers.Invalid("payload.document_set", "%s", problem)
	}
	if err := handlers.CheckIndexed(p.Filename, p.DocumentSet); err != nil && !p.Delete {
		return p, err
	}
	return p, p.checkRemoval()
}

// checkPrefix checks a payload with a prefix.
func (p *Payload) checkPrefix() error {
	for name, given := range map[string]bool{
		"filename": p.Filename != "", "blob": p.Blob != "", "source_uri": p.SourceURI != "",
	} {
		if given {
			return handlers.Invalid("payload."+name, "is given with payload.prefix; leave one of them out")
		}
	}
	if p.Delete {
		return handlers.Invalid("payload.delete", "is given with payload.prefix; delete_missing deletes documents whose "+
			"blobs are gone")
	}
	switch name := *p.Prefix; {
	case utf8.RuneCountInString(name) > 1024:
		return handlers.Invalid("payload.prefix", "is longer than 1024 characters")
	case !utf8.ValidString(name), strings.ContainsFunc(name, unicode.IsControl), strings.Contains(name, `\`),
		strings.HasPrefix(name, "/"), slices.Contains(strings.Split(name, "/"), ".."):
		return handlers.Invalid("payload.prefix", "can't begin the name of a blob: it has a control character, a "+
			`backslash or ".." in it, or begins with "/"`)
	}
	return nil
}

// checkRemoval checks what a payload says about deleting.
func (p *Payload) checkRemoval() error {
	switch {
	case p.Purge && !p.Delete:
		return handlers.Invalid("payload.purge",
			"is true, and delete is not: it removes what was derived of a document that is deleted; send delete, too, or leave it out")
	case p.OnlyMissing && !p.Delete:
		return handlers.Invalid("payload.only_missing", "is true, and delete is not; send delete, too, or leave it out")
	case p.OnlyMissing && p.place.Address != nil:
		return handlers.Invalid("payload.only_missing",
			"is true, and the document is not a blob; leave it out to delete the document in any case")
	case p.DeleteMissing && p.Prefix == nil:
		return handlers.Invalid("payload.delete_missing", "is true, and there is no prefix; name one in payload.prefix")
	case p.Delete && p.Filename == "" && p.place.Address != nil:
		return handlers.Invalid("payload.filename", "is missing; name the document that is to be deleted")
	}
	return nil
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
// file's name would make two chunks of the same text in two files. A task without metadata leaves the document's as it is.
func (p Payload) title(before *store.ActiveVersion) string {
	if p.Metadata == nil && before != nil {
		return before.GivenTitle
	}
	title, _ := p.Metadata["title"].(string)
	return title
}
