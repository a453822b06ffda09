package deck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Limits of a deck that is read. More is not a deck that people show.
const (
	MaxSlides   = 5000
	MaxElements = 200_000 // of all slides, with the cells of tables
	maxBytes    = 256 << 20
	maxLevel    = 8
	maxEMU      = 51206400 * 16 // 16 of the largest slides (20.1.10.42)
	minSlide    = 914400        // ST_SlideSizeCoordinate (19.7.18)
	maxSlide    = 51206400      // the same
	maxLink     = 4000          // bytes
	maxPoint    = 4000          // of the size of a text
	maxLines    = 100           // of the height of a line, in lines
	// More JSON objects and values than a deck within the other limits has: what is decoded takes many times their bytes.
	maxObjects = 2_000_000
	maxValues  = 10_000_000
	maxPoints  = 500_000 // of one chart
)

// Read reads a deck's JSON and checks it. Its errors are *taskerr.Error of validation_error.
func Read(r io.Reader) (*Deck, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the deck: %w", err)
	}
	if len(data) > maxBytes {
		return nil, taskerr.Errorf(taskerr.QuotaExceeded, "the deck has more than %d MB", maxBytes>>20)
	}
	if bytes.Count(data, []byte("{")) > maxObjects || bytes.Count(data, []byte(",")) > maxValues {
		return nil, taskerr.Errorf(taskerr.QuotaExceeded, "the deck has more than %d objects or %d values", maxObjects, maxValues)
	}
	d := &Deck{}
	if err := json.Unmarshal(data, d); err != nil {
		return nil, taskerr.Errorf(taskerr.ValidationError,
			"the deck is not JSON of docs/schemas/deck.schema.json (%s)", problem(err))
	}
	return d, d.Check()
}

// problem is what is wrong with JSON, without any of its text.
func problem(err error) string {
	switch e := err.(type) { //nolint:errorlint // json.Unmarshal returns them bare
	case *json.UnmarshalTypeError:
		return fmt.Sprintf("%s is a %s", e.Field, e.Value)
	case *json.SyntaxError:
		return fmt.Sprintf("at byte %d", e.Offset)
	}
	return "it can't be read"
}

// Write writes a deck's JSON: the same bytes for the same deck.
func Write(w io.Writer, d *Deck) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return fmt.Errorf("write the deck as JSON: %w", err)
	}
	return nil
}

// Check checks what writers rely on. Its errors are *taskerr.Error of validation_error that name the place.
func (d *Deck) Check() error {
	switch {
	case d.Version < 1 || d.Version > Version:
		return invalid("version", "is %d; this worker knows 1 to %d", d.Version, Version)
	case d.Size.Width < minSlide || d.Size.Height < minSlide || d.Size.Width > maxSlide || d.Size.Height > maxSlide:
		return invalid("size", "is not that of a slide in EMU (914,400 to the inch)")
	case len(d.Slides) > MaxSlides:
		return taskerr.Errorf(taskerr.QuotaExceeded, "the deck has more than %d slides", MaxSlides)
	}
	c := &checker{deck: d}
	for name, color := range d.Theme.Colors {
		if !hexColor(color) {
			return invalid("theme.colors."+name, "is not of the form #RRGGBB")
		}
	}
	for i, l := range d.Layouts {
		for k := range l.Elements {
			c.element(fmt.Sprintf("layouts[%d].elements[%d]", i, k), &l.Elements[k])
		}
		c.color(fmt.Sprintf("layouts[%d].background", i), l.Background)
		for k, p := range l.Placeholders {
			at := fmt.Sprintf("layouts[%d].placeholders[%d]", i, k)
			c.box(at+".box", p.Box)
			c.styles(at+".styles", p.Styles)
		}
	}
	for i, s := range d.Slides {
		at := fmt.Sprintf("slides[%d]", i)
		if s.Layout != "" && d.Layout(s.Layout) == nil {
			c.add(at+".layout", "is none of the deck's layouts")
		}
		c.color(at+".background", s.Background)
		for k := range s.Elements {
			c.element(fmt.Sprintf("%s.elements[%d]", at, k), &s.Elements[k])
		}
	}
	if c.count > MaxElements {
		return taskerr.Errorf(taskerr.QuotaExceeded, "the deck has more than %d elements and cells", MaxElements)
	}
	return c.err
}

// Layout returns the layout with the id, or nil.
func (d *Deck) Layout(id string) *Layout {
	i := slices.IndexFunc(d.Layouts, func(l Layout) bool { return l.ID == id })
	if i < 0 {
		return nil
	}
	return &d.Layouts[i]
}

func invalid(at, format string, args ...any) *taskerr.Error {
	return taskerr.Errorf(taskerr.ValidationError, "deck."+at+" "+format, args...)
}

// checker collects the first problem.
type checker struct {
	deck  *Deck
	count int
	err   error
}

func (c *checker) add(at, format string, args ...any) {
	if c.err == nil {
		c.err = invalid(at, format, args...)
	}
}

func (c *checker) color(at, color string) {
	if color != "" && !hexColor(color) && !slices.Contains(ColorNames, color) {
		c.add(at, "is neither of the form #RRGGBB nor a colour of the theme")
	}
}

// link checks an address. Others than those of the web and of mail run programs or open files where they are clicked.
func (c *checker) link(at, address string) {
	if address == "" || strings.HasPrefix(address, "#") && len(address) <= maxLink {
		return
	}
	u, err := url.Parse(address)
	web := err == nil && (strings.EqualFold(u.Scheme, "http") || strings.EqualFold(u.Scheme, "https")) && u.Host != ""
	mail := err == nil && strings.EqualFold(u.Scheme, "mailto") && u.Opaque != ""
	if !web && !mail || len(address) > maxLink {
		c.add(at, "is no address of http, https or mailto, nor a place such as #slide2")
	}
}

func (c *checker) element(at string, e *Element) {
	c.count++
	c.link(at+".link", e.Link)
	c.box(at+".box", e.Box)
	if e.Text != nil {
		c.text(at+".text", e.Text)
	}
	switch e.Kind {
	case TextElement:
		if e.Text == nil {
			c.add(at+".text", "is missing")
		}
	case TableElement:
		c.table(at+".table", e.Table)
	case PictureElement:
		if e.Picture == nil {
			c.add(at+".picture", "is missing")
		} else if _, there := c.deck.Media[e.Picture.Media]; !there {
			c.add(at+".picture.media", "is none of the deck's media")
		}
	case ChartElement:
		c.chart(at+".chart", e.Chart)
	case ShapeElement:
		if e.Shape == nil {
			c.add(at+".shape", "is missing")
		} else {
			c.color(at+".shape.fill", e.Shape.Fill)
			c.color(at+".shape.line", e.Shape.Line)
		}
	default:
		c.add(at+".kind", "is none of text, table, picture, chart, shape")
	}
}

func (c *checker) box(at string, b *Box) {
	if b != nil && (b.W < 0 || b.H < 0 || outside(b.X) || outside(b.Y) || b.W > maxEMU || b.H > maxEMU ||
		math.IsNaN(b.Rotation) || math.Abs(b.Rotation) > 360) {
		c.add(at, "is out of range")
	}
}

func (c *checker) styles(at string, styles []Style) {
	for i, s := range styles {
		place := fmt.Sprintf("%s[%d]", at, i)
		c.color(place+".color", s.Color)
		if !(s.Size >= 0 && s.Size <= maxPoint) {
			c.add(place+".size", "is not 0 to %d points", maxPoint)
		}
		if outside(s.Margin) || outside(s.Indent) {
			c.add(place, "has a margin or an indent that is out of range")
		}
		if !(s.Line >= 0 && s.Line <= maxLines) {
			c.add(place+".line", "is not 0 to %d", maxLines)
		}
	}
}

func outside(n int64) bool { return n < -maxEMU || n > maxEMU }

func (c *checker) text(at string, t *Text) {
	if t.Scale < 0 || t.Scale > 1 {
		c.add(at+".scale", "is not between 0 and 1")
	}
	c.styles(at+".styles", t.Styles)
	if in := t.Inset; in != nil && (outside(in.Left) || outside(in.Top) || outside(in.Right) || outside(in.Bottom)) {
		c.add(at+".inset", "is out of range")
	}
	for i, p := range t.Paragraphs {
		if p.Level < 0 || p.Level > maxLevel {
			c.add(fmt.Sprintf("%s.paragraphs[%d].level", at, i), "is not 0 to %d", maxLevel)
		}
		for k, r := range p.Runs {
			place := fmt.Sprintf("%s.paragraphs[%d].runs[%d]", at, i, k)
			c.color(place+".color", r.Color)
			c.link(place+".link", r.Link)
			if !utf8.ValidString(r.Text) {
				c.add(place+".text", "is not valid UTF-8")
			}
			if !(r.Size >= 0 && r.Size <= maxPoint) {
				c.add(place+".size", "is not 0 to %d points", maxPoint)
			}
		}
	}
}
