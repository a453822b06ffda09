package structure

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// links: links in paragraphs, in lists and in the cells of tables.
func links(w *writer) {
	for range 2 {
		w.heading(2, w.title())
		for range 3 {
			w.linked(extract.Block{Kind: extract.Paragraph, Text: w.sentence()})
		}
		for range 3 {
			w.linked(extract.Block{Kind: extract.ListItem, Marker: "-", Text: w.pick(w.words.items)})
		}
		w.paragraphs(1)
		w.table(4, 3, false)
		t := w.Parts[len(w.Parts)-1].Table
		for _, row := range t.Rows[1:] {
			row[0].Links = []extract.Link{{Start: 0, End: len(row[0].Text), Target: w.address()}}
		}
		w.paragraphs(1)
	}
}

// linked adds a block of which a word or more are a link.
func (w *writer) linked(b extract.Block) {
	words := strings.Fields(b.Text)
	first := w.rand.IntN(len(words))
	text := words[first]
	if len(words) > first+1 {
		text += " " + words[first+1]
	}
	if at := strings.Index(b.Text, text); at >= 0 {
		b.Links = []extract.Link{{Start: at, End: at + len(text), Target: w.address()}}
	}
	w.add(Part{Block: b})
}

func (w *writer) address() string {
	return fmt.Sprintf("https://example.com/%s?page=%d&view=full#part-%d", w.Language, w.rand.IntN(1000), w.rand.IntN(9))
}

// The marks of a link within a text, which writers replace: they are for private use, so no text has them.
const opens, ends, closes = "\uE000", "\uE001", "\uE002"

// marked returns a document with marks around its links.
func marked(d *Document) *Document {
	made := *d
	made.Parts = slices.Clone(d.Parts)
	for i := range made.Parts {
		p := &made.Parts[i]
		p.Text = markLinks(p.Text, p.Links)
		if p.Table == nil {
			continue
		}
		table := *p.Table
		table.Rows = slices.Clone(table.Rows)
		for r, row := range table.Rows {
			table.Rows[r] = slices.Clone(row)
			for c := range row {
				table.Rows[r][c].Text = markLinks(row[c].Text, row[c].Links)
			}
		}
		p.Table = &table
	}
	return &made
}

func markLinks(text string, links []extract.Link) string {
	for _, l := range slices.Backward(links) {
		text = text[:l.Start] + opens + l.Target + ends + text[l.Start:l.End] + closes + text[l.End:]
	}
	return text
}

var linkMarks = regexp.MustCompile(opens + "(.*?)" + ends + "(.*?)" + closes)

// wordLinks makes fields of the links of a document for Word.
func wordLinks(body string) string {
	return linkMarks.ReplaceAllStringFunc(body, func(link string) string {
		m := linkMarks.FindStringSubmatch(link)
		return `</w:t></w:r><w:fldSimple w:instr=" HYPERLINK &quot;` + m[1] + `&quot; "><w:r><w:t>` + m[2] +
			`</w:t></w:r></w:fldSimple><w:r><w:t xml:space="preserve">`
	})
}

// htmlLinks makes elements of the links of a page.
func htmlLinks(page string) string {
	return linkMarks.ReplaceAllStringFunc(page, func(link string) string {
		m := linkMarks.FindStringSubmatch(link)
		return `<a href="` + html.EscapeString(html.UnescapeString(m[1])) + `">` + m[2] + `</a>`
	})
}
