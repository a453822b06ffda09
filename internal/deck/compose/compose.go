// Package compose makes decks of documents: a slide for each section, in the order of the document, with its tables and
// its pictures, and all of its text or what a model wrote of that; the notes of each slide name the pages that it is from.
package compose

import (
	"context"
	"path"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/fit"
	"github.com/seed-7227ef26/async-worker/internal/deck/typeset"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// Options say what a deck is made of.
type Options struct {
	Filename string // of the document
	SHA256   string // of its bytes
	Method   string // as in deck.Source; empty: rules
	// Pages are the slides that a model wrote of each of Parts; where there are none, the part's own text is on them.
	Pages [][]Page
}

// Picture is a picture of a document.
type Picture struct {
	Key  string // in deck.Media
	Page int    // where it is; 0: unknown
	Alt  string
	deck.Media
}

// Document makes a deck of a document. Its content fits: see fit.Fit. Its only error is the context's cause.
func Document(ctx context.Context, doc *extract.Document, pictures []Picture, o Options) (*deck.Deck, error) {
	c := begin(doc, pictures, o)
	c.compose(doc.Blocks)
	return c.finish(ctx)
}

func (c *composer) compose(blocks []extract.Block) {
	outline := outlineOf(blocks, c.deck.Title)
	c.titleSlide(outline.lead)
	for _, s := range outline.sections {
		c.section(s, outline.grouped)
	}
	c.rest()
}

// composer makes one deck.
type composer struct {
	deck     *deck.Deck
	options  Options
	pages    int
	pictures []Picture // that are not placed yet
	bodies   []Part    // that were written so far
}

func begin(doc *extract.Document, pictures []Picture, o Options) *composer {
	if o.Method == "" {
		o.Method = "rules"
	}
	d := deck.New(titleOf(doc, o.Filename))
	d.Language, d.Author = doc.Language, doc.Properties["author"]
	if d.Language == "und" {
		d.Language = ""
	}
	d.Source = &deck.Source{
		Filename: o.Filename, SHA256: o.SHA256, Format: string(doc.Format), Pages: doc.Pages, Method: o.Method,
	}
	d.Media = map[string]deck.Media{}
	for _, p := range pictures {
		d.Media[p.Key] = p.Media
	}
	return &composer{deck: d, options: o, pages: doc.Pages, pictures: pictures}
}

// titleOf is the title of the document: stated, or its first heading, or else its name.
func titleOf(doc *extract.Document, name string) string {
	if doc.Title != "" {
		return doc.Title
	}
	for _, b := range doc.Blocks {
		if b.Kind == extract.Heading && strings.TrimSpace(b.Text) != "" {
			return oneLine(b.Text)
		}
	}
	base := path.Base(name)
	return strings.TrimSuffix(base, path.Ext(base))
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// titleSlide opens the deck: the title, and below it the file and its author. lead is what precedes the first section.
func (c *composer) titleSlide(lead []extract.Block) {
	below := []string{c.options.Filename}
	if c.deck.Author != "" {
		below = append(below, c.deck.Author)
	}
	c.add(deck.Slide{
		Layout: string(deck.TitleLayout), Title: c.deck.Title,
		Source: &deck.Provenance{Document: c.options.Filename, Page: min(c.pages, 1)},
		Elements: []deck.Element{
			{Kind: deck.TextElement, Role: deck.TitleRole, Text: deck.Lines(c.deck.Title)},
			{Kind: deck.TextElement, Role: deck.SubtitleRole, Index: 1, Text: deck.Lines(below...)},
		},
	})
	c.content(section{title: c.deck.Title, blocks: lead})
}

// section adds the slides of a section, and of those within it.
func (c *composer) section(s section, grouped bool) {
	if !grouped || len(s.within) == 0 {
		c.content(s)
		return
	}
	opening := deck.Slide{
		Layout: string(deck.SectionLayout), Title: s.title, Source: c.from(s.page, s.heading.Box),
		Elements: []deck.Element{c.title(s)},
	}
	intro, rest := introduction(s.blocks)
	if intro != nil {
		opening.Elements = append(opening.Elements, deck.Element{Kind: deck.TextElement, Role: deck.BodyRole, Index: 1, Text: intro})
	}
	c.add(c.footed(opening))
	if len(rest) > 0 {
		rest := section{title: s.title, heading: s.heading, page: s.page, blocks: rest}
		c.content(rest)
	}
	for _, w := range s.within {
		c.content(w)
	}
}

// introduction is the text of a section that its opening slide has room for; rest is the other blocks.
func introduction(blocks []extract.Block) (text *deck.Text, rest []extract.Block) {
	const room = 450 // characters
	t := &deck.Text{}
	used := 0
	for _, b := range blocks {
		if used += len([]rune(b.Text)); b.Kind != extract.Paragraph || used > room {
			return nil, blocks
		}
		p := paragraph(b)
		p.List = nil
		t.Paragraphs = append(t.Paragraphs, p)
	}
	if len(t.Paragraphs) == 0 {
		return nil, nil
	}
	return t, nil
}

func (c *composer) title(s section) deck.Element {
	runs := runsOf(s.heading.Text, s.heading.Links)
	if s.heading.Text == "" {
		runs = []deck.Run{{Text: s.title}}
	}
	return deck.Element{
		Kind: deck.TextElement, Role: deck.TitleRole, Text: &deck.Text{Paragraphs: []deck.Paragraph{{Runs: runs, Page: s.page}}},
		Source: c.from(s.page, s.heading.Box),
	}
}

// footed adds the deck's title and the number to a slide.
func (c *composer) footed(s deck.Slide) deck.Slide {
	const most = 90 // characters of a footer
	title := []rune(c.deck.Title)
	if len(title) > most {
		title = append(title[:most-1], '…')
	}
	s.Elements = append(s.Elements,
		deck.Element{Kind: deck.TextElement, Role: deck.FooterRole, Index: 11, Text: deck.Lines(string(title))},
		deck.Element{
			Kind: deck.TextElement, Role: deck.NumberRole, Index: 12,
			Text: &deck.Text{Paragraphs: []deck.Paragraph{{Runs: []deck.Run{{Text: "‹#›", Field: "slide_number"}}}}},
		})
	return s
}

func (c *composer) add(s deck.Slide) { c.deck.Slides = append(c.deck.Slides, s) }

// from is the provenance of what is on a page; nil without one.
func (c *composer) from(page int, box *extract.Box) *deck.Provenance {
	p := &deck.Provenance{Document: c.options.Filename, Page: page}
	if box != nil {
		p.Area = &deck.Area{Left: box.Left, Top: box.Top, Right: box.Right, Bottom: box.Bottom}
	}
	return p
}

// finish makes all content fit, numbers the elements, and writes the notes.
func (c *composer) finish(ctx context.Context) (*deck.Deck, error) {
	direct(c.deck)
	fitted, err := fit.Fit(ctx, c.deck, typeset.Typical{})
	if err != nil {
		return nil, err
	}
	d := fitted.Deck
	for i := range d.Slides {
		number(&d.Slides[i])
		for k := range d.Slides[i].Elements {
			shrink(&d.Slides[i].Elements[k])
		}
		cite(&d.Slides[i])
	}
	return d, nil
}
