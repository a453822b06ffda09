package ocr

import "image"

// Engines take the cells of a ruled table for a picture, or lose columns of it, because of its rules. So the rules that
// cross are found, and a table that was not read completely is read once more without them.

const (
	// Fractions of an inch. A rule is longer than most strokes of letters, and thinner than text.
	ruleLength    = 5
	ruleThickness = 30
	ruleGap       = 100 // in a rule that is printed badly
	ruleSquare    = 25  // the squares in which rules are joined
	tableWidth    = 2   // at least
	tableHeight   = 8
	// tableCorners is the least number of squares with a crossing in a table.
	tableCorners = 4
	// mostRules bounds the memory; more are a pattern.
	mostRules = 100_000
)

// inkLevels are the brightness of ink at most, as parts of the paper's: rules in gray cells are found with the lower one,
// thin or pale rules with the other.
var inkLevels = [...]float64{0.6, 0.75}

// rule is a run of ink in a row or column of pixels, as long and thin as that of a ruled line.
type rule struct{ at, from, to int }

// grid is the rules of an image, and the tables that they make where they cross.
type grid struct {
	img          Image
	paper, dark  uint8 // brightness; a darker pixel is ink
	across, down []rule
	step         int     // side of the squares, in pixels
	columns      int     // of squares
	squares      []uint8 // which rules are in them
	ruled        int     // how many have rules of tables
	tables       []image.Rectangle
}

const (
	isAcross = 1 << iota
	isDown
	isJoined // with the squares beside it
	isTable
)

// findGrid returns the grid of an image, with more rules than for another level of ink.
func findGrid(img Image) *grid {
	best, paper := &grid{}, paper(img.Gray)
	for _, level := range inkLevels {
		if g := newGrid(img, paper, uint8(float64(paper)*level)); g.ruled > best.ruled {
			best = g
		}
	}
	return best
}

func newGrid(img Image, paper, dark uint8) *grid {
	g := &grid{img: img, step: max(4, img.DPI/ruleSquare), paper: paper, dark: dark}
	g.find()
	if len(g.across) < 2 || len(g.down) < 2 || len(g.across)+len(g.down) >= mostRules {
		return g
	}
	g.columns = img.Rect.Dx()/g.step + 1
	g.squares = make([]uint8, g.columns*(img.Rect.Dy()/g.step+1))
	for _, r := range g.across {
		for x := r.from / g.step; x <= (r.to-1)/g.step; x++ {
			g.squares[g.square(x, r.at/g.step)] |= isAcross
		}
	}
	for _, r := range g.down {
		for y := r.from / g.step; y <= (r.to-1)/g.step; y++ {
			g.squares[g.square(r.at/g.step, y)] |= isDown
		}
	}
	for at, is := range g.squares {
		if is&(isAcross|isDown) != 0 && g.squares[at]&isJoined == 0 {
			g.join(at)
		}
	}
	return g
}

func (g *grid) square(x, y int) int { return y*g.columns + x }

// paper returns the most frequent brightness of the brighter half.
func paper(img *image.Gray) uint8 {
	var levels [256]int
	for y := range img.Rect.Dy() {
		for _, v := range img.Pix[y*img.Stride:][:img.Rect.Dx()] {
			levels[v]++
		}
	}
	paper := 255
	for v := 128; v < 256; v++ {
		if levels[v] > levels[paper] {
			paper = v
		}
	}
	return uint8(paper)
}

// find finds the rules, row by row.
func (g *grid) find() {
	w, h := g.img.Rect.Dx(), g.img.Rect.Dy()
	gap := g.img.DPI / ruleGap
	columns := make([]rule, w)
	for x := range columns {
		columns[x] = rule{x, 0, -1 - gap}
	}
	for y := range h {
		row := rule{y, 0, -1 - gap}
		for x, v := range g.img.Pix[y*g.img.Stride:][:w] {
			if v >= g.dark {
				continue
			}
			if x > row.to+gap {
				g.addAcross(row)
				row.from = x
			}
			row.to = x + 1
			column := &columns[x]
			if y > column.to+gap {
				g.addDown(*column)
				column.from = y
			}
			column.to = y + 1
		}
		g.addAcross(row)
	}
	for _, column := range columns {
		g.addDown(column)
	}
}

func (g *grid) addAcross(r rule) {
	if g.long(r) && r.thin(func(x int) bool { return g.extent(x, r.at, 0, 1).thin }) {
		g.across = append(g.across, r)
	}
}

func (g *grid) addDown(r rule) {
	if g.long(r) && r.thin(func(y int) bool { return g.extent(r.at, y, 1, 0).thin }) {
		g.down = append(g.down, r)
	}
}

func (g *grid) long(r rule) bool {
	return r.to-r.from >= g.img.DPI/ruleLength && len(g.across)+len(g.down) < mostRules
}

// thin reports whether a run is thin in more than half of some places: letters and other rules touch it.
func (r rule) thin(at func(i int) bool) bool {
	const places = 24
	n := 0
	for i := range places {
		if at(r.from + (r.to-r.from-1)*i/(places-1)) {
			n++
		}
	}
	return 2*n > places
}

// extent is how far ink extends before and after a pixel.
type extent struct {
	before, after int
	thin          bool // as a rule
}

// extent returns the extent of the ink at a pixel in a direction.
func (g *grid) extent(x, y, dx, dy int) extent {
	most := max(3, g.img.DPI/ruleThickness)
	var e extent
	for e.before+e.after < most && g.ink(x-(e.before+1)*dx, y-(e.before+1)*dy) {
		e.before++
	}
	for e.before+e.after < most && g.ink(x+(e.after+1)*dx, y+(e.after+1)*dy) {
		e.after++
	}
	e.thin = e.before+e.after < most
	return e
}

func (g *grid) ink(x, y int) bool {
	return x >= 0 && y >= 0 && x < g.img.Rect.Dx() && y < g.img.Rect.Dy() && g.img.Pix[y*g.img.Stride+x] < g.dark
}

// join joins the square at start with those that it is connected to: a table, if their rules cross.
func (g *grid) join(start int) {
	var bounds image.Rectangle
	corners := 0
	g.squares[start] |= isJoined
	joined := []int{start}
	for i := 0; i < len(joined); i++ {
		x, y := joined[i]%g.columns, joined[i]/g.columns
		bounds = bounds.Union(image.Rect(x, y, x+1, y+1))
		if g.corner(joined[i]) {
			corners++
		}
		for ny := max(y-1, 0); ny <= y+1; ny++ {
			for nx := max(x-1, 0); nx <= min(x+1, g.columns-1); nx++ {
				n := g.square(nx, ny)
				if n < len(g.squares) && g.squares[n] != 0 && g.squares[n]&isJoined == 0 {
					g.squares[n] |= isJoined
					joined = append(joined, n)
				}
			}
		}
	}
	if corners < tableCorners || bounds.Dx()*g.step < g.img.DPI/tableWidth || bounds.Dy()*g.step < g.img.DPI/tableHeight {
		return
	}
	g.ruled += len(joined)
	for _, at := range joined {
		g.squares[at] |= isTable
	}
	table := image.Rect(bounds.Min.X*g.step, bounds.Min.Y*g.step, bounds.Max.X*g.step, bounds.Max.Y*g.step)
	g.tables = append(g.tables, table.Intersect(g.img.Rect))
}

// corner reports whether rules cross in a square.
func (g *grid) corner(square int) bool { return g.squares[square]&(isAcross|isDown) == isAcross|isDown }
