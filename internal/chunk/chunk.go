// Package chunk cuts a stream of blocks into chunks for embedding: along the document's structure,
// measured in the embedding model's tokens, at content-anchored places so that an edit changes only
// its neighbours.
package chunk

import "github.com/seed-7227ef26/async-worker/internal/extract"

// Version goes into every chunk key: it rises when the same blocks would give other chunks.
const Version = 1

// Chunk is one piece, ready to embed.
type Chunk struct {
	Position    int      // from 0
	Content     string   // what a reader is shown
	Embedded    string   // what the model gets: title, heading path, content
	HeadingPath []string // from the top heading down
	Pages       []int    // ascending; empty: the format has none
	Boxes       []Place
	Kind        string // text, list, table, code
	Tokens      int    // of Embedded
	Key         string // hex SHA-256 of Embedded, model, dimensions and Version
}

// Place is a box on a page.
type Place struct {
	Page int
	extract.Box
}
