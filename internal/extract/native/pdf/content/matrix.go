package content

import (
	"math"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
)

// matrix maps (x, y) to (ax + cy + e, bx + dy + f).
type matrix struct{ a, b, c, d, e, f float64 }

var identity = matrix{a: 1, d: 1}

// times returns the matrix that applies m first and then n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d,
		m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d,
		m.e*n.a + m.f*n.c + n.e, m.e*n.b + m.f*n.d + n.f,
	}
}

func (m matrix) apply(x, y float64) point { return point{m.a*x + m.c*y + m.e, m.b*x + m.d*y + m.f} }

// around returns the box around a rectangle.
func (m matrix) around(r [4]float64) Box {
	return around([]point{m.apply(r[0], r[1]), m.apply(r[2], r[1]), m.apply(r[2], r[3]), m.apply(r[0], r[3])})
}

// scale is by how much the matrix enlarges lengths, on average.
func (m matrix) scale() float64 { return math.Sqrt(math.Abs(m.a*m.d - m.b*m.c)) }

func toMatrix(numbers []float64) (matrix, bool) {
	if len(numbers) < 6 {
		return matrix{}, false
	}
	return matrix{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]}, true
}

// pageMatrix maps a page's own coordinates to points from the top left of the page as it is shown.
func pageMatrix(p *object.Page) (m matrix, width, height float64) {
	left, bottom, right, top := p.Box[0], p.Box[1], p.Box[2], p.Box[3]
	switch p.Rotate {
	case 90:
		return matrix{0, 1, 1, 0, -bottom, -left}, top - bottom, right - left
	case 180:
		return matrix{-1, 0, 0, 1, right, -bottom}, right - left, top - bottom
	case 270:
		return matrix{0, -1, -1, 0, top, right}, top - bottom, right - left
	}
	return matrix{1, 0, 0, -1, -left, top}, right - left, top - bottom
}

type point struct{ x, y float64 }

// Box is a rectangle in points from the page's top left.
type Box struct{ Left, Top, Right, Bottom float64 }

func (b Box) intersect(o Box) Box {
	return Box{max(b.Left, o.Left), max(b.Top, o.Top), min(b.Right, o.Right), min(b.Bottom, o.Bottom)}
}

func (b Box) empty() bool { return b.Right < b.Left || b.Bottom < b.Top }

func (b Box) width() float64  { return b.Right - b.Left }
func (b Box) height() float64 { return b.Bottom - b.Top }

// around returns the box around points.
func around(points []point) Box {
	b := Box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for _, p := range points {
		b = Box{min(b.Left, p.x), min(b.Top, p.y), max(b.Right, p.x), max(b.Bottom, p.y)}
	}
	return b
}
