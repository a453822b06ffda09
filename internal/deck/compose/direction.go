package compose

import (
	"strings"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// direct marks the paragraphs that are written from right to left, and the tables most of whose cells are: their first
// column is at the right.
func direct(d *deck.Deck) {
	for i := range d.Slides {
		for k := range d.Slides[i].Elements {
			e := &d.Slides[i].Elements[k]
			if e.Text != nil {
				directText(e.Text)
			}
			if e.Table != nil {
				directTable(e.Table)
			}
		}
	}
}

// directText marks paragraphs, and returns how many it has marked.
func directText(t *deck.Text) (marked int) {
	for i := range t.Paragraphs {
		if p := &t.Paragraphs[i]; deck.RightToLeft(p.Plain()) {
			p.RTL = new(true)
			marked++
		}
	}
	return marked
}

func directTable(t *deck.Table) {
	marked, others := 0, 0
	for _, row := range t.Rows {
		for i := range row.Cells {
			text := &row.Cells[i].Text
			if directText(text) > 0 {
				marked++
			} else if strings.ContainsFunc(text.Plain(), unicode.IsLetter) {
				others++
			}
		}
	}
	t.RTL = marked > others
}
