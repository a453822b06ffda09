package pdf

import (
	"math"
	"slices"
	"sort"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// plot draws bars, lines and areas over categories.
func (g *graph) plot() {
	c := g.chart
	count := pointsOf(c)
	if count == 0 {
		return
	}
	g.bounds(count)
	if g.sideways {
		g.frameSideways(count)
	} else {
		g.frame(count)
	}
	bars := map[deck.Plot]int{}
	for i := range c.Series {
		bars[c.PlotOf(&c.Series[i])]++
	}
	stacks, nth := newStacks(c, count), map[deck.Plot]int{}
	for i := range c.Series {
		s := &c.Series[i]
		p, color := c.PlotOf(s), g.color(i, s.Color)
		g.use(s)
		switch p.Kind {
		case deck.BarChart, deck.ColumnChart:
			g.bars(s, color, nth[p], bars[p], count, stacks.of(s))
			nth[p]++
		case deck.AreaChart:
			g.area(s, color, count, stacks.of(s))
		case deck.LineChart, deck.PieChart, deck.DoughnutChart, deck.ScatterChart, deck.BubbleChart, deck.RadarChart:
			g.line(s, color, count, stacks.of(s))
		}
	}
}

// use makes the axis of a series the one in use.
func (g *graph) use(s *deck.Series) {
	if s.Secondary {
		g.scale = g.axes[1]
	} else {
		g.scale = g.axes[0]
	}
}

// of is the value of a series at a category: of stacks of percents its part.
func (g *graph) of(s *deck.Series, i int) (v float64, ok bool) {
	if i >= len(s.Values) || s.Values[i] == nil {
		return 0, false
	}
	v = *s.Values[i]
	plot := g.chart.PlotOf(s)
	if plot.Grouping != deck.PercentStacked {
		return v, true
	}
	total := g.total(plot)[i]
	if total == 0 {
		return 0, true
	}
	return v / total, true
}

// total are the sums of the sizes of a plot's values, by category.
func (g *graph) total(plot deck.Plot) []float64 {
	if all := g.totals[plot]; all != nil {
		return all
	}
	all := make([]float64, pointsOf(g.chart))
	for k := range g.chart.Series {
		if s := &g.chart.Series[k]; g.chart.PlotOf(s) == plot {
			for i, v := range s.Values {
				if v != nil {
					all[i] += math.Abs(*v)
				}
			}
		}
	}
	g.totals[plot] = all
	return all
}

// valueOf is what is written at a point: the value, also of one that is drawn as a part.
func (g *graph) valueOf(s *deck.Series, i int) string {
	return value(*s.Values[i], g.chart.FormatOf(s))
}

// bounds finds the least and the greatest value of each axis, of stacks their sums.
func (g *graph) bounds(count int) {
	for n := range g.axes {
		low, high, format := 0.0, 0.0, ""
		stacks, first := newStacks(g.chart, count), true
		for k := range g.chart.Series {
			s := &g.chart.Series[k]
			if s.Secondary != (n == 1) {
				continue
			}
			if first {
				format, first = g.chart.FormatOf(s), false
				if g.chart.GroupingOf(s) == deck.PercentStacked {
					format = "0%"
				}
			}
			for i := range count {
				v, _ := g.of(s, i)
				_, to := stacks.of(s).add(i, v)
				low, high = min(low, to), max(high, to)
			}
		}
		g.axes[n] = fromZero(low, high)
		g.axes[n].format = format
	}
	g.scale = g.axes[0]
}

// second reports whether there is a second axis of values.
func (g *graph) second() bool {
	return g.axes[1].step > 0 && slices.ContainsFunc(g.chart.Series, func(s deck.Series) bool { return s.Secondary })
}

// frame draws the axes: values at the left, categories below. What is left is the area between them.
func (g *graph) frame(count int) {
	if g.chart.YTitle != "" || g.chart.Y2Title != "" {
		g.label(g.chart.YTitle, g.at.x, g.at.y+10, labelSize, false, 0)
		g.label(g.chart.Y2Title, g.at.x+g.at.w, g.at.y+10, labelSize, false, 1)
		g.at.y, g.at.h = g.at.y+16, g.at.h-16
	}
	if g.chart.XTitle != "" {
		g.label(g.chart.XTitle, g.at.x+g.at.w/2, g.at.y+g.at.h-3, labelSize, false, 0.5)
		g.at.h -= 16
	}
	wide := g.widest(g.axes[0])
	g.at.x, g.at.w = g.at.x+wide+6, g.at.w-wide-6
	if g.second() {
		g.at.w -= g.widest(g.axes[1]) + 6
	}
	g.at.y, g.at.h = g.at.y+6, g.at.h-22
	g.pdf.SetLineWidth(0.5)
	for _, v := range g.scale.lines() {
		y := g.up(v)
		g.grid(g.at.x, y, g.at.x+g.at.w, y)
		g.label(value(v, g.format), g.at.x-6, y+4, labelSize, false, 1)
	}
	if g.second() {
		g.scale = g.axes[1]
		for _, v := range g.scale.lines() {
			g.label(value(v, g.format), g.at.x+g.at.w+6, g.up(v)+4, labelSize, false, 0)
		}
		g.scale = g.axes[0]
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
	if g.second() {
		g.at.y, g.at.h = g.at.y+20, g.at.h-20
	}
	g.pdf.SetLineWidth(0.5)
	for _, v := range g.scale.lines() {
		x := g.right(v)
		g.grid(x, g.at.y, x, g.at.y+g.at.h)
		g.label(value(v, g.format), x, g.at.y+g.at.h+14, labelSize, false, 0.5)
	}
	if g.second() {
		g.scale = g.axes[1]
		for _, v := range g.scale.lines() {
			g.label(value(v, g.format), g.right(v), g.at.y-6, labelSize, false, 0.5)
		}
		g.scale = g.axes[0]
	}
	for i, c := range g.chart.Categories {
		slot := g.at.h / float64(count)
		y := g.down(float64(i)*slot, slot) + slot/2
		g.label(g.fitted(c, wide), g.at.x-6, y+4, labelSize, false, 1)
	}
}

// fitted is a label that is no wider than its room. All of it is in the chart's data, and in the presentation.
func (g *graph) fitted(text string, room float64) string {
	if g.wide(text) <= room {
		return text
	}
	letters := []rune(text)
	over := sort.Search(len(letters), func(n int) bool { return g.wide(string(letters[:n+1])) > room }) // so many fit
	return string(letters[:max(over-1, 0)]) + "…"
}

func (g *graph) grid(x1, y1, x2, y2 float64) {
	g.pdf.SetDrawColor(215, 220, 227)
	g.pdf.Line(x1, y1, x2, y2)
}

// up is where a value is.
func (g *graph) up(v float64) float64 { return g.at.y + g.at.h*(1-g.part(v)) }

// along is the middle of a category.
func (g *graph) along(i, count int) float64 { return g.at.x + (float64(i)+0.5)*g.at.w/float64(count) }

// widest is the width of the widest label of an axis.
func (g *graph) widest(s scale) float64 {
	wide := 0.0
	for _, v := range s.lines() {
		wide = max(wide, g.wide(value(v, s.format)))
	}
	return wide
}

// bars draws the bars of one series, which is the nth of those beside each other.
func (g *graph) bars(s *deck.Series, color string, nth, of, count int, sums *sums) {
	g.fill(color, "accent1")
	length := g.at.w
	if g.sideways {
		length = g.at.h
	}
	slot := length / float64(count)
	thick := slot * 0.6
	offset := slot * 0.2
	if sums == nil {
		thick /= float64(of)
		offset += thick * float64(nth)
	}
	for i := range count {
		v, ok := g.of(s, i)
		if !ok {
			continue
		}
		from, to := sums.add(i, v)
		along := float64(i)*slot + offset
		if g.sideways {
			x1, x2 := g.right(from), g.right(to)
			g.pdf.Rect(min(x1, x2), g.down(along, thick), math.Abs(x2-x1), thick, "F")
		} else {
			y1, y2 := g.up(from), g.up(to)
			g.pdf.Rect(g.at.x+along, min(y1, y2), thick, math.Abs(y2-y1), "F")
		}
		if g.chart.DataLabels {
			g.barLabel(g.valueOf(s, i), to, along+thick/2)
			g.fill(color, "accent1")
		}
	}
}

// down is the upper edge of what is along the categories of bars that run to the right.
func (g *graph) down(along, thick float64) float64 {
	if g.chart.BottomUp {
		return g.at.y + g.at.h - along - thick
	}
	return g.at.y + along
}

func (g *graph) right(v float64) float64 { return g.at.x + g.part(v)*g.at.w }

func (g *graph) barLabel(text string, end, along float64) {
	if g.sideways {
		g.label(text, g.right(end)+3, g.down(along, 0)+4, labelSize, false, 0)
		return
	}
	g.label(text, g.at.x+along, g.up(end)-3, labelSize, false, 0.5)
}
