package convert

import (
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/source"
)

// Payload is what a convert task says.
type Payload struct {
	// The document's name. Default: that of its blob, or that its server gives it.
	Filename string `json:"filename" jsonschema:"minLength=1,maxLength=1024"`
	// The blob in the tenant's container that holds its bytes. Default: filename.
	Blob string `json:"blob" jsonschema:"maxLength=1024"`
	// In place of blob: blob:NAME, or an https address.
	SourceURI string `json:"source_uri" jsonschema:"maxLength=4096"`

	place source.Place // where the document is
}

func readPayload(raw json.RawMessage) (Payload, error) {
	var p Payload
	err := handlers.ReadPayload(raw, &p, "filename, blob and source_uri are strings")
	if err == nil {
		p.place, err = handlers.CheckSource(&p.Filename, &p.Blob, p.SourceURI)
	}
	return p, err
}

// folder has all decks in the tenant's container.
const folder = "decks/"

// deckID is the id of the n-th deck of a job, from 0: the same in every attempt, so that a repeated one overwrites what
// it has uploaded before, and another after the job was forced, so that a recorded deck stays as it is.
func deckID(job string, n int) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, fmt.Appendf(nil, "async-worker:deck:%s:%d", job, n)).String()
}

func jsonName(id string) string { return folder + id + ".json" }

func mediaName(id, key, extension string) string { return folder + id + "/media/" + key + extension }

func slideName(id string, n int) string { return fmt.Sprintf("%s%s/preview/%03d.png", folder, id, n) }

func sheetName(id string) string { return folder + id + "/preview.png" }
