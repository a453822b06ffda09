package pptx

import (
	"fmt"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// plot writes the series of a plot. The order of its elements is the standard's (21.2.2).
func (c *plotter) plot(p deck.Plot) {
	m, ch, kind := c.m, c.chart, p.Kind
	name := map[deck.ChartKind]string{
		deck.BarChart: "c:barChart", deck.ColumnChart: "c:barChart", deck.LineChart: "c:lineChart", deck.AreaChart: "c:areaChart",
		deck.PieChart: "c:pieChart", deck.DoughnutChart: "c:doughnutChart", deck.ScatterChart: "c:scatterChart",
		deck.BubbleChart: "c:bubbleChart", deck.RadarChart: "c:radarChart",
	}[kind]
	m.begin(name)
	switch kind {
	case deck.BarChart, deck.ColumnChart:
		direction := "col"
		if kind == deck.BarChart {
			direction = "bar"
		}
		m.empty("c:barDir", "val", direction)
		m.empty("c:grouping", "val", grouping(p.Grouping, "clustered"))
	case deck.LineChart, deck.AreaChart:
		m.empty("c:grouping", "val", grouping(p.Grouping, "standard"))
	case deck.ScatterChart:
		style := "lineMarker"
		if slices.ContainsFunc(ch.Series, func(s deck.Series) bool { return s.Smooth }) {
			style = "smoothMarker"
		}
		m.empty("c:scatterStyle", "val", style)
	case deck.RadarChart:
		style := "marker"
		if ch.Filled {
			style = "filled"
		}
		m.empty("c:radarStyle", "val", style)
	case deck.PieChart, deck.DoughnutChart, deck.BubbleChart:
	}
	m.empty("c:varyColors", "val", bit(circular(kind)))
	for i := range ch.Series {
		if ch.PlotOf(&ch.Series[i]) == p {
			c.series(i, kind)
		}
	}
	c.labels(ch.DataLabels, kind)
	switch kind {
	case deck.BarChart, deck.ColumnChart:
		m.empty("c:gapWidth", "val", "80")
		if p.Grouping != deck.Clustered {
			m.empty("c:overlap", "val", "100")
		}
	case deck.LineChart:
		m.empty("c:marker", "val", "1")
	case deck.PieChart:
		m.empty("c:firstSliceAng", "val", "0")
	case deck.DoughnutChart:
		m.empty("c:firstSliceAng", "val", "0")
		m.empty("c:holeSize", "val", "60")
	case deck.AreaChart, deck.ScatterChart, deck.BubbleChart, deck.RadarChart:
	}
	if !circular(kind) {
		across, up := axisIDs(p.Secondary)
		m.empty("c:axId", "val", across)
		m.empty("c:axId", "val", up)
	}
	m.end()
}

func grouping(g deck.Grouping, plain string) string {
	switch g {
	case deck.Stacked:
		return "stacked"
	case deck.PercentStacked:
		return "percentStacked"
	case deck.Clustered:
	}
	return plain
}

func (c *plotter) labels(on bool, kind deck.ChartKind) {
	if !on {
		return
	}
	m := c.m
	m.begin("c:dLbls")
	m.empty("c:showLegendKey", "val", "0")
	m.empty("c:showVal", "val", "1")
	m.empty("c:showCatName", "val", "0")
	m.empty("c:showSerName", "val", "0")
	m.empty("c:showPercent", "val", "0")
	m.empty("c:showBubbleSize", "val", "0")
	if circular(kind) {
		m.empty("c:showLeaderLines", "val", "0")
	}
	m.end()
}

// series writes one series with its data, as they are in the workbook.
func (c *plotter) series(i int, kind deck.ChartKind) {
	m, ch := c.m, c.chart
	s := &ch.Series[i]
	at := columnsOf(ch, i)
	m.begin("c:ser")
	m.empty("c:idx", "val", num(i))
	m.empty("c:order", "val", num(i))
	m.begin("c:tx")
	m.begin("c:strRef")
	m.leaf("c:f", cellRef(at.values, 0, 0))
	m.begin("c:strCache")
	m.empty("c:ptCount", "val", "1")
	m.begin("c:pt", "idx", "0")
	m.leaf("c:v", s.Name)
	m.ends(4)
	c.look(s, i, kind)
	if kind.Pointed() {
		c.numbers("c:xVal", at.x, xOf(s), general)
		c.numbers("c:yVal", at.values, s.Values, ch.FormatOf(s))
		if kind == deck.BubbleChart {
			c.numbers("c:bubbleSize", at.sizes, sizesOf(s), general)
		} else {
			m.empty("c:smooth", "val", bit(s.Smooth))
		}
	} else {
		c.categories()
		c.numbers("c:val", at.values, s.Values, ch.FormatOf(s))
		if kind == deck.LineChart {
			m.empty("c:smooth", "val", bit(s.Smooth))
		}
	}
	m.end()
}

// look writes the colour of a series, and its markers.
func (c *plotter) look(s *deck.Series, i int, kind deck.ChartKind) {
	m := c.m
	color := s.Color
	if color == "" {
		color = fmt.Sprintf("accent%d", i%6+1)
	}
	lines := kind == deck.LineChart || kind == deck.RadarChart || kind == deck.ScatterChart
	if !circular(kind) {
		m.begin("c:spPr")
		switch {
		case kind == deck.ScatterChart && !s.Joined:
			m.WriteString(`<a:ln w="19050"><a:noFill/></a:ln>`)
		case kind == deck.RadarChart && c.chart.Filled:
			c.solid(m, color, 0.6)
		case lines:
			m.begin("a:ln", "w", "28575", "cap", "rnd")
			c.solid(m, color, 0)
			m.empty("a:round")
			m.end()
		default:
			c.solid(m, color, 0)
		}
		m.end()
	}
	if kind == deck.BarChart || kind == deck.ColumnChart || kind == deck.BubbleChart {
		m.empty("c:invertIfNegative", "val", "0")
	}
	switch {
	case !lines || kind == deck.RadarChart && c.chart.Filled:
	case s.NoMarkers:
		m.begin("c:marker")
		m.empty("c:symbol", "val", "none")
		m.end()
	default:
		m.begin("c:marker")
		m.empty("c:symbol", "val", "circle")
		m.empty("c:size", "val", "6")
		m.begin("c:spPr")
		c.solid(m, color, 0)
		m.ends(2)
	}
}

func (c *plotter) categories() {
	ch, m := c.chart, c.m
	if len(ch.Categories) == 0 {
		return
	}
	if len(ch.Groups) > 0 {
		c.grouped()
		return
	}
	source, cache := "c:strRef", "c:strCache"
	if ch.CategoryFormat != "" {
		source, cache = "c:numRef", "c:numCache"
	}
	m.begin("c:cat")
	m.begin(source)
	m.leaf("c:f", cellRef(0, 1, len(ch.Categories)))
	m.begin(cache)
	if ch.CategoryFormat != "" {
		m.leaf("c:formatCode", ch.CategoryFormat)
	}
	m.empty("c:ptCount", "val", num(len(ch.Categories)))
	for i, text := range ch.Categories {
		if text == "" && ch.CategoryFormat != "" {
			continue
		}
		m.begin("c:pt", "idx", num(i))
		m.leaf("c:v", text)
		m.end()
	}
	m.ends(3)
}

// grouped writes categories of several levels.
func (c *plotter) grouped() {
	ch, m := c.chart, c.m
	m.begin("c:cat")
	m.begin("c:multiLvlStrRef")
	m.leaf("c:f", fmt.Sprintf("%s!$A$2:$%s$%d", sheetName, columnName(len(ch.Groups)), len(ch.Categories)+1))
	m.begin("c:multiLvlStrCache")
	m.empty("c:ptCount", "val", num(len(ch.Categories)))
	for k, level := range append([][]string{ch.Categories}, ch.Groups...) {
		m.begin("c:lvl")
		for i, text := range level {
			if text == "" && k > 0 {
				continue
			}
			m.begin("c:pt", "idx", num(i))
			m.leaf("c:v", text)
			m.end()
		}
		m.end()
	}
	m.ends(3)
}

func (c *plotter) numbers(name string, column int, values []*float64, format string) {
	m := c.m
	if format == "" {
		format = general
	}
	m.begin(name)
	m.begin("c:numRef")
	m.leaf("c:f", cellRef(column, 1, max(len(values), 1)))
	m.begin("c:numCache")
	m.leaf("c:formatCode", format)
	m.empty("c:ptCount", "val", num(len(values)))
	for i, v := range values {
		if v != nil {
			m.begin("c:pt", "idx", num(i))
			m.leaf("c:v", decimal(*v))
			m.end()
		}
	}
	m.ends(3)
}
