package pdf

import (
	"cmp"
	"slices"
)

// cutsBetween returns the positions between columns, which almost no cell covers.
func cutsBetween(cells []cell, wide int) []float64 {
	type edge struct {
		x     float64
		delta int
	}
	edges := make([]edge, 0, 2*len(cells))
	for _, c := range cells {
		edges = append(edges, edge{c.left, +1}, edge{c.right, -1})
	}
	slices.SortStableFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(b.delta, a.delta))
	})
	allowed := wide / 8
	var cuts []float64
	depth, open := 0, -1.0
	seen := false // a column was seen since the last cut
	var free gap
	for _, e := range edges {
		if open >= 0 {
			free.add(e.x, depth)
		}
		depth += e.delta
		switch {
		case depth > allowed:
			if open >= 0 && seen && e.x-open > leastGap {
				cuts = append(cuts, free.middle(open, e.x))
			}
			open, seen = -1, true
		case open < 0:
			open, free = e.x, gap{end: e.x}
		}
	}
	return cuts
}

// gap is the space between two columns, of which a long head may cover a part.
type gap struct {
	end      float64
	from, to float64 // the part that the fewest cells cover
	covered  int     // by how many
}

// add adds the part of the gap to x, which so many cells cover.
func (g *gap) add(x float64, covered int) {
	switch from := g.end; {
	case x-from <= leastGap:
	case g.to == 0, covered < g.covered, covered == g.covered && x-from > g.to-g.from:
		g.from, g.to, g.covered = from, x, covered
	}
	g.end = x
}

// middle returns where to cut the gap between two columns.
func (g *gap) middle(from, to float64) float64 {
	if g.to > 0 {
		from, to = g.from, g.to
	}
	return (from + to) / 2
}

// place assigns columns to each cell. A cell over several columns is split where a cut falls into a gap between
// its words that is wider than a space.
func place(cells []cell, cuts []float64) []cell {
	out := make([]cell, 0, len(cells))
	for _, c := range cells {
		start := 0
		for i := 1; i <= len(c.words); i++ {
			if i < len(c.words) && (signsAmount(c.words, i-1) || !cutIn(cuts, c.words[i-1], c.words[i])) {
				continue
			}
			part := cell{words: c.words[start:i], lineAt: c.lineAt, order: c.words[start].order}
			part.box = boxOf(part.words)
			for _, w := range part.words {
				part.order = min(part.order, w.order)
			}
			part.from = columnAt(cuts, part.left+0.2*part.words[0].em())
			part.to = max(part.from, columnAt(cuts, part.right-0.2*part.words[0].em()))
			out = append(out, part)
			start = i
		}
	}
	return out
}

func cutIn(cuts []float64, a, b word) bool {
	if b.left-a.right < 0.45*b.em() {
		return false
	}
	return slices.ContainsFunc(cuts, func(x float64) bool { return x > a.right && x < b.left })
}

func columnAt(cuts []float64, x float64) int {
	n := 0
	for n < len(cuts) && cuts[n] < x {
		n++
	}
	return n
}

// columnCenters returns the center of the text in each column. It is zero if there is none but in cells over several.
func columnCenters(cells []cell, columns int) []float64 {
	boxes, out := make([]box, columns), make([]float64, columns)
	for _, c := range cells {
		if c.from == c.to {
			boxes[c.from] = boxes[c.from].union(c.box)
			out[c.from] = boxes[c.from].centerX()
		}
	}
	return out
}
