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

// shown returns the role of an element where it is.
func (w *walker) shown(role role) role {
	switch {
	case role != numbering:
		return role
	case w.within(item, paragraph):
		return field
	}
	return skipped
}

// apart writes a blank between two elements that are fields. Publishers write none if a style sheet has the separators.
func (w *walker) apart(role role) {
	if !w.ended || len(w.open) == 0 {
		return
	}
	around := w.open[len(w.open)-1].role
	if role == field || role == record || around == record || around == byline {
		w.buffer.WriteByte(' ')
	}
}
