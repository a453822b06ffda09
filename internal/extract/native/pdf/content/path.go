package content

import (
	"math"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
)

// subpath is connected corners, already on the page.
type subpath struct {
	corners []point
	closed  bool
	curved  bool
}

// thin is the thickness of lines, in points: a filled rectangle that is thinner is a line.
const thin = 3.0

// begin begins a subpath with its first corners, in the memory of an earlier one unless that is much.
func (in *interpreter) begin(closed bool, corners ...point) {
	const much = 64 // corners
	var earlier []point
	if n := len(in.path); n < cap(in.path) {
		if earlier = in.path[:n+1][n].corners; cap(earlier) > much {
			earlier = nil
		}
	}
	in.path = append(in.path, subpath{corners: append(earlier[:0], corners...), closed: closed})
}

// build adds to the path (8.5.2). Of a curve only its end counts.
func (in *interpreter) build(op object.Operator) {
	v := in.args()
	in.corners++
	if in.corners > maxPath {
		return
	}
	at := func(i int) point { return in.state.matrix.apply(v[i], v[i+1]) }
	last := len(in.path) - 1
	switch {
	case op == "m" && len(v) >= 2:
		in.begin(false, at(0))
	case op == "re" && len(v) >= 4:
		x, y, w, h := v[0], v[1], v[2], v[3]
		m := in.state.matrix
		in.corners += 3
		in.begin(true, m.apply(x, y), m.apply(x+w, y), m.apply(x+w, y+h), m.apply(x, y+h))
	case last < 0:
	case op == "h":
		in.path[last].closed = true
	case op == "l" && len(v) >= 2, (op == "v" || op == "y") && len(v) >= 4, op == "c" && len(v) >= 6:
		s := &in.path[last]
		if s.closed { // it goes on from its start
			in.begin(false, s.corners[0])
			s = &in.path[last+1]
		}
		if op != "l" {
			s.curved = true
			s.corners = append(s.corners, point{math.NaN(), 0}) // no line to the end
		}
		s.corners = append(s.corners, at(len(v)/2*2-2))
	}
}

// paint ends the path: it is stroked, filled, or becomes the clip (8.5.3).
func (in *interpreter) paint(op object.Operator) {
	if in.corners <= maxPath {
		if op == "s" || op == "b" || op == "b*" {
			if n := len(in.path); n > 0 {
				in.path[n-1].closed = true
			}
		}
		in.dots(op)
		in.marks(op)
		switch op {
		case "S", "s", "B", "B*", "b", "b*":
			in.strokePath()
		}
		switch op {
		case "f", "F", "f*", "B", "B*", "b", "b*":
			in.fillPath()
		}
		if in.clips {
			all := Box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
			for _, s := range in.path {
				b := s.box()
				all = Box{min(all.Left, b.Left), min(all.Top, b.Top), max(all.Right, b.Right), max(all.Bottom, b.Bottom)}
			}
			in.state.clip = in.state.clip.intersect(all)
		}
	}
	in.path, in.corners, in.clips = in.path[:0], 0, false
}

// dots adds the round shapes that are as small as a bullet, filled or stroked.
func (in *interpreter) dots(op object.Operator) {
	const least, most = 1.2, 12.0 // points
	stroked := op != "f" && op != "F" && op != "f*"
	if op == "n" || stroked && in.state.stroke.hidden || !stroked && (in.state.fill.hidden || in.state.fill.white) {
		return
	}
	for _, s := range in.path {
		b := s.box()
		if w, h := b.width(), b.height(); s.curved && finite(b) && min(w, h) >= least && max(w, h) <= most &&
			math.Abs(w-h) < 0.2*max(w, h) && !b.intersect(in.state.clip).empty() && len(in.out.Dots) < maxLines {
			in.out.Dots = append(in.out.Dots, b)
		}
	}
}

func (s subpath) box() Box {
	b := Box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for _, p := range s.corners {
		if !math.IsNaN(p.x) {
			b = Box{min(b.Left, p.x), min(b.Top, p.y), max(b.Right, p.x), max(b.Bottom, p.y)}
		}
	}
	return b
}

func (in *interpreter) strokePath() {
	if in.state.stroke.hidden {
		return
	}
	thick := in.state.lineWidth * in.state.matrix.scale()
	for _, s := range in.path {
		for i := 1; i < len(s.corners); i++ {
			in.edge(s.corners[i-1], s.corners[i], thick)
		}
		if n := len(s.corners); s.closed && n > 2 {
			in.edge(s.corners[n-1], s.corners[0], thick)
		}
	}
}

// edge adds a stroked line if it runs across or down the page.
func (in *interpreter) edge(a, b point, thick float64) {
	box := Box{min(a.x, b.x), min(a.y, b.y), max(a.x, b.x), max(a.y, b.y)}
	const slant = 0.6 // points
	switch {
	case math.IsNaN(a.x) || math.IsNaN(b.x):
	case box.height() <= slant && box.width() > box.height():
		y := (box.Top + box.Bottom) / 2
		in.line(Box{box.Left, y, box.Right, y}, thick, in.state.stroke.white)
	case box.width() <= slant && box.height() > box.width():
		x := (box.Left + box.Right) / 2
		in.line(Box{x, box.Top, x, box.Bottom}, thick, in.state.stroke.white)
	}
}

func (in *interpreter) line(b Box, thick float64, white bool) {
	b = b.intersect(in.state.clip)
	// A line thicker than its length is a mark.
	if b.empty() || !finite(b) || max(b.width(), b.height()) < max(thick, 0.5) || len(in.out.Lines) >= maxLines {
		return
	}
	in.out.Lines = append(in.out.Lines, Line{b, thick, white})
}

// fillPath adds the filled rectangles.
func (in *interpreter) fillPath() {
	if in.state.fill.hidden {
		return
	}
	white := in.state.fill.white
	for _, s := range in.path {
		b := s.box()
		if !finite(b) || s.curved && min(b.width(), b.height()) > thin || !s.upright(b) {
			continue
		}
		switch w, h := b.width(), b.height(); {
		case h <= thin && h < w:
			y := (b.Top + b.Bottom) / 2
			in.line(Box{b.Left, y, b.Right, y}, h, white)
		case w <= thin && w < h:
			x := (b.Left + b.Right) / 2
			in.line(Box{x, b.Top, x, b.Bottom}, w, white)
		default:
			if b = b.intersect(in.state.clip); !b.empty() && len(in.out.Fills) < maxLines {
				in.out.Fills = append(in.out.Fills, Fill{b, white, in.state.fill.colour})
			}
		}
	}
}

// upright reports whether all corners are at the edges of the box around them: a rectangle, or a thin shape such as
// the mitred side of a frame.
func (s subpath) upright(b Box) bool {
	const most, near = 12, 0.5
	if len(s.corners) < 3 || len(s.corners) > most {
		return false
	}
	if min(b.width(), b.height()) <= thin {
		return true
	}
	for _, p := range s.corners {
		if min(p.x-b.Left, b.Right-p.x) > near || min(p.y-b.Top, b.Bottom-p.y) > near {
			return false
		}
	}
	return true
}
