package pdf

import (
	"math"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// plot draws bars, lines and areas over categories.
func (g *graph) plot() {
	c := g.chart
	count := len(c.Categories)
	for _, s := range c.Series {
		count = max(count, len(s.Values))
	}
	if count == 0 {
		return
	}
	g.bounds(count)
	if g.sideways {
		g.frameSideways(count)
	} else {
		g.frame(count)
	}
	bars := 0
	for _, s := range c.Series {
		if g.bar(s) {
			bars++
		}
	}
	nth := 0
	above, below := make([]float64, count), make([]float64, count)
	for i, s := range c.Series {
		color := g.color(i, s.Color)
		switch {
		case g.bar(s):
			g.bars(s, color, nth, bars, count, above, below)
			nth++
		case kindOf(c, s) == deck.AreaChart:
			g.area(s, color, count, above)
		default:
			g.lines(s, color, count, above)
		}
	}
}

func kindOf(c *deck.Chart, s deck.Series) deck.ChartKind {
	if s.Kind != "" {
		return s.Kind
	}
	return c.Kind
}

func (g *graph) bar(s deck.Series) bool {
	k := kindOf(g.chart, s)
	return k == deck.BarChart || k == deck.ColumnChart
}

func (g *graph) stacked() bool {
	return g.chart.Grouping == deck.Stacked || g.chart.Grouping == deck.PercentStacked
}

// of is the value of a series at a category: of stacks of percents its part.
func (g *graph) of(s deck.Series, i int) (v float64, ok bool) {
	if i >= len(s.Values) || s.Values[i] == nil {
		return 0, false
	}
	v = *s.Values[i]
	if g.chart.Grouping != deck.PercentStacked {
		return v, true
	}
	total := 0.0
	for _, o := range g.chart.Series {
		if i < len(o.Values) && o.Values[i] != nil {
			total += math.Abs(*o.Values[i])
		}
	}
	if total == 0 {
		return 0, true
	}
	return v / total, true
}

// bounds finds the least and the greatest value, of stacks their sums.
func (g *graph) bounds(count int) {
	low, high := 0.0, 0.0
	for i := range count {
		up, down := 0.0, 0.0
		for _, s := range g.chart.Series {
			v, _ := g.of(s, i)
			if g.stacked() && (kindOf(g.chart, s) != deck.LineChart || g.stackedLines()) {
				up, down = up+max(v, 0), down+min(v, 0)
			} else {
				up, down = max(up, v), min(down, v)
			}
		}
		low, high = min(low, down), max(high, up)
	}
	g.scale(low, high)
}

func (g *graph) axisLabel(v float64) string {
	if g.chart.Grouping == deck.PercentStacked {
		percent := *g
		chart := *g.chart
		chart.Format = "0%"
		percent.chart = &chart
		return percent.value(v)
	}
	return g.value(v)
}

// frame draws the axes: values at the left, categories below. What is left is the area between them.
func (g *graph) frame(count int) {
	if g.chart.YTitle != "" {
		g.label(g.chart.YTitle, g.at.x, g.at.y+10, labelSize, false, 0)
		g.at.y, g.at.h = g.at.y+16, g.at.h-16
	}
	if g.chart.XTitle != "" {
		g.label(g.chart.XTitle, g.at.x+g.at.w/2, g.at.y+g.at.h-3, labelSize, false, 0.5)
		g.at.h -= 16
	}
	wide := 0.0
	for v := g.low; v <= g.high+g.step/2; v += g.step {
		wide = max(wide, g.wide(g.axisLabel(v)))
	}
	g.at.x, g.at.w = g.at.x+wide+6, g.at.w-wide-6
	g.at.y, g.at.h = g.at.y+6, g.at.h-22
	g.pdf.SetLineWidth(0.5)
	for v := g.low; v <= g.high+g.step/2; v += g.step {
		y := g.up(v)
		g.grid(g.at.x, y, g.at.x+g.at.w, y)
		g.label(g.axisLabel(v), g.at.x-6, y+4, labelSize, false, 1)
	}
	every := 1
	widest := 0.0
	for _, c := range g.chart.Categories {
		widest = max(widest, g.wide(c)+6)
	}
	if room := g.at.w / float64(count); widest > room {
		every = int(math.Ceil(min(widest, g.at.w) / room))
	}
	for i := 0; i < len(g.chart.Categories); i += every {
		g.label(g.fitted(g.chart.Categories[i], g.at.w/float64(count)*float64(every)), g.along(i, count), g.at.y+g.at.h+14, labelSize,
			false, 0.5)
	}
}

// frameSideways draws the axes of bars that run to the right: categories from the top.
func (g *graph) frameSideways(count int) {
	wide := 0.0
	for _, c := range g.chart.Categories {
		wide = max(wide, g.wide(c))
	}
	wide = min(wide, g.at.w/3)
	g.at.x, g.at.w = g.at.x+wide+6, g.at.w-wide-18
	g.at.h -= 20
	g.pdf.SetLineWidth(0.5)
	for v := g.low; v <= g.high+g.step/2; v += g.step {
		x := g.at.x + (v-g.low)/(g.high-g.low)*g.at.w
		g.grid(x, g.at.y, x, g.at.y+g.at.h)
		g.label(g.axisLabel(v), x, g.at.y+g.at.h+14, labelSize, false, 0.5)
	}
	for i, c := range g.chart.Categories {
		y := g.at.y + (float64(i)+0.5)*g.at.h/float64(count)
		g.label(g.fitted(c, wide), g.at.x-6, y+4, labelSize, false, 1)
	}
}

// fitted is a label that is no wider than its room. All of it is in the chart's data, and in the presentation.
func (g *graph) fitted(text string, room float64) string {
	letters := []rune(text)
	for len(letters) > 1 && g.wide(string(letters)) > room {
		letters = letters[:len(letters)-1]
	}
	if len(letters) < len([]rune(text)) {
		return string(letters[:len(letters)-1]) + "…"
	}
	return text
}

func (g *graph) grid(x1, y1, x2, y2 float64) {
	g.pdf.SetDrawColor(215, 220, 227)
	g.pdf.Line(x1, y1, x2, y2)
}

// up is where a value is.
func (g *graph) up(v float64) float64 { return g.at.y + g.at.h*(1-g.part(v)) }

// along is the middle of a category.
func (g *graph) along(i, count int) float64 { return g.at.x + (float64(i)+0.5)*g.at.w/float64(count) }

// bars draws the bars of one series. above and below are the sums of the stacks so far.
func (g *graph) bars(s deck.Series, color string, nth, of, count int, above, below []float64) {
	g.fill(color, "accent1")
	length := g.at.w
	if g.sideways {
		length = g.at.h
	}
	slot := length / float64(count)
	thick := slot * 0.6
	offset := slot * 0.2
	if !g.stacked() {
		thick /= float64(of)
		offset += thick * float64(nth)
	}
	for i := range count {
		v, ok := g.of(s, i)
		if !ok {
			continue
		}
		from := 0.0
		if g.stacked() {
			sums := above
			if v < 0 {
				sums = below
			}
			from = sums[i]
			sums[i] += v
		}
		along := float64(i)*slot + offset
		if g.sideways {
			x1, x2 := g.right(from), g.right(from+v)
			g.pdf.Rect(min(x1, x2), g.at.y+along, math.Abs(x2-x1), thick, "F")
		} else {
			y1, y2 := g.up(from), g.up(from+v)
			g.pdf.Rect(g.at.x+along, min(y1, y2), thick, math.Abs(y2-y1), "F")
		}
		if g.chart.DataLabels {
			g.barLabel(from, v, along+thick/2)
			g.fill(color, "accent1")
		}
	}
}

func (g *graph) right(v float64) float64 { return g.at.x + g.part(v)*g.at.w }

func (g *graph) barLabel(from, v, along float64) {
	if g.sideways {
		g.label(g.value(v), g.right(from+v)+3, g.at.y+along+4, labelSize, false, 0)
		return
	}
	g.label(g.value(v), g.at.x+along, g.up(from+v)-3, labelSize, false, 0.5)
}
