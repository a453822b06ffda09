package xml

import (
	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/gateway"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// Payload is what an xml task says.
type Payload struct {
	// The blob with the invoice, a PDF, in the tenant's container. Default: uploads/<task id>.pdf.
	Filename string `json:"filename" jsonschema:"maxLength=1024"`
	// In place of the blob filename: blob:NAME, or an https address.
	SourceURI string `json:"source_uri" jsonschema:"maxLength=4096"`
	// What the gateway makes of it, by its name there; embedded: the XML that the PDF carries (Factur-X, ZUGFeRD), without
	// a call of the gateway. Default: pt_simon_invoice_v1.
	Mapping string `json:"mapping" jsonschema:"pattern=^([A-Za-z0-9][A-Za-z0-9_.-]{0\\,63})?$"`
	// The XML is indented. Default: false.
	Pretty bool `json:"pretty"`
	// In checked mode a model holds what the gateway has read against the document's text. Default: direct.
	Mode Mode `json:"mode" jsonschema:"enum=direct,enum=checked"`

	place source.Place // where the document is
	blob  string       // the place's key
}

// Mode is how the XML is made.
type Mode string

// The modes.
const (
	Direct  Mode = "direct"
	Checked Mode = "checked"
)

// MappingEmbedded is the mapping that takes the XML from the PDF.
const MappingEmbedded = "embedded"

// readPayload decodes a task, without I/O.
func readPayload(t task.Task) (p Payload, err error) {
	if err := handlers.ReadPayload(task.NameInvoice(t.Payload, t.ID), &p,
		"filename, source_uri, mapping and mode are strings, pretty is true or false"); err != nil {
		return p, err
	}
	if p.place, err = handlers.CheckSource(&p.Filename, &p.blob, p.SourceURI); err != nil {
		return p, err
	}
	if p.Mapping == "" {
		p.Mapping = gateway.DefaultMapping
	}
	if !gateway.ValidMapping(p.Mapping) {
		return p, handlers.Invalid("payload.mapping", "is not the name of a mapping: %s", gateway.MappingRule)
	}
	switch p.Mode {
	case "":
		p.Mode = Direct
	case Direct, Checked:
	default:
		return p, handlers.Invalid("payload.mode", "is neither direct nor checked")
	}
	if p.Mode == Checked && p.Mapping == MappingEmbedded {
		return p, handlers.Invalid("payload.mode", "is checked, and the mapping embedded is taken as it is; send direct")
	}
	return p, nil
}
