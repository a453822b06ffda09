// Package enrich derives metadata from a document's blocks and chunks: its language, title, outline, author and
// dates. It holds little more than the outline in memory.
package enrich

import (
	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// Version increases when the same document would get other metadata.
const Version = 1

// Document is the derived metadata of a document.
type Document struct {
	Title       string
	TitleSource TitleSource
	Language    Language
	Outline     Outline
	Properties  Properties
}

// Collector collects the metadata of one document. It is not safe for concurrent use.
type Collector struct {
	outline  outline
	headline headline
	votes    votes
}

// NewCollector returns a Collector for one document.
func NewCollector() *Collector { return &Collector{votes: newVotes()} }

// Block takes the next block in reading order, as passed to the chunker.
func (c *Collector) Block(b extract.Block) {
	c.headline.add(b)
	c.outline.add(b)
}

// Chunk takes the next chunk, in order, and returns its language.
func (c *Collector) Chunk(k chunk.Chunk) Language {
	c.outline.anchor(k.Position, k.Headings)
	if k.Kind == chunk.Code {
		return Undetermined
	}
	found := Detect(k.Content)
	c.votes.add(found, sampleOf(k.Content))
	return found
}

// Finish returns the metadata after the last chunk. info is the extractor's.
func (c *Collector) Finish(info extract.Info) Document {
	d := Document{
		Language: c.votes.decide(info.Language), Outline: c.outline.finish(), Properties: properties(info.Properties),
	}
	d.Title, d.TitleSource = c.headline.title(info.Title)
	return d
}
