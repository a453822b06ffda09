package export

import (
	"encoding/json"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Format is the format of an exported deck.
type Format string

// The formats.
const (
	PPTX Format = "pptx" // the default
	PDF  Format = "pdf"
)

func (f Format) contentType() string {
	if f == PDF {
		return "application/pdf"
	}
	return "application/vnd.openxmlformats-officedocument.presentationml.presentation"
}

// Payload is what an export task says. Either deck_id or blob is there.
type Payload struct {
	// The deck, as a convert task made it.
	DeckID string `json:"deck_id" jsonschema:"format=uuid"`
	// Or a blob in the tenant's container with a deck's JSON: see deck.schema.json.
	Blob string `json:"blob" jsonschema:"minLength=1,maxLength=1024"`
	// Default: pptx.
	Format Format `json:"format" jsonschema:"enum=pptx,enum=pdf"`
	// A blob in the tenant's container with a presentation (PPTX or POTX) whose look the deck gets. Default: its own look.
	Template string `json:"template" jsonschema:"maxLength=1024"`
}

func readPayload(raw json.RawMessage) (Payload, error) {
	var p Payload
	if err := handlers.ReadPayload(raw, &p, "deck_id, blob, format and template are strings"); err != nil {
		return p, err
	}
	switch {
	case p.DeckID == "" && p.Blob == "":
		return p, handlers.Invalid("payload.deck_id", "is missing; name a deck, or the blob of one in payload.blob")
	case p.DeckID != "" && p.Blob != "":
		return p, handlers.Invalid("payload.blob", "names another deck than payload.deck_id; leave one out")
	}
	if p.DeckID != "" {
		id, err := uuid.Parse(p.DeckID)
		if err != nil || len(p.DeckID) != len(id.String()) {
			return p, handlers.Invalid("payload.deck_id", "is not a UUID; the result of a convert task has it")
		}
		p.DeckID = id.String()
	}
	for field, name := range map[string]string{"payload.blob": p.Blob, "payload.template": p.Template} {
		if name == "" {
			continue
		}
		if err := blob.CheckName(name); err != nil {
			return p, handlers.Invalid(field, "is refused: %s", taskerr.Classify(err).Message)
		}
	}
	switch p.Format {
	case "":
		p.Format = PPTX
	case PPTX, PDF:
	default:
		return p, handlers.Invalid("payload.format", "is none of pptx, pdf")
	}
	return p, nil
}
