package compose

import (
	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// Part is text of a document that becomes one body, which may be divided: a section without its tables.
type Part struct {
	Title  string
	Blocks []extract.Block // none is empty
}

// Page is a slide that a model wrote of a part.
type Page struct {
	Title  string // empty: the part's
	Points []Point
}

// Point is a bullet.
type Point struct {
	Text  string
	Block int // of the part, which says so
}

// MinText is how many bytes of text a part has that is worth a model's words: less is on its slide as it is.
const MinText = 240

// maxCited is how many characters of a passage are cited.
const maxCited = 400

// Parts returns the parts that Document makes bodies of, in order: Options.Pages has pages for them.
func Parts(doc *extract.Document, o Options) []Part {
	o.Pages = nil
	c := begin(doc, nil, o)
	c.compose(doc.Blocks)
	return c.bodies
}

// written adds the slides that a model wrote of a part. Each bullet cites its passage, by its page and its words.
func (c *composer) written(s section, part Part, pages []Page) {
	for _, page := range pages {
		t := &deck.Text{}
		for _, p := range page.Points {
			b := part.Blocks[p.Block]
			t.Paragraphs = append(t.Paragraphs, deck.Paragraph{
				Runs: []deck.Run{{Text: oneLine(p.Text)}}, Page: b.Page, Cites: clip(oneLine(b.Text)),
			})
		}
		enlarge(t)
		first := part.Blocks[page.Points[0].Block]
		title, name := c.title(s), s.title
		if page.Title != "" {
			name = oneLine(page.Title)
			title.Text = deck.Lines(name)
		}
		c.add(c.footed(deck.Slide{
			Layout: string(deck.ContentLayout), Title: name, Source: c.from(first.Page, nil),
			Elements: []deck.Element{
				title, {Kind: deck.TextElement, Role: deck.BodyRole, Index: 1, Text: t, Source: c.from(first.Page, first.Box)},
			},
		}))
	}
}

func clip(text string) string {
	if letters := []rune(text); len(letters) > maxCited {
		return string(letters[:maxCited-1]) + "…"
	}
	return text
}
