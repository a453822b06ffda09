package pdf

import "slices"

// A box to tick is no cell, though its edges look like those of one. Within a cell of a table they would cut it.

const (
	leastBox  = 5.0 // points
	mostBox   = 16.0
	sameEdge  = 1.0 // between ends of a box's edges
	boxEdges  = 400 // of a page that are short; more are a drawing's
	squarish  = 0.25
	besideBox = 1.0 // points between boxes that are cells
)

// withoutBoxes returns the lines of a page without the edges of small squares that stand alone.
func withoutBoxes(rules []rule) []rule {
	boxes := tickBoxes(rules)
	if len(boxes) == 0 {
		return rules
	}
	return slices.DeleteFunc(slices.Clone(rules), func(r rule) bool {
		return slices.ContainsFunc(boxes, func(b box) bool { return b.holds(r.box) })
	})
}

// holds reports whether a line is an edge of a box, or within it.
func (b box) holds(r box) bool {
	return r.left > b.left-sameEdge && r.right < b.right+sameEdge && r.top > b.top-sameEdge && r.bottom < b.bottom+sameEdge
}

// meets reports whether a line reaches an edge of a box, or crosses the box.
func (b box) meets(r box) bool {
	return r.left < b.right+sameEdge && r.right > b.left-sameEdge && r.top < b.bottom+sameEdge && r.bottom > b.top-sameEdge
}

// tickBoxes returns the small squares that four lines make, and that touch nothing: a square cell touches the lines of its
// neighbors.
func tickBoxes(rules []rule) []box {
	var across, down []rule
	for _, r := range rules {
		switch length := max(r.width(), r.height()); {
		case length < leastBox || length > mostBox:
		case r.across():
			across = append(across, r)
		default:
			down = append(down, r)
		}
	}
	if len(across) > boxEdges || len(down) > boxEdges {
		return nil
	}
	var all []box
	for _, a := range across {
		if b, ok := a.boxBelow(across); ok && b.hasSides(down) {
			all = append(all, b)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(b box) bool {
		return slices.ContainsFunc(all, func(o box) bool { return o != b && !o.contains(b) && o.reaches(b) }) ||
			slices.ContainsFunc(rules, func(r rule) bool { return !b.holds(r.box) && b.meets(r.box) })
	})
}

// boxBelow returns the square that an edge and another one below it make.
func (r rule) boxBelow(across []rule) (box, bool) {
	for _, o := range across {
		high := o.centerY() - r.centerY()
		if abs(o.left-r.left) < sameEdge && abs(o.right-r.right) < sameEdge && high > 0 &&
			abs(high-r.width()) < squarish*r.width() {
			return box{r.left, r.centerY(), r.right, o.centerY()}, true
		}
	}
	return box{}, false
}

// hasSides reports whether lines are drawn along the sides of a box.
func (b box) hasSides(down []rule) bool {
	side := func(x float64) bool {
		return slices.ContainsFunc(down, func(d rule) bool {
			return abs(d.centerX()-x) < sameEdge && abs(d.top-b.top) < sameEdge && abs(d.bottom-b.bottom) < sameEdge
		})
	}
	return side(b.left) && side(b.right)
}

// reaches reports whether two boxes touch or nearly do.
func (b box) reaches(o box) bool {
	return b.left < o.right+besideBox && o.left < b.right+besideBox && b.top < o.bottom+besideBox && o.top < b.bottom+besideBox
}
