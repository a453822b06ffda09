// Package extract turns documents into blocks. Every extractor fills the one model Document; Markdown is
// rendered from it, and the chunker reads it. Extractors emit their blocks one by one in reading order, so that
// a long document never has to fit into memory.
package extract

import (
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Kind is the kind of a block.
type Kind string

// The kinds of blocks.
const (
	Heading   Kind = "heading"
	Paragraph Kind = "paragraph"
	ListItem  Kind = "list_item"
	TableKind Kind = "table"
	Code      Kind = "code"
	Caption   Kind = "caption"
	Picture   Kind = "picture"
)

// Block is one piece of a document in reading order. Its text is valid UTF-8 without NUL.
type Block struct {
	Kind     Kind   `json:"kind"`
	Text     string `json:"text,omitempty"`   // empty for a table
	Level    int    `json:"level,omitempty"`  // heading: 1-6; list item: depth from 0
	Marker   string `json:"marker,omitempty"` // list item: "-" or its number, for example "2."
	Page     int    `json:"page,omitempty"`   // 1-based; zero: the format has no pages
	Box      *Box   `json:"box,omitempty"`    // nil: unknown
	Table    *Table `json:"table,omitempty"`  // of a table
	Language string `json:"language,omitempty"`
	Links    []Link `json:"links,omitempty"` // of Text, in its order, apart from each other
}

// Box is a rectangle on a page in fractions (0-1) of the page size, from the top left.
type Box struct {
	Left   float64 `json:"l"`
	Top    float64 `json:"t"`
	Right  float64 `json:"r"`
	Bottom float64 `json:"b"`
}

// Table is rows of cells. A cell that spans columns or rows occurs once, at its top left.
type Table struct {
	Rows    [][]Cell `json:"rows"`
	Headers int      `json:"headers"` // number of header rows at the top

	// Continued: these rows continue the table of the previous block and repeat its header rows. So a long
	// table is emitted in slices of bounded size.
	Continued bool `json:"continued,omitempty"`
}

// Cell is one cell of a table.
type Cell struct {
	Text    string `json:"text"`
	ColSpan int    `json:"colspan,omitempty"` // zero means 1
	RowSpan int    `json:"rowspan,omitempty"` // zero means 1
	Links   []Link `json:"links,omitempty"`   // of Text, as in Block
}

// Info describes a document as a whole, once its last block was emitted.
type Info struct {
	Format     Format `json:"format"`
	Extractor  string `json:"extractor"` // for example "native/pdf"
	Title      string `json:"title,omitempty"`
	Language   string `json:"language,omitempty"`
	Pages      int    `json:"pages"` // zero: the format has none
	Characters int    `json:"characters"`
	// how each page was read; empty if the extractor has no choice
	PageLog    []PageDecision    `json:"page_log,omitempty"`
	Properties map[string]string `json:"properties,omitempty"` // author, created, …
	// service used to read it; empty: none
	Service  taskerr.Dependency `json:"-"`
	Fallback bool               `json:"fallback,omitempty"` // it was read in another way than Router.Version states
	// A part was not read for a reason that may pass, e.g. a lack of time: another reading may have more.
	Incomplete bool `json:"incomplete,omitempty"`
	// sentences about what is missing or was read in another way than requested
	Warnings []string `json:"warnings,omitempty"`
}

// Unread is a sentence about the pages that are images and that OCR could not read; empty: there are none.
func (i Info) Unread() string {
	p := i.Properties
	if p["unread_pages"] == "" {
		return ""
	}
	return fmt.Sprintf("%s of %d pages have no text and could not be read by OCR (%s): page %s",
		p["unread_pages"], i.Pages, p["unread_reason"], p["unread_list"])
}

// Document is a whole document in memory, for rendering and tests; the pipeline streams blocks.
type Document struct {
	Info
	Blocks []Block `json:"blocks"`
}
