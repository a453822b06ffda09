package compose

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// content adds the slides of a section's blocks: its text in one body, which is divided later, and each table and
// picture on a slide of its own, in the order of the document.
func (c *composer) content(s section) {
	var body []extract.Block
	flush := func() {
		if len(body) > 0 {
			c.text(s, body)
			body = nil
		}
	}
	blocks := joinTables(s.blocks)
	before := len(c.deck.Slides)
	for i := 0; i < len(blocks); i++ {
		b := blocks[i]
		switch {
		case b.Kind == extract.TableKind && b.Table != nil && len(b.Table.Rows) > 0:
			caption := ""
			if n := len(body); n > 0 && body[n-1].Kind == extract.Caption {
				caption, body = body[n-1].Text, body[:n-1]
			} else if i+1 < len(blocks) && blocks[i+1].Kind == extract.Caption {
				caption = blocks[i+1].Text
				i++
			}
			var lead []extract.Block
			if leads(body, b.Table) {
				lead, body = body, nil
			}
			flush()
			c.table(s, b, caption, lead)
		case b.Kind == extract.Picture && strings.TrimSpace(b.Text) == "":
		default:
			body = append(body, b.Block)
		}
	}
	flush()
	if before == len(c.deck.Slides) && s.heading.Text != "" {
		c.add(c.footed(deck.Slide{
			Layout: string(deck.SectionLayout), Title: s.title, Source: c.from(s.page, s.heading.Box), Elements: []deck.Element{c.title(s)},
		}))
	}
	c.place(s)
}

// joined is a block, or a table with all of its slices.
type joined struct {
	extract.Block
	pages []int // of a table's rows
}

// joinTables joins the slices of long tables. Each is on a page of its own.
func joinTables(blocks []extract.Block) []joined {
	var out []joined
	for _, b := range blocks {
		last := len(out) - 1
		if b.Kind == extract.TableKind && b.Table != nil && b.Table.Continued && last >= 0 && out[last].Table != nil {
			whole := *out[last].Table
			rows := b.Table.Rows[min(b.Table.Headers, len(b.Table.Rows)):]
			whole.Rows = append(slices.Clone(whole.Rows), rows...)
			out[last].Table = &whole
			out[last].pages = append(out[last].pages, slices.Repeat([]int{b.Page}, len(rows))...)
			continue
		}
		j := joined{Block: b}
		if b.Table != nil {
			j.pages = slices.Repeat([]int{b.Page}, len(b.Table.Rows))
		}
		out = append(out, j)
	}
	return out
}

// text adds a slide with blocks of text.
func (c *composer) text(s section, blocks []extract.Block) {
	blocks = slices.DeleteFunc(slices.Clone(blocks), func(b extract.Block) bool { return strings.TrimSpace(b.Text) == "" })
	if len(blocks) == 0 {
		return
	}
	part := Part{Title: s.title, Blocks: blocks}
	n := len(c.bodies)
	if c.bodies = append(c.bodies, part); n < len(c.options.Pages) && len(c.options.Pages[n]) > 0 {
		c.written(s, part, c.options.Pages[n])
		return
	}
	t := &deck.Text{}
	for _, b := range blocks {
		t.Paragraphs = append(t.Paragraphs, paragraph(b))
	}
	enlarge(t)
	c.add(c.footed(deck.Slide{
		Layout: string(deck.ContentLayout), Title: s.title, Source: c.from(blocks[0].Page, nil),
		Elements: []deck.Element{
			c.title(s),
			{Kind: deck.TextElement, Role: deck.BodyRole, Index: 1, Text: t, Source: c.from(blocks[0].Page, blocks[0].Box)},
		},
	}))
}

// paragraph is a block of text. Items of lists keep their markers; a heading within the text is bold.
func paragraph(b extract.Block) deck.Paragraph {
	p := deck.Paragraph{Runs: runsOf(b.Text, b.Links), Page: b.Page}
	none := &deck.List{Kind: deck.NoList}
	switch b.Kind {
	case extract.ListItem:
		p.Level = min(max(b.Level, 0), 8)
		if n, ok := numberOf(b.Marker); ok {
			p.List = &deck.List{Kind: deck.NumberList, Scheme: "arabicPeriod", Start: n}
			if strings.HasSuffix(b.Marker, ")") {
				p.List.Scheme = "arabicParenR"
			}
		} else if b.Marker != "-" && b.Marker != "" {
			p.List = none
			p.Runs = append([]deck.Run{{Text: b.Marker + " "}}, p.Runs...)
		}
	case extract.Heading:
		p.List = none
		for i := range p.Runs {
			p.Runs[i].Bold, p.Runs[i].Color = new(true), "accent1"
		}
	case extract.Code:
		p.List = none
		for i := range p.Runs {
			p.Runs[i].Font, p.Runs[i].Size = "Courier New", 14
		}
	case extract.Caption, extract.Picture:
		p.List = none
		for i := range p.Runs {
			p.Runs[i].Italic = new(true)
		}
	case extract.Paragraph, extract.TableKind:
		p.List = none
	}
	return p
}

// enlarge makes a short text larger, and a long one that is read, and not glanced at, smaller.
func enlarge(t *deck.Text) {
	const short, long = 420, 900 // characters
	letters := utf8.RuneCountInString(t.Plain())
	size := func(level int) float64 {
		switch {
		case letters <= short && len(t.Paragraphs) <= 6:
			return []float64{24, 20}[min(level, 1)]
		case letters > long && level == 0:
			return 18
		}
		return 0 // as the layout says
	}
	for _, p := range t.Paragraphs {
		for i := range p.Runs {
			if p.Runs[i].Size == 0 {
				p.Runs[i].Size = size(p.Level)
			}
		}
	}
}

// numberOf is the number of a marker such as "2." or "2)".
func numberOf(marker string) (int, bool) {
	digits := strings.TrimRight(marker, ".)")
	if digits == "" || len(digits) > 4 || len(digits) == len(marker) {
		return 0, false
	}
	n := 0
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = 10*n + int(d-'0')
	}
	return n, n > 0
}

// runsOf cuts a text by its links. A line break stays one.
func runsOf(text string, links []extract.Link) []deck.Run {
	var runs []deck.Run
	at := 0
	for _, l := range links {
		if l.Start < at || l.End > len(text) || l.Start >= l.End {
			continue
		}
		if l.Start > at {
			runs = append(runs, deck.Run{Text: text[at:l.Start]})
		}
		target := extract.Target(l.Target)
		if strings.HasPrefix(target, "#") {
			target = "" // a place of the document that the deck does not have
		}
		runs = append(runs, deck.Run{Text: text[l.Start:l.End], Link: target})
		at = l.End
	}
	if at < len(text) {
		runs = append(runs, deck.Run{Text: text[at:]})
	}
	return runs
}
