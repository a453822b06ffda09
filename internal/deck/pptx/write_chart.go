package pptx

import (
	"archive/zip"
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// chart writes a chart that can be edited: its part, and the workbook with its data.
func (d *drawing) chart(e *deck.Element) error {
	n := d.charts[d.written]
	d.written++
	id := d.relate("chart", "/"+chartPart(n), false)
	d.beginFrame(e, "Chart")
	d.m.begin("a:graphicData", "uri", nsChart)
	d.m.empty("c:chart", "xmlns:c", nsChart, "r:id", id)
	d.m.ends(3)

	c := &plotter{writer: d.writer, m: &markup{}, chart: e.Chart}
	if err := d.put(chartPart(n), c.part()); err != nil {
		return err
	}
	book := chartBook(n)
	if err := d.put(relationsPart(chartPart(n)), relations([]relation{{id: "rId1", kind: "package", target: "/" + book}})); err != nil {
		return err
	}
	out, err := d.entry(book, zip.Store)
	if err != nil {
		return err
	}
	return workbook(out, e.Chart)
}

// plotter writes a chart part.
type plotter struct {
	*writer
	m     *markup
	chart *deck.Chart
}

// circular reports whether a kind has no axes.
func circular(k deck.ChartKind) bool { return k == deck.PieChart || k == deck.DoughnutChart }

func (c *plotter) part() []byte {
	m, ch := c.m, c.chart
	m.WriteString(xmlHead)
	m.begin("c:chartSpace", "xmlns:c", nsChart, "xmlns:a", nsDrawing, "xmlns:r", nsRel)
	m.empty("c:date1904", "val", "0")
	m.empty("c:roundedCorners", "val", "0")
	m.begin("c:chart")
	if ch.Title != "" {
		c.title(ch.Title, 1600)
	}
	m.empty("c:autoTitleDeleted", "val", bit(ch.Title == ""))
	m.begin("c:plotArea")
	m.empty("c:layout")
	var axes, second bool
	for _, p := range c.plots() {
		c.plot(p)
		axes = axes || !circular(p.Kind) && !p.Secondary
		second = second || !circular(p.Kind) && p.Secondary
	}
	if axes {
		c.axes(false)
	}
	if second {
		c.axes(true)
	}
	m.end()
	if ch.Legend != "" {
		c.legend()
	}
	m.empty("c:plotVisOnly", "val", "1")
	m.empty("c:dispBlanksAs", "val", "gap")
	m.end()
	m.WriteString(`<c:txPr><a:bodyPr/><a:lstStyle/><a:p><a:pPr><a:defRPr sz="1200"><a:solidFill><a:schemeClr val="tx1"/></a:solidFill></a:defRPr></a:pPr>` +
		`<a:endParaRPr lang="en-US"/></a:p></c:txPr>`)
	m.begin("c:externalData", "r:id", "rId1")
	m.empty("c:autoUpdate", "val", "0")
	m.ends(2)
	return m.Bytes()
}

// plots are the plots of the chart's series, in their order.
func (c *plotter) plots() []deck.Plot {
	var all []deck.Plot
	for i := range c.chart.Series {
		if p := c.chart.PlotOf(&c.chart.Series[i]); !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		all = append(all, c.chart.PlotOf(&deck.Series{}))
	}
	return all
}

func (c *plotter) title(text string, size int) {
	m := c.m
	m.begin("c:title")
	m.begin("c:tx")
	m.begin("c:rich")
	m.WriteString("<a:bodyPr/><a:lstStyle/>")
	m.begin("a:p")
	fmt.Fprintf(m, `<a:pPr><a:defRPr sz="%d" b="%s"/></a:pPr>`, size, bit(size > 1300))
	m.begin("a:r")
	m.empty("a:rPr", "lang", c.deck.Language, "sz", num(size), "b", bit(size > 1300))
	m.leaf("a:t", text)
	m.ends(4)
	m.empty("c:overlay", "val", "0")
	m.end()
}

func (c *plotter) legend() {
	place := map[deck.Legend]string{
		deck.LegendLeft: "l", deck.LegendTop: "t", deck.LegendBottom: "b", deck.LegendRight: "r",
	}[c.chart.Legend]
	if place == "" {
		place = "b"
	}
	c.m.begin("c:legend")
	c.m.empty("c:legendPos", "val", place)
	c.m.empty("c:overlay", "val", "0")
	c.m.end()
}

// axisIDs are the ids of the axis of categories (or x) and of that of values.
func axisIDs(second bool) (across, up string) {
	if second {
		return "333333333", "444444444"
	}
	return "111111111", "222222222"
}

// axes writes the axis of categories (or x) and that of values. Of the second ones, that of categories is not shown,
// and that of values is at the other side.
func (c *plotter) axes(second bool) {
	m, ch := c.m, c.chart
	first, position, other, format := "c:catAx", "b", "l", cmp.Or(ch.CategoryFormat, general)
	if ch.Kind == deck.BarChart {
		position, other = "l", "b"
	}
	if ch.Kind.Pointed() {
		first, format = "c:valAx", general
	}
	across, up := axisIDs(second)
	down := ch.Kind == deck.BarChart && !ch.BottomUp // categories run down
	x, y := ch.XTitle, ch.YTitle
	if second {
		other = map[string]string{"l": "r", "b": "t"}[other]
		x, y = "", ch.Y2Title
	}
	m.begin(first)
	c.axis(axis{id: across, position: position, title: x, format: format, reversed: down, hidden: second})
	m.empty("c:crossAx", "val", up)
	m.empty("c:crosses", "val", "autoZero")
	if first == "c:catAx" {
		m.WriteString(`<c:auto val="0"/><c:lblAlgn val="ctr"/><c:lblOffset val="100"/><c:noMultiLvlLbl val="0"/>`)
	} else {
		m.empty("c:crossBetween", "val", "midCat")
	}
	m.end()
	m.begin("c:valAx")
	c.axis(axis{id: up, position: other, title: y, lines: !second, values: true, format: c.axisFormat(second)})
	m.empty("c:crossAx", "val", across)
	// The values of bars that run down are below them, and those of the second axis on the other side.
	crosses := "autoZero"
	if down != second {
		crosses = "max"
	}
	m.empty("c:crosses", "val", crosses)
	between := "between"
	if ch.Kind == deck.AreaChart || ch.Kind.Pointed() {
		between = "midCat"
	}
	m.empty("c:crossBetween", "val", between)
	m.end()
}

// axisFormat is the number format of an axis of values: that of its first series.
func (c *plotter) axisFormat(second bool) string {
	for i := range c.chart.Series {
		s := &c.chart.Series[i]
		switch {
		case s.Secondary != second:
		case c.chart.GroupingOf(s) == deck.PercentStacked:
			return "0%"
		default:
			return cmp.Or(c.chart.FormatOf(s), general)
		}
	}
	return cmp.Or(c.chart.Format, general)
}

// axis is what an axis looks like.
type axis struct {
	id, position, title, format string

	values   bool // it is of values
	lines    bool // it has lines across the chart
	reversed bool // the first category is on top
	hidden   bool
}

func (c *plotter) axis(a axis) {
	m := c.m
	m.empty("c:axId", "val", a.id)
	m.begin("c:scaling")
	order := "minMax"
	if a.reversed {
		order = "maxMin"
	}
	m.empty("c:orientation", "val", order)
	m.end()
	m.empty("c:delete", "val", bit(a.hidden))
	m.empty("c:axPos", "val", a.position)
	const grey = `<a:solidFill><a:schemeClr val="tx1"><a:lumMod val="25000"/><a:lumOff val="75000"/></a:schemeClr></a:solidFill>`
	if a.lines {
		m.WriteString(`<c:majorGridlines><c:spPr><a:ln w="6350">` + grey + `</a:ln></c:spPr></c:majorGridlines>`)
	}
	if a.title != "" {
		c.title(a.title, 1200)
	}
	m.empty("c:numFmt", "formatCode", a.format, "sourceLinked", "0")
	m.WriteString(`<c:majorTickMark val="none"/><c:minorTickMark val="none"/><c:tickLblPos val="nextTo"/>`)
	if a.values {
		m.WriteString(`<c:spPr><a:ln><a:noFill/></a:ln></c:spPr>`)
	} else {
		m.WriteString(`<c:spPr><a:ln w="9525">` + grey + `</a:ln></c:spPr>`)
	}
}
