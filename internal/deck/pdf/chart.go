package pdf

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/typeset"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml/numfmt"
)

const labelSize = 11.0 // points of the texts of charts

// Limits of what is drawn. A file of a kilobyte can say that a chart has half a million categories, in groups with names
// of pages.
const (
	mostPoints = 1_000_000 // series by categories
	allLabels  = 2 << 20   // bytes of all labels of categories
	mostLabel  = 500       // bytes of one
	leastLabel = 20        // bytes that one has at least, however many there are
	mostDigits = 30        // behind the point of a value
)

// graph is a chart being drawn.
type graph struct {
	*writer
	chart    *deck.Chart
	at       area     // what is left of its place
	scale             // of the axis in use
	axes     [2]scale // of values: the first, and the one at the other side
	sideways bool     // categories run down
	// The sums of the sizes of all values at a category, of plots of percents that were asked for.
	totals map[deck.Plot][]float64
}

// pointsOf is how many points the longest series of a chart has, or how many categories there are.
func pointsOf(c *deck.Chart) int {
	count := len(c.Categories)
	for _, s := range c.Series {
		count = max(count, len(s.Values))
	}
	return count
}

// scale is an axis of values: its ends, and the distance of its lines.
type scale struct {
	low, high, step float64
	format          string
}

// chart draws a chart from its data.
func (w *writer) chart(c *deck.Chart, at area) {
	if count := pointsOf(c); count*len(c.Series) > mostPoints {
		w.warn("a chart of %d series and %d categories is not drawn: it has more than %d points", len(c.Series), count, mostPoints)
		return
	}
	flat := *c
	flat.Categories = formatted(c)
	flat.Categories = flat.Labels(min(max(allLabels/max(len(c.Categories), 1), leastLabel), mostLabel))
	c = &flat
	g := &graph{writer: w, chart: c, at: at, sideways: c.Kind == deck.BarChart, totals: map[deck.Plot][]float64{}}
	if c.Title != "" {
		g.label(c.Title, at.x+at.w/2, at.y+16, 14, true, 0.5)
		g.at.y, g.at.h = g.at.y+26, g.at.h-26
	}
	if c.Legend != "" {
		g.legend()
	}
	if g.at.w < 40 || g.at.h < 40 || len(c.Series) == 0 {
		return
	}
	switch c.Kind {
	case deck.PieChart, deck.DoughnutChart:
		g.ring()
	case deck.RadarChart:
		g.radar()
	case deck.ScatterChart, deck.BubbleChart:
		g.scatter()
	default:
		g.plot()
	}
}

// formatted are the categories as they are read: numbers of days, which is how dates are stored, as dates.
func formatted(c *deck.Chart) []string {
	if c.CategoryFormat == "" {
		return c.Categories
	}
	kind, out := numfmt.Parse(c.CategoryFormat), make([]string, len(c.Categories))
	for i, text := range c.Categories {
		out[i] = numfmt.Format(text, kind, false)
	}
	return out
}

// label writes a text whose place is at the part of its width: 0 left, 0.5 middle, 1 right.
func (g *graph) label(text string, x, y, size float64, bold bool, part float64) {
	look := typeset.Look{Family: g.deck.Theme.Family("minor"), Size: size, Bold: bold}
	g.draw(text, x-g.faces.Width(text, look)*part, y, look, "dark1", &deck.Run{}, deck.RightToLeft(text))
}

func (g *graph) wide(text string) float64 {
	return g.faces.Width(text, typeset.Look{Family: g.deck.Theme.Family("minor"), Size: labelSize})
}

// color is that of the i-th series (or slice).
func (g *graph) color(i int, own string) string {
	if own != "" {
		return own
	}
	return fmt.Sprintf("accent%d", i%6+1)
}

// names are the entries of the legend.
func (g *graph) names() (names, colors []string) {
	if g.chart.Kind == deck.PieChart || g.chart.Kind == deck.DoughnutChart {
		for i, c := range g.chart.Categories {
			names, colors = append(names, c), append(colors, g.color(i, ""))
		}
		return names, colors
	}
	for i, s := range g.chart.Series {
		names, colors = append(names, s.Name), append(colors, g.color(i, s.Color))
	}
	return names, colors
}

// legend draws the legend, and takes its place from what is left.
func (g *graph) legend() {
	names, colors := g.names()
	const row, square, gap = 16.0, 8.0, 14.0
	entry := func(i int, x, y float64) {
		g.fill(colors[i], "accent1")
		g.pdf.Rect(x, y+4, square, square, "F")
		g.label(names[i], x+square+5, y+12, labelSize, false, 0)
	}
	widest, total := 0.0, 0.0
	for _, n := range names {
		width := square + 5 + g.wide(n)
		widest, total = max(widest, width), total+width+gap
	}
	if g.chart.Legend == deck.LegendLeft || g.chart.Legend == deck.LegendRight {
		widest = min(widest, g.at.w/3)
		x := g.at.x + g.at.w - widest
		if g.chart.Legend == deck.LegendLeft {
			x = g.at.x
			g.at.x += widest + gap
		}
		g.at.w -= widest + gap
		y := g.at.y + max((g.at.h-row*float64(len(names)))/2, 0)
		for i := range names {
			entry(i, x, y+row*float64(i))
		}
		return
	}
	rows := max(math.Ceil(total/g.at.w), 1)
	y := g.at.y + g.at.h - row*rows
	if g.chart.Legend == deck.LegendTop {
		y = g.at.y
		g.at.y += row * rows
	}
	g.at.h -= row*rows + 4
	x := g.at.x + max((g.at.w-total)/2, 0)
	for i := range names {
		width := square + 5 + g.wide(names[i]) + gap
		if x+width > g.at.x+g.at.w+gap && x > g.at.x {
			x, y = g.at.x, y+row
		}
		entry(i, x, y)
		x += width
	}
}

// fromZero is an axis of values: zero is on it.
func fromZero(low, high float64) scale {
	low, high = min(low, 0), max(high, 0)
	if high-low < 1e-300 { // too near to zero for a power of ten
		high = low + 1
	}
	return newScale(low, high)
}

// newScale chooses the ends of an axis, and the distance of its lines: 1, 2 or 5 times a power of ten.
func newScale(low, high float64) (s scale) {
	raw := (high - low) / 5
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	s.step = power * 10
	for _, m := range []float64{1, 2, 5} {
		if raw <= m*power {
			s.step = m * power
			break
		}
	}
	s.low, s.high = math.Floor(low/s.step)*s.step, math.Ceil(high/s.step)*s.step
	if lines := (s.high - s.low) / s.step; !(lines >= 1 && lines <= 50) { // nor NaN
		s.low, s.high, s.step = 0, 1, 0.2
	}
	return s
}

// lines are the values of an axis that have a line and a label.
func (s scale) lines() []float64 {
	var all []float64
	for i := range int(math.Round((s.high-s.low)/s.step)) + 1 { // a large value may be the same after a step is added
		all = append(all, s.low+float64(i)*s.step)
	}
	return all
}

// part is where on the axis a value is: 0 at its low end, 1 at its high end. Values that are too large for an axis are
// at its ends: a place has to be a number.
func (s scale) part(v float64) float64 { return min(max((v-s.low)/(s.high-s.low), 0), 1) }

// value writes a value in a number format, as far as that is simple.
func value(v float64, format string) string {
	if strings.Contains(format, "%") {
		return strconv.FormatFloat(math.Round(v*1000)/10, 'f', -1, 64) + "%"
	}
	digits := -1
	if _, decimals, ok := strings.Cut(strings.Split(format, ";")[0], "."); ok {
		digits = min(len(decimals)-len(strings.TrimLeft(decimals, "0")), mostDigits)
	} else if strings.HasSuffix(format, "0") {
		digits = 0
	}
	text := strconv.FormatFloat(math.Round(v*1e9)/1e9, 'f', digits, 64)
	if strings.Contains(format, ",") {
		text = grouped(text)
	}
	return text
}

// grouped puts commas between thousands.
func grouped(text string) string {
	whole, rest, _ := strings.Cut(text, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		rest = "." + rest
	}
	return sign + whole + rest
}
