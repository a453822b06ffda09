package pdf

import (
	"math"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// ring draws a pie or a doughnut of the first series.
func (g *graph) ring() {
	s := g.chart.Series[0]
	total := 0.0
	for _, v := range s.Values {
		if v != nil && *v > 0 {
			total += *v
		}
	}
	if total == 0 {
		return
	}
	radius := min(g.at.w, g.at.h)/2 - 8
	x, y := g.at.x+g.at.w/2, g.at.y+g.at.h/2
	begin := -math.Pi / 2
	for i, v := range s.Values {
		if v == nil || *v <= 0 {
			continue
		}
		end := begin + *v/total*2*math.Pi
		g.fill(g.color(i, ""), "accent1")
		g.slice(x, y, radius, begin, end)
		if g.chart.DataLabels {
			middle := (begin + end) / 2
			g.label(g.valueOf(&s, i), x+radius*0.7*math.Cos(middle), y+radius*0.7*math.Sin(middle)+4, labelSize, true, 0.5)
		}
		begin = end
	}
	if g.chart.Kind == deck.DoughnutChart {
		g.fill("light1", "light1")
		g.pdf.Circle(x, y, radius*0.6, "F")
	}
}

// slice draws a part of a circle, by straight lines that are too short to be seen.
func (g *graph) slice(x, y, radius, begin, end float64) {
	const pieces = 90
	g.pdf.MoveTo(x, y)
	for i := range pieces + 1 {
		a := begin + (end-begin)*float64(i)/pieces
		g.pdf.LineTo(x+radius*math.Cos(a), y+radius*math.Sin(a))
	}
	g.pdf.ClosePath()
	g.pdf.SetDrawColor(255, 255, 255)
	g.pdf.SetLineWidth(1)
	g.pdf.DrawPath("FD")
}

// radar draws the series as polygons around a middle.
func (g *graph) radar() {
	count := pointsOf(g.chart)
	if count < 3 {
		g.plot()
		return
	}
	g.bounds(count)
	radius := min(g.at.w, g.at.h)/2 - 24
	x, y := g.at.x+g.at.w/2, g.at.y+g.at.h/2
	place := func(i int, v float64) (float64, float64) {
		a := 2*math.Pi*float64(i)/float64(count) - math.Pi/2
		r := radius * g.part(v)
		return x + r*math.Cos(a), y + r*math.Sin(a)
	}
	polygon := func(style string, value func(int) float64) {
		g.pdf.MoveTo(place(0, value(0)))
		for i := 1; i < count; i++ {
			g.pdf.LineTo(place(i, value(i)))
		}
		g.pdf.ClosePath()
		g.pdf.DrawPath(style)
	}
	g.pdf.SetLineWidth(0.5)
	g.pdf.SetDrawColor(215, 220, 227)
	for _, v := range g.scale.lines() {
		polygon("D", func(int) float64 { return v })
	}
	for i, c := range g.chart.Categories {
		lx, ly := place(i, g.high)
		g.label(c, lx+(lx-x)*0.08, ly+(ly-y)*0.08+4, labelSize, false, 0.5)
	}
	g.pdf.SetLineWidth(2)
	for i := range g.chart.Series {
		s := &g.chart.Series[i]
		color := g.color(i, s.Color)
		g.stroke(color, "accent1")
		g.fill(color, "accent1")
		values := func(k int) float64 {
			v, _ := g.of(s, k)
			return v
		}
		if g.chart.Filled {
			g.pdf.SetAlpha(0.6, "Normal")
			polygon("F", values)
			g.pdf.SetAlpha(1, "Normal")
		}
		polygon("D", values)
		for k := 0; k < count && !g.chart.Filled && !s.NoMarkers; k++ {
			px, py := place(k, values(k))
			g.pdf.Circle(px, py, 2.5, "F")
		}
	}
}

// scatter draws points, or bubbles, over two axes of numbers.
func (g *graph) scatter() {
	lowX, highX, lowY, highY, size := math.Inf(1), math.Inf(-1), 0.0, 0.0, 0.0
	each := func(f func(series, i int, x, y, size float64)) {
		for n, s := range g.chart.Series {
			for i, v := range s.Values {
				x := float64(i + 1)
				if i < len(s.X) {
					if s.X[i] == nil {
						continue
					}
					x = *s.X[i]
				}
				big := 1.0
				if i < len(s.Sizes) && s.Sizes[i] != nil {
					big = math.Abs(*s.Sizes[i])
				}
				if v != nil {
					f(n, i, x, *v, big)
				}
			}
		}
	}
	each(func(_, _ int, x, y, big float64) {
		lowX, highX, lowY, highY = min(lowX, x), max(highX, x), min(lowY, y), max(highY, y)
		size = max(size, big)
	})
	if lowX > highX {
		return
	}
	if lowX == highX {
		lowX, highX = lowX-1, highX+1
	}
	g.scale = fromZero(lowY, highY)
	g.axes[0] = g.scale
	g.axes[0].format = g.chart.Format
	g.scale.format = g.chart.Format
	categories := g.chart.Categories
	g.chart = &deck.Chart{Kind: g.chart.Kind, Series: g.chart.Series, Format: g.chart.Format, XTitle: g.chart.XTitle, YTitle: g.chart.YTitle}
	g.frame(1)
	g.chart.Categories = categories
	horizontal := newScale(lowX, highX)
	across := func(x float64) float64 { return g.at.x + horizontal.part(x)*g.at.w }
	for _, v := range horizontal.lines() {
		g.label(value(v, ""), across(v), g.at.y+g.at.h+14, labelSize, false, 0.5)
	}
	lines := make([][]point, len(g.chart.Series))
	each(func(n, _ int, x, y, _ float64) { lines[n] = append(lines[n], point{across(x), g.up(y)}) })
	g.pdf.SetLineWidth(2)
	for n, s := range g.chart.Series {
		if s.Joined {
			g.stroke(g.color(n, s.Color), "accent1")
			g.curve(lines[n], s.Smooth)
		}
	}
	g.pdf.SetAlpha(0.8, "Normal")
	defer g.pdf.SetAlpha(1, "Normal")
	each(func(n, _ int, x, y, big float64) {
		s := &g.chart.Series[n]
		if s.Joined && s.NoMarkers {
			return
		}
		radius := 3.5
		if g.chart.Kind == deck.BubbleChart && size > 0 {
			radius = max(math.Sqrt(big/size)*min(g.at.w, g.at.h)/10, 1)
		}
		g.fill(g.color(n, s.Color), "accent1")
		g.pdf.Circle(across(x), g.up(y), radius, "F")
	})
}
