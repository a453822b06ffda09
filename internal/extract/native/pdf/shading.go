package pdf

import (
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/content"
)

// Word fills the lines of a shaded paragraph one by one, also in a cell of a table with drawn lines. The edges of such
// areas look like borders of rows within the cell.

// shadingsBefore is how many areas may be painted between a cell and the text in it.
const shadingsBefore = 100

// shadesShaded reports whether an area is of the colour of one that was painted before, and within that at the distance of a
// cell's text from its borders: its edges can't be seen.
func shadesShaded(f content.Fill, before []content.Fill) bool {
	const least, most = 0.5, 12 // points from the left and the right border
	return slices.ContainsFunc(before, func(o content.Fill) bool {
		left, right := f.Left-o.Left, o.Right-f.Right
		return f.Colour == o.Colour && min(left, right) > least && max(left, right) < most &&
			f.Top > o.Top-least && f.Bottom < o.Bottom+least
	})
}

// withoutShading returns the areas that may be cells or rows: all but those that shade text within a drawn cell.
func withoutShading(fills []box, drawn []frame) []box {
	const (
		most  = 200 // frames
		pairs = 2_000_000
	)
	out, left := fills, pairs
	for _, f := range drawn[:min(len(drawn), most)] {
		if left -= len(out) * len(out); left < 0 {
			return out
		}
		if g := newLattice(f); g != nil && len(g.xs) > 2 && len(g.ys) > 2 {
			all := out
			out = slices.DeleteFunc(slices.Clone(out), func(b box) bool { return g.shades(b, all) })
		}
	}
	return out
}

// shades reports whether an area shades text within one cell: it ends within the cell, and neither an area nor a row ends at the
// same height in another column.
func (g *lattice) shades(b box, all []box) bool {
	columns := len(g.xs) - 1
	if !g.around().has(b.centerX(), b.centerY()) {
		return false
	}
	r, c := interval(g.ys, b.centerY()), interval(g.xs, b.centerX())
	cell := g.cells[g.at[r*columns+c]]
	if !g.rectangular(cell) || cell.from == 0 && cell.to == columns-1 {
		return false
	}
	in := g.boxOf(cell)
	if b.left < in.left-ruleTouch || b.right > in.right+ruleTouch || b.top < in.top-ruleTouch || b.bottom > in.bottom+ruleTouch {
		return false
	}
	ends := slices.DeleteFunc([]float64{b.top, b.bottom}, func(y float64) bool { return y < in.top+leastRow || y > in.bottom-leastRow })
	if len(ends) == 0 || slices.ContainsFunc(ends, g.endsRow) {
		return false
	}
	return !slices.ContainsFunc(all, func(o box) bool {
		beside := o.right < in.left+leastColumn && o.right > g.left || o.left > in.right-leastColumn && o.left < g.right
		return beside && slices.ContainsFunc(ends, func(y float64) bool {
			return abs(o.top-y) < sameRuling || abs(o.bottom-y) < sameRuling
		})
	})
}

// endsRow reports whether a line across is drawn at a height, in whichever column.
func (g *lattice) endsRow(y float64) bool {
	return slices.ContainsFunc(g.ys, func(at float64) bool { return abs(at-y) < sameRuling })
}

// boxOf returns the box of a cell.
func (g *lattice) boxOf(c ruledCell) box {
	return box{g.xs[c.from], g.ys[c.top], g.xs[c.to+1], g.ys[c.bottom+1]}
}
