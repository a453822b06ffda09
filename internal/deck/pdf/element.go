package pdf

import (
	"math"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/typeset"
)

// element draws one element.
func (w *writer) element(layout *deck.Layout, e *deck.Element) error {
	b := layout.Place(e)
	if b == nil {
		size := w.deck.Size
		b = &deck.Box{X: size.Width / 10, Y: size.Height / 4, W: size.Width * 8 / 10, H: size.Height / 2}
	}
	at := areaOf(b)
	turned := b.Rotation != 0 || b.FlipH || b.FlipV
	if turned {
		w.pdf.TransformBegin()
		defer w.pdf.TransformEnd()
		if b.Rotation != 0 {
			w.pdf.TransformRotate(-b.Rotation, at.x+at.w/2, at.y+at.h/2)
		}
	}
	if e.Link != "" {
		w.link(e.Link, at)
	}
	switch e.Kind {
	case deck.TableElement:
		return w.table(e, at)
	case deck.PictureElement:
		return w.picture(e, at, b)
	case deck.ChartElement:
		w.chart(e.Chart, at)
	case deck.TextElement, deck.ShapeElement:
		if e.Shape != nil {
			w.figure(e.Shape, at, b)
		}
		if e.Text != nil {
			w.text(layout, e, at)
		}
	}
	return nil
}

// figure draws a shape.
func (w *writer) figure(s *deck.Shape, at area, b *deck.Box) {
	p := w.pdf
	style := ""
	if s.Fill != "" {
		style += "F"
		w.fill(s.Fill, "accent1")
	}
	if s.Line != "" {
		style += "D"
		w.stroke(s.Line, "dark1")
		width := 1.0
		if s.LineWidth > 0 {
			width = points(s.LineWidth)
		}
		p.SetLineWidth(width)
	}
	if style == "" {
		return
	}
	if b.FlipH || b.FlipV {
		p.TransformBegin()
		defer p.TransformEnd()
		if b.FlipH {
			p.TransformMirrorHorizontal(at.x + at.w/2)
		}
		if b.FlipV {
			p.TransformMirrorVertical(at.y + at.h/2)
		}
	}
	if s.Opacity > 0 && s.Opacity < 1 {
		p.SetAlpha(s.Opacity, "Normal")
		defer p.SetAlpha(1, "Normal")
	}
	if len(s.Paths) > 0 {
		w.paths(s.Paths, at, s.Fill != "", s.Line != "")
		return
	}
	w.preset(s, at, style)
}

// polygons are figures by their corners, in parts of width and height.
var polygons = map[string][]float64{
	"triangle": {0.5, 0, 1, 1, 0, 1}, "rtTriangle": {0, 0, 1, 1, 0, 1}, "diamond": {0.5, 0, 1, 0.5, 0.5, 1, 0, 0.5},
	"flowChartDecision": {0.5, 0, 1, 0.5, 0.5, 1, 0, 0.5}, "parallelogram": {0.25, 0, 1, 0, 0.75, 1, 0, 1},
	"flowChartInputOutput": {0.2, 0, 1, 0, 0.8, 1, 0, 1}, "trapezoid": {0.25, 0, 0.75, 0, 1, 1, 0, 1},
	"pentagon": {0.5, 0, 1, 0.38, 0.81, 1, 0.19, 1, 0, 0.38}, "hexagon": {0.25, 0, 0.75, 0, 1, 0.5, 0.75, 1, 0.25, 1, 0, 0.5},
	"octagon":   {0.29, 0, 0.71, 0, 1, 0.29, 1, 0.71, 0.71, 1, 0.29, 1, 0, 0.71, 0, 0.29},
	"homePlate": {0, 0, 0.75, 0, 1, 0.5, 0.75, 1, 0, 1}, "chevron": {0, 0, 0.75, 0, 1, 0.5, 0.75, 1, 0, 1, 0.25, 0.5},
	"rightArrow": {0, 0.25, 0.6, 0.25, 0.6, 0, 1, 0.5, 0.6, 1, 0.6, 0.75, 0, 0.75},
	"leftArrow":  {1, 0.25, 0.4, 0.25, 0.4, 0, 0, 0.5, 0.4, 1, 0.4, 0.75, 1, 0.75},
	"downArrow":  {0.25, 0, 0.25, 0.6, 0, 0.6, 0.5, 1, 1, 0.6, 0.75, 0.6, 0.75, 0},
	"upArrow":    {0.25, 1, 0.25, 0.4, 0, 0.4, 0.5, 0, 1, 0.4, 0.75, 0.4, 0.75, 1},
	"star5":      {0.5, 0, 0.62, 0.36, 1, 0.38, 0.7, 0.6, 0.81, 1, 0.5, 0.77, 0.19, 1, 0.3, 0.6, 0, 0.38, 0.38, 0.36},
	"plus":       {0.25, 0, 0.75, 0, 0.75, 0.25, 1, 0.25, 1, 0.75, 0.75, 0.75, 0.75, 1, 0.25, 1, 0.25, 0.75, 0, 0.75, 0, 0.25, 0.25, 0.25},
}

func (w *writer) preset(s *deck.Shape, at area, style string) {
	p := w.pdf
	switch s.Geometry {
	case "ellipse", "flowChartConnector", "oval":
		p.Ellipse(at.x+at.w/2, at.y+at.h/2, at.w/2, at.h/2, 0, style)
	case "roundRect", "flowChartAlternateProcess", "flowChartTerminator", "wedgeRoundRectCallout":
		p.RoundedRect(at.x, at.y, at.w, at.h, min(at.w, at.h)/6, "1234", style)
	case "line", "straightConnector1", "bentConnector2", "bentConnector3", "curvedConnector2", "curvedConnector3":
		p.Line(at.x, at.y, at.x+at.w, at.y+at.h)
		w.arrow(s, at)
	default:
		if corners := polygons[s.Geometry]; corners != nil {
			w.polygon(corners, at, style)
			return
		}
		p.Rect(at.x, at.y, at.w, at.h, style)
	}
}

func (w *writer) polygon(corners []float64, at area, style string) {
	w.pdf.MoveTo(at.x+corners[0]*at.w, at.y+corners[1]*at.h)
	for i := 2; i+1 < len(corners); i += 2 {
		w.pdf.LineTo(at.x+corners[i]*at.w, at.y+corners[i+1]*at.h)
	}
	w.pdf.ClosePath()
	w.pdf.DrawPath(style)
}

// arrow draws the ends of a line.
func (w *writer) arrow(s *deck.Shape, at area) {
	angle := math.Atan2(at.h, at.w)
	w.fill(s.Line, "dark1")
	size := max(points(s.LineWidth), 1) * 4
	head := func(x, y, angle float64) {
		w.pdf.MoveTo(x, y)
		for _, turn := range []float64{2.7, -2.7} {
			w.pdf.LineTo(x+size*math.Cos(angle+turn), y+size*math.Sin(angle+turn))
		}
		w.pdf.ClosePath()
		w.pdf.DrawPath("F")
	}
	if s.TailEnd != "" {
		head(at.x+at.w, at.y+at.h, angle)
	}
	if s.HeadEnd != "" {
		head(at.x, at.y, angle+math.Pi)
	}
}

func (w *writer) paths(all []deck.Path, at area, fill, line bool) {
	for _, path := range all {
		style := ""
		if fill && !path.NoFill {
			style = "F"
		}
		if line {
			style += "D"
		}
		if style == "" || path.Width <= 0 && path.Height <= 0 {
			continue
		}
		sx, sy := at.w/float64(max(path.Width, 1)), at.h/float64(max(path.Height, 1))
		xy := func(c deck.Command, i int) (x, y float64) {
			return at.x + float64(c.Points[i])*sx, at.y + float64(c.Points[i+1])*sy
		}
		drawn := false
		for _, c := range path.Parse() {
			switch c.Letter {
			case 'M':
				w.pdf.MoveTo(xy(c, 0))
			case 'L':
				w.pdf.LineTo(xy(c, 0))
			case 'C':
				x1, y1 := xy(c, 0)
				x2, y2 := xy(c, 2)
				x, y := xy(c, 4)
				w.pdf.CurveBezierCubicTo(x1, y1, x2, y2, x, y)
			default:
				w.pdf.ClosePath()
			}
			drawn = true
		}
		if drawn {
			w.pdf.DrawPath(style)
		}
	}
}

// table draws a table in the style of the deck's presentations: a dark header, thin lines, every second row shaded.
func (w *writer) table(e *deck.Element, at area) error {
	g, err := w.set.Table(e.Table, 0)
	if err != nil {
		return err
	}
	p := w.pdf
	for i, place := range g.Places {
		x, y := at.x+g.Columns[place.Column], at.y+g.Rows[place.Row]
		width := g.Columns[place.Column+place.ColSpan] - g.Columns[place.Column]
		height := g.Rows[min(place.Row+place.RowSpan, len(g.Rows)-1)] - g.Rows[place.Row]
		header := place.Row < e.Table.Headers
		switch {
		case place.Fill != "":
			w.fill(place.Fill, "light2")
			p.Rect(x, y, width, height, "F")
		case header:
			w.fill("dark2", "dark2")
			p.Rect(x, y, width, height, "F")
		case e.Table.Banded && (place.Row-e.Table.Headers)%2 == 0:
			w.fill("light2", "light2")
			p.Rect(x, y, width, height, "F")
		}
		p.SetDrawColor(190, 198, 208)
		p.SetLineWidth(0.5)
		p.Line(x, y+height, x+width, y+height)
		text := place.Text
		styles := func(level int) deck.Style {
			if len(text.Styles) > 0 {
				return deck.StyleAt(text.Styles, level)
			}
			return typeset.CellStyle(header)
		}
		in := typeset.CellInset()
		top := points(in.Top)
		switch text.Anchor {
		case deck.AnchorMiddle:
			top = max((height-g.Blocks[i].Height)/2, top)
		case deck.AnchorBottom:
			top = max(height-g.Blocks[i].Height-points(in.Bottom), top)
		case deck.AnchorTop:
		}
		w.lines(&text, g.Blocks[i], styles, x+points(in.Left), y+top)
	}
	return nil
}
