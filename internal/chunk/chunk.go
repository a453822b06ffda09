// Package chunk cuts a stream of blocks into chunks for embedding: along the document's structure, measured in
// the embedding model's tokens, at content-anchored positions, so that an edit changes only the chunks next to
// it.
//
// A document is cut in three steps. Blocks become items (item.go, split.go, table.go): a short block is one
// item, a long paragraph one per sentence, a long table one per row, long code one per line; no text is lost.
// Items are collected until a chunk is complete (cut.go). A run of items becomes a chunk (assemble.go).
package chunk

import "github.com/seed-7227ef26/async-worker/internal/extract"

// Version is part of what a document was read with. It increases when the same blocks would produce other chunks, so
// that a document that is ingested again is cut again.
const Version = 4

// keyVersion is part of every chunk key. It increases when the same embedded text is to be embedded again. It is not
// Version, so that chunks that are still the same keep their keys.
const keyVersion = 2

// The kinds of chunks, by most of their tokens.
const (
	Text  = "text"
	List  = "list"
	Table = "table"
	Code  = "code"
)

// Chunk is one piece, ready to embed.
type Chunk struct {
	Position    int      // from 0
	Content     string   // the Markdown shown to a reader; never empty
	Embedded    string   // the text for the model: title, headings above the chunk, content
	HeadingPath []string // the headings above all of the content, from the top down; long ones are shortened
	Pages       []int    // ascending; empty if the format has none
	Boxes       []Place  // one per page: around everything on it
	Kind        string   // text, list, table, code
	Headings    int      // number of heading blocks that begin in it
	Language    string   // ISO 639-1; set by the receiver of the chunk, the chunker leaves it empty
	Tokens      int      // of Embedded
	// hex SHA-256 of Embedded (with white space normalized except in code), model, dimensions and keyVersion
	Key string
}

// Place is a box on a page.
type Place struct {
	Page int
	extract.Box
}
