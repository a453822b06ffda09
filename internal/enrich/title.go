package enrich

import (
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// TitleSource is where a title comes from.
type TitleSource string

// The sources of a title.
const (
	NoTitle      TitleSource = ""
	FromMetadata TitleSource = "metadata" // the document states it
	FromHeading  TitleSource = "heading"  // the first heading of the highest level near the start
)

// Where a heading may still be the title.
const (
	titlePages  = 3   // of a document with pages
	titleBlocks = 100 // blocks from the start
	maxTitle    = 500 // bytes
)

// headline finds the heading that is the title of a document without a stated one.
type headline struct {
	blocks int
	level  int // of text; zero: none found yet
	text   string
}

// notTitles are headings of parts that precede the text.
const notTitles = "|abstract|contents|table of contents|toc|index|inhalt|inhaltsverzeichnis|sommaire|table des " +
	"matières|índice|indice|" +
	"foreword|preface|vorwort|summary|zusammenfassung|résumé|"

func (h *headline) add(b extract.Block) {
	if h.blocks++; h.blocks > titleBlocks || b.Page > titlePages || b.Kind != extract.Heading {
		return
	}
	text := strings.Join(strings.Fields(b.Text), " ")
	level := min(max(b.Level, 1), maxDepth)
	if extract.StatedTitle(text) == "" || h.level > 0 && level >= h.level || isPart(text) {
		return
	}
	h.level, h.text = level, text
}

func isPart(text string) bool {
	text = strings.ToLower(strings.Trim(text, " .:0123456789"))
	return strings.Contains(notTitles, "|"+text+"|")
}

// title returns the title that the document states, or else the heading.
func (h *headline) title(declared string) (string, TitleSource) {
	switch {
	case declared != "":
		return shorten(declared, maxTitle), FromMetadata
	case h.text != "":
		return shorten(h.text, maxTitle), FromHeading
	}
	return "", NoTitle
}
