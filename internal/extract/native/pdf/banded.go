package pdf

import (
	"math"
	"slices"
)

// banded reports whether columns of text go on where no lines separate them: the table's areas in a colour are every
// other row, and have the columns that all rows have.
func (g *lattice) banded() bool {
	const (
		least = 2   // rows
		part  = 0.2 // of all rows
	)
	rows := map[int]bool{}
	for _, c := range g.cells {
		if g.hasGap(c) {
			rows[c.top] = true
		}
	}
	return len(rows) >= least && float64(len(rows)) >= part*float64(len(g.ys)-1)
}

// goesOn reports whether another frame is beside this one: gaps between areas part the columns of one table. Its text
// shows it then.
func (f frame) goesOn(all []frame) bool {
	const near = 12 // points
	return slices.ContainsFunc(all, func(o frame) bool {
		return min(f.bottom, o.bottom)-max(f.top, o.top) > 0.8*min(f.height(), o.height()) &&
			(abs(o.left-f.right) < near || abs(f.left-o.right) < near)
	})
}

// unparted reports whether rows have amounts in one cell: the edges of areas don't part the columns. The text shows them then.
func (g *lattice) unparted(p *page) bool {
	const least, amounts = 3, 2 // rows, and of a row
	rows := map[int]bool{}
	for _, c := range g.cells {
		if !g.looks.spend(len(c.words)) {
			return false
		}
		if lines := cellLines(p, c.words); c.top == c.bottom && len(lines) == 1 && amountsIn(cellsOf(lines[0])) >= amounts {
			rows[c.top] = true
		}
	}
	return len(rows) >= least && len(rows)*2 >= len(g.ys)-1
}

// split gives the cells of a banded table with text in several columns the columns of the other rows.
func (g *lattice) split() {
	columns := len(g.xs) - 1
	for i := range g.cells {
		c := g.cells[i]
		if !g.hasGap(c) {
			continue
		}
		for k := c.to; k > c.from && g.looks.spend(len(c.words)); k-- {
			left, right := sidesOf(c.words, g.xs[k])
			if len(left) > 0 && len(right) > 0 && !apart(c.words, g.xs[k]) {
				continue
			}
			for at := k; at <= c.to; at++ {
				g.at[c.top*columns+at] = len(g.cells)
			}
			g.cells = append(g.cells, ruledCell{from: k, to: c.to, top: c.top, bottom: c.bottom, words: right})
			c.to, c.words = k-1, left
		}
		g.cells[i] = c
	}
}

// hasGap reports whether a cell of one row has text in several of the other rows' columns.
func (g *lattice) hasGap(c ruledCell) bool {
	return c.top == c.bottom && slices.ContainsFunc(g.xs[c.from+1:c.to+1], func(x float64) bool {
		return g.looks.spend(len(c.words)) && apart(c.words, x)
	})
}

// apart reports whether words are on both sides of x with a gap that is wider than one within text.
func apart(words []word, x float64) bool {
	const gap = 1.5 // font sizes
	end, start, em := math.Inf(-1), math.Inf(1), 0.0
	for i := range words {
		switch w := &words[i]; {
		case w.centerX() >= x:
			start = min(start, w.left)
		case em == 0:
			end, em = w.right, w.em()
		default:
			end = max(end, w.right)
		}
	}
	return em > 0 && !math.IsInf(start, 1) && start-end > gap*em
}

// sidesOf returns the words on either side of x.
func sidesOf(words []word, x float64) (before, after []word) {
	for _, w := range words {
		if w.centerX() < x {
			before = append(before, w)
		} else {
			after = append(after, w)
		}
	}
	return before, after
}
