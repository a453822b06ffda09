// Package structure measures what the extractors find of a document's structure: headings with their levels, list
// items, cells of tables, the words and their order. It makes its documents itself, in several languages, and prints
// them to PDF with several programs, so the source of a document is the reference, and there are as many as wanted.
package structure

import (
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// Document is a document with a known structure.
type Document struct {
	Kind     string // see Kinds
	Language string // ISO 639-1
	Columns  int    // of text; zero means one
	Running  string // the running head of each page; empty: none
	Foot     string // the foot of each page, which has the page's number; empty: none
	Parts    []Part

	Justified bool // lines are equally long, and words hyphenated
	Symbols   bool // the bullets of lists are characters of symbol fonts
}

// Name is unique among the documents of one set.
func (d *Document) Name() string { return d.Kind + "-" + d.Language }

// RightToLeft reports whether its language is written from the right.
func (d *Document) RightToLeft() bool { return d.Language == "ar" || d.Language == "fa" }

// Look is how a part is drawn, apart from what it is.
type Look string

// The looks of parts.
const (
	Plain      Look = ""
	Small      Look = "small"
	Centered   Look = "centered"
	Spaced     Look = "spaced"     // with wide gaps between the letters
	Entry      Look = "entry"      // dots lead to Leader at the right
	Term       Look = "term"       // directly above its definition
	Definition Look = "definition" // indented
	Note       Look = "note"       // small, and its lead is raised
)

// Part is one block of a document, and how it is drawn.
type Part struct {
	extract.Block
	Look    Look
	Break   bool   // it begins a page
	Lead    string // how the text begins, in bold: a reader might take it for a heading
	Leader  string // how an Entry ends
	Bold    bool   // all of its text is bold, although it isn't a heading
	Open    bool   // the table is drawn without rules
	Lines   Lines  // of the table, unless it is open
	Rotated bool   // the heads of the table's columns are turned by 90°
	Beside  *Part  // a second table to the right of this one
}

// Lines are what is drawn of a table. The zero value is a full grid.
type Lines string

// The lines of tables.
const (
	Rows    Lines = "rows"    // lines between the rows
	Book    Lines = "book"    // lines above and below the head, and below the table
	Stripes Lines = "stripes" // no lines; every other row has a background
)

// Reference returns what a reader should find, in reading order.
func (d *Document) Reference() []extract.Block {
	var blocks []extract.Block
	for _, p := range d.Parts {
		blocks = append(blocks, p.Block)
		if p.Beside != nil {
			blocks = append(blocks, p.Beside.Block)
		}
	}
	return blocks
}
