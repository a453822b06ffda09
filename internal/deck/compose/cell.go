package compose

import (
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

func cellOf(cell extract.Cell, page int, size float64) deck.Cell {
	p := deck.Paragraph{Runs: runsOf(cell.Text, cell.Links), Page: page}
	for i := range p.Runs {
		p.Runs[i].Size = size
	}
	if numeric(cell.Text) {
		p.Align = deck.AlignRight
	}
	c := deck.Cell{Text: deck.Text{Paragraphs: []deck.Paragraph{p}, Anchor: deck.AnchorMiddle}}
	if cell.ColSpan > 1 {
		c.ColSpan = cell.ColSpan
	}
	if cell.RowSpan > 1 {
		c.RowSpan = cell.RowSpan
	}
	return c
}

// numeric reports whether a text is a number, maybe with a unit or a sign.
func numeric(text string) bool {
	digits, others := 0, 0
	for _, r := range text {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r == '.', r == ',', r == ' ', r == '-', r == '+', r == '%', r == '€', r == '$', r == '£', r == '−', r == '\u00a0':
		default:
			others++
		}
	}
	return digits > 0 && others == 0
}

// alignHeaders puts headers above the numbers of their columns, which are at the right.
func alignHeaders(t *deck.Table) {
	places, err := t.Grid()
	if err != nil { // square has seen to it
		return
	}
	numbers, words := make([]int, len(t.Columns)), make([]int, len(t.Columns))
	for _, p := range places {
		switch text := p.Text.Plain(); {
		case p.Row < t.Headers || p.ColSpan > 1 || strings.TrimSpace(text) == "":
		case numeric(text):
			numbers[p.Column]++
		default:
			words[p.Column]++
		}
	}
	for _, p := range places {
		if p.Row >= t.Headers || p.ColSpan > 1 || numbers[p.Column] == 0 || words[p.Column] > 0 {
			continue
		}
		for i := range p.Text.Paragraphs {
			p.Text.Paragraphs[i].Align = deck.AlignRight
		}
	}
}
