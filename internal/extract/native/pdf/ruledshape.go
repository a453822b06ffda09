package pdf

import (
	"slices"
	"strings"
	"unicode"
)

// Shapes of tables.
const (
	leastFilled = 0.4 // of the cells, unless the head is full
	headFilled  = 0.8 // of the cells of a full head
	leastCells  = 0.3 // of the places: forms and drawings have few cells for their many lines
	mostCrossed = 0.05
	maxCellRead = 45 // words per cell that has some: more is text in boxes
)

// plausible reports whether the cells are those of a table. goes on tells that it has the columns of the table
// before, so that a single row counts.
func (g *lattice) plausible(goesOn bool) bool {
	columns, rows := len(g.xs)-1, len(g.ys)-1
	if columns < 2 {
		return false
	}
	var filled, named, words, crossed int
	inColumns, inRows := map[int]bool{}, map[int]bool{}
	for _, c := range g.cells {
		if len(c.words) == 0 {
			continue
		}
		filled++
		named += one(slices.ContainsFunc(c.words, func(w word) bool { return hasName(w.text) }))
		words += len(c.words)
		inColumns[c.from], inRows[c.top] = true, true
		left, right := g.xs[c.from], g.xs[c.to+1]
		for _, w := range c.words {
			outside := max(left-w.left, 0) + max(w.right-right, 0)
			crossed += one(outside > 0.25*w.width() && outside > 2)
		}
		if !g.rectangular(c) {
			return false
		}
	}
	switch {
	case len(inColumns) < 2, len(inRows) < 2 && !goesOn:
		return false
	case float64(filled) < leastFilled*float64(len(g.cells)) && !g.fullHead(), named*2 < filled:
		return false
	case float64(len(g.cells)) < leastCells*float64(columns*rows) && columns*rows > 12:
		return false
	case float64(crossed) > max(1, mostCrossed*float64(words)):
		return false
	}
	return words <= maxCellRead*filled
}

// fullHead reports whether the cells of the first row have text. Then the table is one whose other cells are for the
// reader to fill in.
func (g *lattice) fullHead() bool {
	filled, all := 0, 0
	for _, c := range g.cells {
		if c.top == 0 {
			all++
			filled += one(len(c.words) > 0)
		}
	}
	return all > 1 && float64(filled) >= headFilled*float64(all)
}

// hasName reports whether a text has a letter or a digit: the marks of a drawing have none.
func hasName(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// rectangular reports whether all places of a cell are its own.
func (g *lattice) rectangular(c ruledCell) bool {
	columns := len(g.xs) - 1
	own := g.at[c.top*columns+c.from]
	for r := c.top; r <= c.bottom; r++ {
		for i := c.from; i <= c.to; i++ {
			if g.at[r*columns+i] != own {
				return false
			}
		}
	}
	return true
}
