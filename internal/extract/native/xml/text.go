package xml

import (
	"encoding/xml"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

// joined returns a text with single blanks; line breaks of the document's own stay.
func joined(text string) string { return strings.Join(strings.Fields(text), " ") }

// lines joins the blanks of each line.
func lines(text string) string {
	var all []string
	for line := range strings.Lines(text) {
		if line = joined(line); line != "" {
			all = append(all, line)
		}
	}
	return strings.Join(all, "\n")
}

func attr(e xml.StartElement, name string) string { return ooxml.Attr(e, name) }
