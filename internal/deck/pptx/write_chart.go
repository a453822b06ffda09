package pptx

import (
	"archive/zip"
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// chart writes a chart that can be edited: its part, and the workbook with its data.
func (d *drawing) chart(e *deck.Element) error {
	d.charts++
	n := d.charts
	id := d.relate("chart", "/"+chartPart(n), false)
	d.beginFrame(e, "Chart")
	d.m.begin("a:graphicData", "uri", nsChart)
	d.m.empty("c:chart", "xmlns:c", nsChart, "r:id", id)
	d.m.ends(3)

	c := &plotter{writer: d.writer, m: &markup{}, chart: e.Chart}
	if err := d.put(chartPart(n), c.part()); err != nil {
		return err
	}
	book := fmt.Sprintf("ppt/embeddings/deckChart%d.xlsx", n)
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

// kindOf is the kind of a series.
func (c *plotter) kindOf(s *deck.Series) deck.ChartKind {
	if s.Kind != "" {
		return s.Kind
	}
	return c.chart.Kind
}

// round reports whether a kind has no axes.
func circular(k deck.ChartKind) bool { return k == deck.PieChart || k == deck.DoughnutChart }

// pointed reports whether the points of a kind have two numbers.
func pointed(k deck.ChartKind) bool { return k == deck.ScatterChart || k == deck.BubbleChart }

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
	axes := false
	for _, kind := range c.kinds() {
		c.plot(kind)
		axes = axes || !circular(kind)
	}
	if axes {
		c.axes()
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

// kinds are the kinds of the chart's series, in their order.
func (c *plotter) kinds() []deck.ChartKind {
	var all []deck.ChartKind
	seen := map[deck.ChartKind]bool{}
	for i := range c.chart.Series {
		if k := c.kindOf(&c.chart.Series[i]); !seen[k] {
			seen[k] = true
			all = append(all, k)
		}
	}
	if len(all) == 0 {
		all = append(all, c.chart.Kind)
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

// The ids of the axes.
const (
	acrossAxis = "111111111"
	upAxis     = "222222222"
)

// axes writes the axis of categories (or x) and that of values.
func (c *plotter) axes() {
	m, ch := c.m, c.chart
	first, position, other := "c:catAx", "b", "l"
	if ch.Kind == deck.BarChart {
		position, other = "l", "b"
	}
	if pointed(ch.Kind) {
		first = "c:valAx"
	}
	m.begin(first)
	c.axis(acrossAxis, position, ch.XTitle, false, "General", ch.Kind == deck.BarChart)
	m.empty("c:crossAx", "val", upAxis)
	m.empty("c:crosses", "val", "autoZero")
	if first == "c:catAx" {
		m.WriteString(`<c:auto val="0"/><c:lblAlgn val="ctr"/><c:lblOffset val="100"/><c:noMultiLvlLbl val="0"/>`)
	} else {
		m.empty("c:crossBetween", "val", "midCat")
	}
	m.end()
	m.begin("c:valAx")
	format := ch.Format
	if ch.Grouping == deck.PercentStacked {
		format = "0%"
	}
	if format == "" {
		format = "General"
	}
	c.axis(upAxis, other, ch.YTitle, true, format, false)
	m.empty("c:crossAx", "val", acrossAxis)
	// The values of bars that run from top to bottom are below them.
	crosses := "autoZero"
	if ch.Kind == deck.BarChart {
		crosses = "max"
	}
	m.empty("c:crosses", "val", crosses)
	between := "between"
	if ch.Kind == deck.AreaChart || pointed(ch.Kind) {
		between = "midCat"
	}
	m.empty("c:crossBetween", "val", between)
	m.end()
}

func (c *plotter) axis(id, position, title string, lines bool, format string, reversed bool) {
	m := c.m
	m.empty("c:axId", "val", id)
	m.begin("c:scaling")
	order := "minMax"
	if reversed { // the first category is on top
		order = "maxMin"
	}
	m.empty("c:orientation", "val", order)
	m.end()
	m.empty("c:delete", "val", "0")
	m.empty("c:axPos", "val", position)
	const grey = `<a:solidFill><a:schemeClr val="tx1"><a:lumMod val="25000"/><a:lumOff val="75000"/></a:schemeClr></a:solidFill>`
	if lines {
		m.WriteString(`<c:majorGridlines><c:spPr><a:ln w="6350">` + grey + `</a:ln></c:spPr></c:majorGridlines>`)
	}
	if title != "" {
		c.title(title, 1200)
	}
	m.empty("c:numFmt", "formatCode", format, "sourceLinked", "0")
	m.WriteString(`<c:majorTickMark val="none"/><c:minorTickMark val="none"/><c:tickLblPos val="nextTo"/>`)
	if lines {
		m.WriteString(`<c:spPr><a:ln><a:noFill/></a:ln></c:spPr>`)
	} else {
		m.WriteString(`<c:spPr><a:ln w="9525">` + grey + `</a:ln></c:spPr>`)
	}
}
