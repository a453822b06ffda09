package ocr

import (
	"image"
	"image/color"
	"image/draw"
	"math"
)

const (
	// mostBlur is how many pixels the edge of a rule is blurred at most.
	mostBlur = 4
	// unreadInk: a few letters have as much ink as a square with a side of this fraction of an inch.
	unreadInk = 10
)

// UnreadTables returns the part of an image that has ruled tables, without their rules, if a reading of the image
// leaves ink in them that no sure word covers.
func UnreadTables(img Image, p Page) (Image, bool) {
	g := findGrid(img)
	if len(g.tables) == 0 {
		return Image{}, false
	}
	area := g.tables[0]
	for _, t := range g.tables {
		area = area.Union(t)
	}
	area = area.Inset(-2 * g.step).Intersect(img.Rect)
	wiped := g.wiped(area)
	return wiped, g.unread(wiped.Gray, area.Min, p)
}

// wiped returns the tables in an area, without their rules, on paper of its brightness: an edge would be ink.
func (g *grid) wiped(area image.Rectangle) Image {
	out := image.NewGray(image.Rect(0, 0, area.Dx(), area.Dy()))
	draw.Draw(out, out.Rect, image.NewUniform(color.Gray{Y: g.paper}), image.Point{}, draw.Src)
	for _, t := range g.tables {
		draw.Draw(out, t.Sub(area.Min), g.img.Gray, t.Min, draw.Src)
	}
	w, h := float64(g.img.Rect.Dx()), float64(g.img.Rect.Dy())
	part := Box{float64(area.Min.X) / w, float64(area.Min.Y) / h, float64(area.Max.X) / w, float64(area.Max.Y) / h}
	left := &grid{img: Image{Gray: out, DPI: g.img.DPI, Part: part}, dark: g.dark}
	for _, r := range g.across {
		if !g.inTable(r, g.square(r.from/g.step, r.at/g.step), 1) {
			continue
		}
		for x := r.from; x < r.to; x++ {
			left.wipe(x-area.Min.X, r.at-area.Min.Y, 0, 1)
		}
	}
	// What is left of the crossings is now as thin as the rules down.
	for _, r := range g.down {
		if !g.inTable(r, g.square(r.at/g.step, r.from/g.step), g.columns) {
			continue
		}
		for y := r.from; y < r.to; y++ {
			left.wipe(r.at-area.Min.X, y-area.Min.Y, 1, 0)
		}
	}
	return left.img
}

// inTable reports whether a run is a rule of a table, given its first square and how far apart its squares are: it
// crosses others, or is longer than the strokes of letters beside it.
func (g *grid) inTable(r rule, first, apart int) bool {
	if g.squares[first]&isTable == 0 {
		return false
	}
	for i := range (r.to-1)/g.step - r.from/g.step + 1 {
		if g.corner(first + i*apart) {
			return true
		}
	}
	return r.to-r.from >= 2*g.img.DPI/ruleLength
}

// wipe gives thin ink at a pixel, with its blurred edges, the brightness of what is beside it in a direction.
func (g *grid) wipe(x, y, dx, dy int) {
	if !g.ink(x, y) {
		return
	}
	e := g.extent(x, y, dx, dy)
	if !e.thin {
		return
	}
	pix, at, step := g.img.Pix, y*g.img.Stride+x, dy*g.img.Stride+dx
	from, to := g.edge(at-e.before*step, -step), g.edge(at+e.after*step, step)
	paper := max(pix[from], pix[to])
	for i := from; i <= to; i += step {
		pix[i] = paper
	}
}

// edge returns the next pixel that is as bright as the one after it.
func (g *grid) edge(at, step int) int {
	for range mostBlur {
		next := at + step
		if next < 0 || next >= len(g.img.Pix) || g.img.Pix[next] <= g.img.Pix[at] {
			break
		}
		at = next
	}
	return at
}

// unread reports whether there are letters in the tables that no sure word covers. origin is the place of the wiped
// part on the image.
func (g *grid) unread(wiped *image.Gray, origin image.Point, p Page) bool {
	w, h := float64(g.img.Rect.Dx()), float64(g.img.Rect.Dy())
	covered := make([]bool, len(g.squares))
	for word := range p.words() {
		if !word.sure() {
			continue
		}
		for y := int(word.Box.Top*h) / g.step; y <= int(word.Box.Bottom*h)/g.step; y++ {
			for x := int(word.Box.Left*w) / g.step; x <= int(word.Box.Right*w)/g.step; x++ {
				covered[g.square(x, y)] = true
			}
		}
	}
	ink, most := 0, int(math.Pow(float64(g.img.DPI)/unreadInk, 2))
	for _, t := range g.tables {
		for y := t.Min.Y; y < t.Max.Y; y++ {
			row := wiped.Pix[(y-origin.Y)*wiped.Stride:]
			for x := t.Min.X; x < t.Max.X; x++ {
				if row[x-origin.X] < g.dark && !covered[g.square(x/g.step, y/g.step)] {
					ink++
				}
			}
		}
	}
	return ink > most
}
