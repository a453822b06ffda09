// Package chunk cuts a stream of blocks into chunks for embedding: along the document's structure,
// measured in the embedding model's tokens, at content-anchored places so that an edit changes only
// its neighbours.
//
// A document is cut in three steps. Blocks become items (item.go, split.go, table.go): a block that
// is short enough is one, a long paragraph one for each sentence, a long table one for each row, long
// code one for each line; all of its text is kept. Items are collected until a chunk is complete
// (cut.go). A run of items becomes a chunk (assemble.go).
package chunk

import "github.com/seed-7227ef26/async-worker/internal/extract"

// Version goes into every chunk key: it rises when the same blocks would give other chunks.
const Version = 2

// The kinds of chunks, by what most of their tokens are.
const (
	Text  = "text"
	List  = "list"
	Table = "table"
	Code  = "code"
)

// Chunk is one piece, ready to embed.
type Chunk struct {
	Position    int      // from 0
	Content     string   // what a reader is shown: Markdown; never empty
	Embedded    string   // what the model gets: title, headings above the chunk, content
	HeadingPath []string // from the top heading down, those that all of the content is under; long ones shortened
	Pages       []int    // ascending; empty: the format has none
	Boxes       []Place  // one for each page: around all that is on it
	Kind        string   // text, list, table, code
	Headings    int      // heading blocks that begin in it
	Language    string   // ISO 639-1, as whoever takes the chunk finds it; the chunker leaves it empty
	Tokens      int      // of Embedded
	// hex SHA-256 of Embedded (but for code, in whatever white space), model, dimensions and Version
	Key string
}

// Place is a box on a page.
type Place struct {
	Page int
	extract.Box
}
