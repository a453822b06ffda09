// Package chart reads the charts of Office files (DrawingML, ECMA-376 part 1, 21.2): the title, and the cached
// values as a table of categories by series. Series of a scatter chart with different values of x have tables of their own.
package chart

import (
	"encoding/xml"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	maxCells = 500_000 // of the table; more than a chart can show
	maxText  = 32 << 10
	maxAxes  = 4
	scatter  = "Scatter chart"
)

// chart is a chart being read.
type chart struct {
	d      *ooxml.Decoder
	spend  func(bytes int) error
	kind   string
	title  string
	across string   // title of the axis of categories
	values []string // titles of the other axes
	series []series
	points int

	epoch1904 bool // dates count days from 1904
}

// series is a c:ser. Empty cells have no point.
type series struct {
	name       string
	categories points
	values     points
	scattered  bool // its categories are its own values of x
}

// points maps indexes to texts.
type points map[int]string

// Read returns the blocks of a chart part: its title, its kind, and its table; none if it has no values. The
// blocks get their page and box from like. spend charges text as soon as it is held in memory. The error is
// spend's, or quota_exceeded for more values than a chart can show.
func Read(d *ooxml.Decoder, like extract.Block, spend func(bytes int) error) ([]extract.Block, error) {
	c := &chart{d: d, spend: spend}
	err := d.Each(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "date1904":
			c.epoch1904 = ooxml.On(ooxml.Attr(start, "val"), true)
		case "title":
			text, err := c.text()
			if c.title == "" && c.kind == "" {
				c.title = text
			}
			return err
		case "catAx", "valAx", "dateAx", "serAx":
			return c.axis(start.Name.Local)
		case "ser":
			return c.ser()
		case "txPr", "spPr", "dLbls", "extLst":
			return d.Skip()
		}
		if name, ok := strings.CutSuffix(start.Name.Local, "Chart"); ok && c.kind == "" {
			c.kind = kind(name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c.blocks(like)
}

// axis reads the title of an axis. A scatter chart has two axes of values, of which the first is across.
func (c *chart) axis(kind string) error {
	return c.d.Children(func(start xml.StartElement) error {
		if start.Name.Local != "title" {
			return c.d.Skip()
		}
		text, err := c.text()
		switch {
		case text == "":
		case c.across == "" && (kind == "catAx" || kind == "dateAx" || c.kind == scatter):
			c.across = text
		case len(c.values) < maxAxes:
			c.values = append(c.values, text)
		}
		return err
	}, nil)
}

// kind returns a readable name of a chart element.
func kind(element string) string {
	switch strings.TrimSuffix(element, "3D") {
	case "bar":
		return "Bar chart"
	case "line":
		return "Line chart"
	case "pie", "doughnut", "ofPie":
		return "Pie chart"
	case "scatter":
		return scatter
	case "area":
		return "Area chart"
	}
	return "Other chart"
}

func (c *chart) ser() error {
	var s series
	if c.points++; c.points > maxCells { // it is held, even without values
		return tooLarge()
	}
	err := c.d.Children(func(start xml.StartElement) (err error) {
		switch start.Name.Local {
		case "tx":
			s.name, err = c.text()
		case "cat", "xVal":
			s.scattered = start.Name.Local == "xVal"
			s.categories, err = c.data()
		case "val", "yVal":
			s.values, err = c.data()
		default:
			err = c.d.Skip()
		}
		return err
	}, nil)
	c.series = append(c.series, s)
	return err
}

// text returns the text within an element: of paragraphs, or cached from a cell. It charges the text, and has at most maxText
// bytes of it.
func (c *chart) text() (string, error) {
	var b strings.Builder
	var walk func() error
	walk = func() error {
		return c.d.Children(func(start xml.StartElement) error {
			switch start.Name.Local {
			case "t", "v":
				text, err := c.d.Text(maxText)
				if err != nil {
					return err
				}
				text = c.clip(text, maxText-b.Len())
				b.WriteString(text)
				return c.spend(len(text))
			case "p", "pt":
				if b.Len() < maxText {
					b.WriteByte(' ')
				}
			case "f", "txPr", "spPr", "layout", "extLst":
				return c.d.Skip()
			}
			return walk()
		}, nil)
	}
	err := walk()
	return strings.Join(strings.Fields(b.String()), " "), err
}

// point reads a c:pt, whose text is shown as format says.
func (c *chart) point(into points, start xml.StartElement, format func(string) string) error {
	if c.points++; c.points > maxCells {
		return tooLarge()
	}
	index := ooxml.Int(ooxml.Attr(start, "idx"), len(into)) // one for all its values, because only the point is counted
	return c.d.Children(func(child xml.StartElement) error {
		if child.Name.Local != "v" {
			return c.d.Skip()
		}
		text, err := c.d.Text(maxText)
		if err != nil {
			return err
		}
		into[index] = format(text)
		return c.spend(len(into[index]))
	}, nil)
}

func tooLarge() error {
	return taskerr.Errorf(taskerr.QuotaExceeded, "a chart holds more than %d values: it is not read", maxCells)
}

func (c *chart) blocks(like extract.Block) ([]extract.Block, error) {
	tables := c.tables()
	cells := 0
	for _, t := range tables {
		if cells += len(t.indexes)*(len(t.series)+1) + tableCost; cells > maxCells {
			return nil, tooLarge()
		}
	}
	var out []extract.Block
	add := func(kind extract.Kind, text string) {
		if text != "" {
			b := like
			b.Kind, b.Text = kind, text
			out = append(out, b)
		}
	}
	add(extract.Caption, c.title)
	c.values = slices.DeleteFunc(c.values, func(title string) bool { // the table has it
		return title == c.title || slices.ContainsFunc(c.series, func(s series) bool { return s.name == title })
	})
	if len(c.values) > 0 && c.kind != "" {
		c.kind += " (" + strings.Join(c.values, ", ") + ")"
	}
	add(extract.Picture, c.kind)
	emit := func(b extract.Block) error {
		out = append(out, b)
		return nil
	}
	for _, t := range tables {
		if err := t.write(c.across, emit, like); err != nil {
			return nil, err
		}
	}
	return out, nil
}
