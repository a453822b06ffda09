package xml

import (
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
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
func (w *walker) shown(role role, e xml.StartElement) role {
	around := none
	if len(w.open) > 0 {
		around = w.open[len(w.open)-1].role
	}
	switch {
	case role == none && around == facts:
		return skipped
	case role == numbering && !w.within(item, paragraph):
		return skipped
	case role == numbering, role == title && around == byline:
		return field
	case role == label && around == paragraph:
		return number
	case role == contribution && attr(e, "vocab")+attr(e, "content-type") != "":
		return skipped
	case role == contribution:
		return field
	case role == paragraph && w.within(claim):
		return lineBreak
	case role == heading && w.untitled != "":
		return paragraph // the sentence of which the claims are the end
	case role == surname && (!w.within(byline) || w.eastern), role == givenName && w.surname == "":
		return field
	}
	return role
}

// apart writes a blank between two elements that are fields. Publishers write none if a style sheet has the separators.
func (w *walker) apart(role role) {
	if !w.ended || len(w.open) == 0 {
		return
	}
	around := w.open[len(w.open)-1].role
	if role == field || role == surname || role == givenName || role == record || around == record || around == byline {
		w.buffer.WriteByte(' ')
	}
}

// endLabel emits the label of what has no title.
func (w *walker) endLabel() error {
	text := w.label
	w.label = ""
	if text == "" || w.tables > 0 {
		return nil
	}
	return w.out.Block(extract.Block{Kind: extract.Caption, Text: text})
}

// known reports whether the facts of a patent named a person or a company before: who applies for it often owns it, too.
func (w *walker) known(name string) bool {
	if w.people[name] {
		return true
	}
	if w.people == nil {
		w.people = map[string]bool{}
	}
	w.people[name] = true
	return false
}

// levelOf returns the level of a heading by its own attribute.
func levelOf(e xml.StartElement) int {
	for _, name := range []string{"level", "lvl", "LVL"} {
		if n, err := strconv.Atoi(attr(e, name)); err == nil {
			return min(max(n, 1), 6)
		}
	}
	return 1
}
