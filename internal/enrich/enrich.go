// Package enrich derives metadata of a document from its stream of blocks and chunks: its language, its title, its
// outline, and what its metadata say of author and dates. It holds little more than the outline in memory.
package enrich

import (
	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// Version rises when the same document would get other metadata.
const Version = 1

// Document is what was found out about a document.
type Document struct {
	Title       string
	TitleSource TitleSource
	Language    Language
	Outline     Outline
	Properties  Properties
}

// Collector gathers it. It is not safe for concurrent use.
type Collector struct {
	outline  outline
	headline headline
	votes    votes
}

// NewCollector returns a Collector for one document.
func NewCollector() *Collector { return &Collector{votes: newVotes()} }

// Block takes the next block in reading order, as it goes to the chunker.
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

// Finish returns what was found, after the last chunk. info is the extractor's.
func (c *Collector) Finish(info extract.Info) Document {
	d := Document{
		Language: c.votes.decide(info.Language), Outline: c.outline.finish(), Properties: properties(info.Properties),
	}
	d.Title, d.TitleSource = c.headline.title(info.Title)
	return d
}
