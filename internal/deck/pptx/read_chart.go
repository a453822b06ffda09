package pptx

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	general   = "General" // the number format of what has none
	maxPoints = 500_000   // values of one chart
	allPoints = 4_000_000 // values of all charts: a file states a number of them in ten bytes, and has none
	maxGroups = 8         // levels of its categories above the innermost
)

// plots are the kinds of c:plotArea's children. That of a c:barChart depends on its direction.
var plots = map[string]deck.ChartKind{
	"barChart": deck.ColumnChart, "bar3DChart": deck.ColumnChart, "lineChart": deck.LineChart, "line3DChart": deck.LineChart,
	"stockChart": deck.LineChart, "areaChart": deck.AreaChart, "area3DChart": deck.AreaChart, "pieChart": deck.PieChart,
	"pie3DChart": deck.PieChart, "ofPieChart": deck.PieChart, "doughnutChart": deck.DoughnutChart,
	"scatterChart": deck.ScatterChart, "bubbleChart": deck.BubbleChart, "radarChart": deck.RadarChart,
}

// chart reads a chart part; nil: it has no series.
func (s *sheet) chart(part string) (*deck.Chart, error) {
	root, err := parse(s.ctx, s.pkg, part)
	if err != nil {
		return nil, ooxml.Optional(err)
	}
	n := root.kid("chart")
	area := n.kid("plotArea")
	c := &deck.Chart{Title: title(n), Legend: legends[n.at("legend", "legendPos").attr("val")]}
	if n.kid("legend") != nil && c.Legend == "" {
		c.Legend = deck.LegendRight
	}
	points := 0
	var first *node // the plot whose axes are the chart's
	for _, p := range area.kids {
		kind, known := plots[p.name()]
		if !known {
			continue
		}
		if p.kid("barDir").attr("val") == "bar" {
			kind = deck.BarChart
		}
		grouping := groupings[p.kid("grouping").attr("val")]
		if c.Kind == "" {
			first, c.Kind, c.Grouping = p, kind, grouping
			c.DataLabels = p.kid("dLbls").kid("showVal").on("val", false)
			c.Filled = p.at("radarStyle").attr("val") == "filled"
		}
		if strings.Contains(p.name(), "3D") {
			s.warn("charts with depth are kept flat")
		}
		for _, ser := range p.all("ser") {
			one := s.series(c, ser, kind, &points)
			switch {
			case points > maxPoints:
				return nil, taskerr.Errorf(taskerr.QuotaExceeded, "a chart has more than %d values: it is not read", maxPoints)
			case s.points+points+held(c) > allPoints:
				return nil, taskerr.Errorf(taskerr.QuotaExceeded, "the charts of the presentation have more than %d values: split it", allPoints)
			}
			if kind != c.Kind {
				one.Kind = kind
			}
			lineOf(&one, p, ser, kind)
			if c.GroupingOf(&one) != cmp.Or(grouping, deck.Clustered) {
				one.Grouping = cmp.Or(grouping, deck.Clustered)
			}
			one.Secondary = p != first && !sameAxes(first, p)
			c.Series = append(c.Series, one)
		}
	}
	axes(c, area, first)
	if root.kid("date1904").yes() {
		from1904(c)
	}
	s.points += points + held(c)
	if len(c.Series) == 0 {
		return nil, nil
	}
	return c, s.spend(strings.Join(c.Categories, ""))
}

// held is how many texts the categories of a chart are, with their groups, which a file need not have.
func held(c *deck.Chart) int { return len(c.Categories) * (1 + len(c.Groups)) }

// lineOf reads how a series' points are joined and marked. A line without c:smooth is straight, as Excel has it.
func lineOf(s *deck.Series, plot, ser *node, kind deck.ChartKind) {
	symbol := ser.at("marker", "symbol").attr("val")
	switch kind {
	case deck.LineChart:
		s.Smooth = ser.kid("smooth").yes()
		s.NoMarkers = symbol == "none" || symbol == "" && !plot.kid("marker").yes()
	case deck.ScatterChart:
		style := plot.kid("scatterStyle").attr("val")
		s.NoMarkers = symbol == "none"
		s.Joined = ser.at("spPr", "ln", "noFill") == nil && (style != "marker" || ser.at("spPr", "ln") != nil)
		s.Smooth = s.Joined && (ser.kid("smooth").yes() || ser.kid("smooth") == nil && style == "smoothMarker")
	case deck.RadarChart:
		style := plot.kid("radarStyle").attr("val")
		s.NoMarkers = style == "filled" || symbol == "none" || symbol == "" && style == "standard"
	case deck.BarChart, deck.ColumnChart, deck.AreaChart, deck.PieChart, deck.DoughnutChart, deck.BubbleChart:
	}
}

var groupings = map[string]deck.Grouping{"stacked": deck.Stacked, "percentStacked": deck.PercentStacked}

var legends = map[string]deck.Legend{
	"r": deck.LegendRight, "tr": deck.LegendRight, "l": deck.LegendLeft, "t": deck.LegendTop, "b": deck.LegendBottom,
}

// title is the text of a c:title.
func title(n *node) string { return strings.TrimSpace(clip(n.kid("title").words("t"), 4000)) }

// yes reports whether an element is there, and does not say no.
func (n *node) yes() bool { return n != nil && n.on("val", true) }

// axes reads the titles of the axes: those of the first plot, and the second one of values.
func axes(c *deck.Chart, area, first *node) {
	across := axisOf(area, first, 0)
	c.XTitle, c.YTitle = title(across), title(axisOf(area, first, 1))
	c.BottomUp = c.Kind == deck.BarChart && across.at("scaling", "orientation").attr("val") != "maxMin"
	for _, p := range area.kids {
		if _, known := plots[p.name()]; known && !sameAxes(first, p) {
			c.Y2Title = title(axisOf(area, p, 1))
			return
		}
	}
}

// axisOf is an axis of a plot: 0 that of categories or x, 1 that of values.
func axisOf(area, plot *node, which int) *node {
	ids := plot.all("axId")
	if which >= len(ids) {
		return nil
	}
	for _, a := range area.kids {
		if strings.HasSuffix(a.name(), "Ax") && a.kid("axId").attr("val") == ids[which].attr("val") {
			return a
		}
	}
	return nil
}

// sameAxes reports whether two plots have the same axis of values, or one has none.
func sameAxes(a, b *node) bool {
	of, other := a.all("axId"), b.all("axId")
	return len(of) < 2 || len(other) < 2 || of[1].attr("val") == other[1].attr("val")
}

// series reads a c:ser. The categories of the first one are the chart's.
func (s *sheet) series(c *deck.Chart, n *node, kind deck.ChartKind, points *int) deck.Series {
	out, values := deck.Series{Name: textOf(n.kid("tx")), Color: s.seriesColor(n, kind)}, n.kid("val")
	if kind.Pointed() {
		values = n.kid("yVal")
		out.X, _ = numbers(n.kid("xVal"), points)
		out.Sizes, _ = numbers(n.kid("bubbleSize"), points)
		for i, x := range out.X { // texts in place of numbers count from 1, as PowerPoint has it
			if x == nil && n.kid("xVal").find("strCache") != nil {
				out.X[i] = new(float64(i + 1))
			}
		}
	} else if texts, groups, format := categories(n.kid("cat"), points); len(texts) > len(c.Categories) {
		c.Categories, c.Groups, c.CategoryFormat = texts, groups, format
	}
	var format string
	out.Values, format = numbers(values, points)
	format = clip(cmp.Or(format, general), 100)
	switch {
	case len(c.Series) == 0 && format != general:
		c.Format = format
	case format != cmp.Or(c.Format, general):
		out.Format = format
	}
	if out.Values == nil {
		out.Values = []*float64{}
	}
	return out
}

func (s *sheet) seriesColor(n *node, kind deck.ChartKind) string {
	properties := n.kid("spPr")
	if color, _ := s.look.filling(properties, &s.deck.Theme); color != "" {
		return color
	}
	if kind == deck.LineChart || kind == deck.ScatterChart || kind == deck.RadarChart {
		color, _ := s.look.filling(properties.kid("ln"), &s.deck.Theme)
		return color
	}
	return ""
}

// textOf is the text of a c:tx.
func textOf(n *node) string {
	if v := n.find("strCache").at("pt", "v"); v != nil {
		return clip(v.text, 4000)
	}
	return clip(n.kid("v").content(), 4000)
}

// content is the element's own text.
func (n *node) content() string {
	if n == nil {
		return ""
	}
	return n.text
}

// cached calls f for each c:pt of a cache with its index, and returns how many there are said to be.
func cached(n *node, points *int, f func(index int, text string)) int {
	count := int(min(max(n.kid("ptCount").num("val", 0), 0), maxPoints+1))
	for _, pt := range n.all("pt") {
		if i := pt.num("idx", -1); i >= 0 && i <= maxPoints {
			count = max(count, int(i)+1)
			f(int(i), pt.kid("v").content())
		}
	}
	*points += count
	return count
}

// numbers reads the cached values of a c:val, and their format.
func numbers(n *node, points *int) (values []*float64, format string) {
	cache := n.find("numCache")
	if cache == nil {
		if cache = n.find("numLit"); cache == nil {
			cache = n.find("strCache")
		}
	}
	if cache == nil {
		return nil, ""
	}
	found := map[int]*float64{}
	count := cached(cache, points, func(i int, text string) {
		if v, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			found[i] = &v
		}
	})
	values = make([]*float64, min(count, maxPoints))
	for i := range values {
		values[i] = found[i]
	}
	return values, cache.kid("formatCode").content()
}
