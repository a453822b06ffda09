package summarize

import (
	"encoding/json"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/source"
)

// Style says what form a summary has.
type Style string

// The styles.
const (
	Brief    Style = "brief"    // one paragraph; the default
	Detailed Style = "detailed" // several paragraphs, in the order of the document
	Bullets  Style = "bullets"  // a list; each line begins with "- "
)

// The bounds of max_words.
const (
	leastWords = 10
	mostWords  = 5000
)

// Payload is what a summarize task says.
type Payload struct {
	// The document's name. Default: that of its blob, or that its server gives it.
	Filename string `json:"filename" jsonschema:"minLength=1,maxLength=1024"`
	// The blob in the tenant's container that holds its bytes. Default: filename.
	Blob string `json:"blob" jsonschema:"maxLength=1024"`
	// In place of blob: blob:NAME, or an https address.
	SourceURI string `json:"source_uri" jsonschema:"maxLength=4096"`
	// One paragraph, several in the order of the document, or a list. Default: brief.
	Style Style `json:"style" jsonschema:"enum=brief,enum=detailed,enum=bullets"`
	// The language of the summary, a BCP 47 tag such as en, de or pt-BR. Default: the document's own.
	Language string `json:"language" jsonschema:"pattern=^([A-Za-z]{2\\,8}(-[A-Za-z0-9]{1\\,8})*)?$"`
	// The length of the summary in words, without its key points. Default: as the style asks for.
	MaxWords *int `json:"max_words" jsonschema:"minimum=10,maximum=5000"`

	place source.Place // where the document is
}

func readPayload(raw json.RawMessage) (Payload, error) {
	var p Payload
	err := handlers.ReadPayload(raw, &p,
		"filename, blob, source_uri, style and language are strings, max_words is a whole number")
	if err != nil {
		return p, err
	}
	if p.place, err = handlers.CheckSource(&p.Filename, &p.Blob, p.SourceURI); err != nil {
		return p, err
	}
	if err := handlers.CheckIndexed(p.Filename, ""); err != nil {
		return p, err
	}
	switch p.Style {
	case "":
		p.Style = Brief
	case Brief, Detailed, Bullets:
	default:
		return p, handlers.Invalid("payload.style", "is none of brief, detailed, bullets")
	}
	if p.Language != "" {
		tag, err := language.Parse(p.Language)
		if err != nil || tag == language.Und {
			return p, handlers.Invalid("payload.language", "is not a BCP 47 tag such as en, de or pt-BR")
		}
		p.Language = tag.String()
	}
	if n := p.MaxWords; n != nil && (*n < leastWords || *n > mostWords) {
		return p, handlers.Invalid("payload.max_words", "is %d; it goes from %d to %d", *n, leastWords, mostWords)
	}
	return p, nil
}

// words returns the default length of a summary of the style: a target, not a limit.
func (s Style) words() int {
	switch s {
	case Detailed:
		return 500
	case Bullets:
		return 150
	default:
		return 100
	}
}

// points returns the maximum number of key points of a summary of the style.
func (s Style) points() int {
	if s == Detailed {
		return 10
	}
	return 6
}

// languageName returns a tag with its name for the model, e.g. "German (de)".
func languageName(tag string) string {
	t, err := language.Parse(tag)
	if err != nil {
		return tag
	}
	if name := display.English.Tags().Name(t); name != "" {
		return name + " (" + tag + ")"
	}
	return tag
}

// sameLanguage compares two tags by their language alone: de-AT is de.
func sameLanguage(a, b string) bool {
	x, errX := language.Parse(a)
	y, errY := language.Parse(b)
	if errX != nil || errY != nil {
		return a == b
	}
	baseX, _ := x.Base()
	baseY, _ := y.Base()
	return baseX == baseY
}
