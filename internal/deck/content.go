package deck

// Table is rows of cells.
type Table struct {
	Columns []int64 `json:"columns"`           // widths in EMU
	Rows    []Row   `json:"rows"`              // each has a cell for each column that no cell from above covers
	Headers int     `json:"headers,omitempty"` // header rows at the top
	Banded  bool    `json:"banded,omitempty"`  // every second row is shaded
	RTL     bool    `json:"rtl,omitempty"`     // the first column is at the right

	Extra Extra `json:"-"`
}

// Row is a row of a table.
type Row struct {
	Height int64  `json:"height,omitempty"` // in EMU, at least
	Cells  []Cell `json:"cells"`            // from the left

	Extra Extra `json:"-"`
}

// Cell is a cell. One that spans columns or rows is there once, at its top left.
type Cell struct {
	Text    Text   `json:"text"`              // of the cell
	ColSpan int    `json:"colspan,omitempty"` // 0: 1
	RowSpan int    `json:"rowspan,omitempty"` // 0: 1
	Fill    string `json:"fill,omitempty"`    // a colour; empty: the table's style

	Extra Extra `json:"-"`
}

// Picture shows one of the deck's media.
type Picture struct {
	Media string `json:"media"`          // the key in Deck.Media
	Crop  *Crop  `json:"crop,omitempty"` // nil: all of it is shown

	Extra Extra `json:"-"`
}

// Crop is how much of a picture's edges is not shown, in fractions (0-1) of its size.
type Crop struct {
	Left   float64 `json:"l,omitempty"` // of the left edge
	Top    float64 `json:"t,omitempty"` // of the upper edge
	Right  float64 `json:"r,omitempty"` // of the right edge
	Bottom float64 `json:"b,omitempty"` // of the lower edge

	Extra Extra `json:"-"`
}

// Shape is a drawn figure in the element's box.
type Shape struct {
	// A preset of ECMA-376 (20.1.10.56), e.g. rect, ellipse, roundRect, line; a figure without one is a rect.
	Geometry  string  `json:"geometry"`
	Fill      string  `json:"fill,omitempty"`       // a colour; empty: none
	Line      string  `json:"line,omitempty"`       // the colour of the outline; empty: none
	LineWidth int64   `json:"line_width,omitempty"` // in EMU; 0: 12700
	HeadEnd   string  `json:"head_end,omitempty"`   // of a line: triangle, arrow, oval …; empty: none
	TailEnd   string  `json:"tail_end,omitempty"`   // as HeadEnd
	Opacity   float64 `json:"opacity,omitempty"`    // of the fill, 0-1; 0: 1
	Paths     []Path  `json:"paths,omitempty"`      // of the geometry custom

	Extra Extra `json:"-"`
}

// Path is a line of a figure that is not a preset, in a space of its own that is stretched to the element's box.
type Path struct {
	Width  int64 `json:"width"`  // of its space
	Height int64 `json:"height"` // of its space
	// Commands as in SVG with absolute coordinates: M x y, L x y, C x1 y1 x2 y2 x y, Z.
	Commands string `json:"commands"`
	NoFill   bool   `json:"no_fill,omitempty"` // it is not filled

	Extra Extra `json:"-"`
}

// Chart is a chart with its data.
type Chart struct {
	Kind       ChartKind `json:"kind"`                 // how it draws its values
	Grouping   Grouping  `json:"grouping,omitempty"`   // of bars, lines and areas; empty: clustered
	Title      string    `json:"title,omitempty"`      // empty: none
	Categories []string  `json:"categories,omitempty"` // not of scatter and bubble
	// Levels of categories above Categories, the innermost first: a text for each category; empty: as for the one before.
	Groups     [][]string `json:"category_groups,omitempty"`
	Series     []Series   `json:"series"`                // one line, set of bars or ring each
	XTitle     string     `json:"x_title,omitempty"`     // of the axis of categories
	YTitle     string     `json:"y_title,omitempty"`     // of the axis of values
	Y2Title    string     `json:"y2_title,omitempty"`    // of the second axis of values
	Filled     bool       `json:"filled,omitempty"`      // of radar: its areas are filled
	BottomUp   bool       `json:"bottom_up,omitempty"`   // of bar: the first category is at the bottom
	Legend     Legend     `json:"legend,omitempty"`      // where it is; empty: none
	DataLabels bool       `json:"data_labels,omitempty"` // values are written at their points
	Format     string     `json:"format,omitempty"`      // of values: a number format; empty: General
	// The number format of categories that are numbers; empty: they are texts.
	CategoryFormat string `json:"category_format,omitempty"`

	Extra Extra `json:"-"`
}

// ChartKind is how a chart draws its values.
type ChartKind string

// The kinds of charts.
const (
	BarChart      ChartKind = "bar" // horizontal
	ColumnChart   ChartKind = "column"
	LineChart     ChartKind = "line"
	AreaChart     ChartKind = "area"
	PieChart      ChartKind = "pie"
	DoughnutChart ChartKind = "doughnut"
	ScatterChart  ChartKind = "scatter"
	BubbleChart   ChartKind = "bubble"
	RadarChart    ChartKind = "radar"
)

// Grouping is how several series share a category.
type Grouping string

// The groupings.
const (
	Clustered      Grouping = "clustered" // side by side; of lines and areas: each from zero
	Stacked        Grouping = "stacked"
	PercentStacked Grouping = "percent_stacked"
)

// Legend is where a chart's legend is.
type Legend string

// The places of a legend.
const (
	LegendRight  Legend = "right"
	LegendLeft   Legend = "left"
	LegendTop    Legend = "top"
	LegendBottom Legend = "bottom"
)

// Series is the values of one line, set of bars or ring.
type Series struct {
	Name   string     `json:"name"`            // in the legend
	Values []*float64 `json:"values"`          // one for each category, or X; null: there is none
	X      []*float64 `json:"x,omitempty"`     // of scatter and bubble
	Sizes  []*float64 `json:"sizes,omitempty"` // of bubble
	Color  string     `json:"color,omitempty"` // empty: the theme's next accent
	Kind   ChartKind  `json:"kind,omitempty"`  // in a chart of several kinds; empty: the chart's
	// With the others of its kind and axis; empty: the chart's if it is of the chart's kind, else clustered.
	Grouping  Grouping `json:"grouping,omitempty"`
	Secondary bool     `json:"secondary,omitempty"`  // it has the second axis of values, at the other side
	Format    string   `json:"format,omitempty"`     // of its values; empty: the chart's
	Joined    bool     `json:"joined,omitempty"`     // of scatter: a line joins its points
	Smooth    bool     `json:"smooth,omitempty"`     // its line is a curve
	NoMarkers bool     `json:"no_markers,omitempty"` // of line, scatter and radar: its points are not marked

	Extra Extra `json:"-"`
}

// KindOf is the kind of a series. The axes of a chart are those of its own kind: points among categories are a line,
// and categories among points are points.
func (c *Chart) KindOf(s *Series) ChartKind {
	switch {
	case s.Kind == "" || c.Kind.Pointed():
		return c.Kind
	case s.Kind.Pointed():
		return LineChart
	default:
		return s.Kind
	}
}

// Pointed reports whether the points of a kind have two numbers.
func (k ChartKind) Pointed() bool { return k == ScatterChart || k == BubbleChart }

// GroupingOf is the grouping of a series. Clustered: it stands for itself.
func (c *Chart) GroupingOf(s *Series) Grouping {
	g := s.Grouping
	if g == "" && c.KindOf(s) == c.Kind {
		g = c.Grouping
	}
	if g != Stacked && g != PercentStacked {
		return Clustered
	}
	return g
}

// FormatOf is the number format of a series' values; empty: General.
func (c *Chart) FormatOf(s *Series) string {
	if s.Format != "" {
		return s.Format
	}
	return c.Format
}

// Plot is what series have in common that are drawn together.
type Plot struct {
	Kind      ChartKind
	Grouping  Grouping
	Secondary bool
}

// PlotOf is the plot of a series.
func (c *Chart) PlotOf(s *Series) Plot { return Plot{c.KindOf(s), c.GroupingOf(s), s.Secondary} }
