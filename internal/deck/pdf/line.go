package pdf

import "github.com/seed-7227ef26/async-worker/internal/deck"

// stackedLines reports whether lines are drawn on top of each other. Those over stacked bars or areas are not.
func (g *graph) stackedLines() bool { return g.stacked() && g.chart.Kind == deck.LineChart }

// lines draws the line of one series. sums are those of the lines below it so far.
func (g *graph) lines(s deck.Series, color string, count int, sums []float64) {
	g.stroke(color, "accent1")
	g.fill(color, "accent1")
	g.pdf.SetLineWidth(2)
	var lastX, lastY float64
	joined := false
	for i := range count {
		v, ok := g.of(s, i)
		if !ok {
			joined = false
			continue
		}
		at := v
		if g.stackedLines() {
			sums[i] += v
			at = sums[i]
		}
		x, y := g.along(i, count), g.up(at)
		if joined {
			g.pdf.Line(lastX, lastY, x, y)
		}
		g.pdf.Circle(x, y, 2.5, "F")
		if g.chart.DataLabels {
			g.label(g.value(v), x, y-5, labelSize, false, 0.5)
			g.fill(color, "accent1")
		}
		lastX, lastY, joined = x, y, true
	}
}

func (g *graph) area(s deck.Series, color string, count int, above []float64) {
	g.fill(color, "accent1")
	tops := make([]float64, count)
	for i := range count {
		v, _ := g.of(s, i)
		tops[i] = v
		if g.stacked() {
			tops[i] += above[i]
		}
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
		base := 0.0
		if g.stacked() {
			base = above[i]
			above[i] = tops[i]
		}
		g.pdf.LineTo(g.along(i, count), g.up(base))
	}
	g.pdf.ClosePath()
	g.pdf.DrawPath("F")
}
