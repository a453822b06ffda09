package pdf

import "github.com/seed-7227ef26/async-worker/internal/deck"

// line draws the line of one series.
func (g *graph) line(s *deck.Series, color string, count int, sums *sums) {
	g.stroke(color, "accent1")
	g.fill(color, "accent1")
	g.pdf.SetLineWidth(2)
	var part []point
	for i := range count {
		v, ok := g.of(s, i)
		if !ok {
			g.curve(part, s.Smooth)
			part = nil
			continue
		}
		_, to := sums.add(i, v)
		at := point{g.along(i, count), g.up(to)}
		part = append(part, at)
		if !s.NoMarkers {
			g.pdf.Circle(at.x, at.y, 2.5, "F")
		}
		if g.chart.DataLabels {
			g.label(g.valueOf(s, i), at.x, at.y-5, labelSize, false, 0.5)
			g.fill(color, "accent1")
		}
	}
	g.curve(part, s.Smooth)
}

// point is a place on the page.
type point struct{ x, y float64 }

// curve joins points by lines, or by a curve through them (Catmull and Rom's, which is straight beyond the ends).
func (g *graph) curve(points []point, smooth bool) {
	if len(points) < 2 {
		return
	}
	g.pdf.MoveTo(points[0].x, points[0].y)
	for i := 1; i < len(points); i++ {
		from, to := points[i-1], points[i]
		if !smooth {
			g.pdf.LineTo(to.x, to.y)
			continue
		}
		before, after := points[max(i-2, 0)], points[min(i+1, len(points)-1)]
		g.pdf.CurveBezierCubicTo(from.x+(to.x-before.x)/6, from.y+(to.y-before.y)/6, to.x-(after.x-from.x)/6, to.y-(after.y-from.y)/6, to.x, to.y)
	}
	g.pdf.DrawPath("D")
}

func (g *graph) area(s *deck.Series, color string, count int, sums *sums) {
	g.fill(color, "accent1")
	bases, tops := make([]float64, count), make([]float64, count)
	for i := range count {
		v, _ := g.of(s, i)
		bases[i], tops[i] = sums.add(i, v)
	}
	g.pdf.SetAlpha(0.8, "Normal")
	defer g.pdf.SetAlpha(1, "Normal")
	for i := range count {
		x, y := g.along(i, count), g.up(tops[i])
		if i == 0 {
			g.pdf.MoveTo(x, y)
		} else {
			g.pdf.LineTo(x, y)
		}
	}
	for i := count - 1; i >= 0; i-- {
		g.pdf.LineTo(g.along(i, count), g.up(bases[i]))
	}
	g.pdf.ClosePath()
	g.pdf.DrawPath("F")
}
