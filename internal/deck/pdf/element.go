package pdf

import (
	"math"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/pdf/tagged"
)

// element draws one element. group is where it goes into the structure tree; nil: it is decoration.
func (w *writer) element(layout *deck.Layout, e *deck.Element, group *tagged.Element) error {
	b := layout.Place(e)
	if b == nil {
		size := w.deck.Size
		b = &deck.Box{X: size.Width / 10, Y: size.Height / 4, W: size.Width * 8 / 10, H: size.Height / 2}
	}
	at := areaOf(b)
	w.untag()
	if b.Rotation != 0 || b.FlipH || b.FlipV {
		w.pdf.TransformBegin()
		defer w.pdf.TransformEnd()
		if b.Rotation != 0 {
			w.pdf.TransformRotate(-b.Rotation, at.x+at.w/2, at.y+at.h/2)
			w.turn = turn{b.Rotation * math.Pi / 180, at.x + at.w/2, at.y + at.h/2}
			defer func() { w.turn = turn{} }()
		}
	}
	defer w.untag()
	if e.Link != "" {
		if group != nil {
			group = group.Add(&tagged.Element{Type: "Link"})
		}
		w.link(group, e.Link, e.Alt, at)
	}
	switch e.Kind {
	case deck.TableElement:
		return w.table(e, at, group)
	case deck.PictureElement:
		return w.picture(e, at, b, w.drawn(group, e.Alt, at))
	case deck.ChartElement:
		w.tag(w.drawn(group, chartAlt(e), at))
		w.chart(e.Chart, at)
	case deck.TextElement, deck.ShapeElement:
		if e.Shape != nil {
			w.tag(nil)
			if e.Alt != "" && (e.Text == nil || strings.TrimSpace(e.Text.Plain()) == "") {
				w.tag(w.drawn(group, e.Alt, at))
			}
			w.figure(e.Shape, at, b)
		}
		if e.Text != nil {
			w.text(layout, e, at, w.paragraphs(e, group))
		}
	}
	return nil
}

// paragraphs is how a text goes into the tree: a title as one heading, any other by its paragraphs.
func (w *writer) paragraphs(e *deck.Element, group *tagged.Element) *flow {
	if group == nil || e.Role != deck.TitleRole {
		return newFlow(group, false)
	}
	return newFlow(group.Add(&tagged.Element{Type: w.title}), true)
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
