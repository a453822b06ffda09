package pptx

import (
	"math"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// place writes where an element is, as an element of the name, a:xfrm or p:xfrm.
func (d *drawing) place(name string, b *deck.Box) {
	rotation := int64(math.Round(math.Mod(b.Rotation+360, 360) * 60000))
	d.m.begin(name, "rot", numOr(rotation), "flipH", flag(b.FlipH), "flipV", flag(b.FlipV))
	d.m.empty("a:off", "x", num(b.X), "y", num(b.Y))
	d.m.empty("a:ext", "cx", num(b.W), "cy", num(b.H))
	d.m.end()
}

// box is where an element is. One without any place is in the middle.
func (d *drawing) box(e *deck.Element) *deck.Box {
	if b := d.layout.Place(e); b != nil {
		return b
	}
	size := d.deck.Size
	return &deck.Box{X: size.Width / 10, Y: size.Height / 4, W: size.Width * 8 / 10, H: size.Height / 2}
}

// fills returns the type and index of the placeholder that an element fills; ok is false if it fills none, or another
// element fills that.
func (d *drawing) fills(e *deck.Element) (p *deck.Placeholder, kind, index string, ok bool) {
	if !d.slide || e.Role == "" || e.Kind != deck.TextElement && e.Kind != deck.ShapeElement {
		return nil, "", "", false
	}
	if p = d.layout.Placeholder(e.Role, e.Index); p == nil {
		return nil, "", "", false
	}
	if t := d.options.Template; t != nil {
		kind, index = t.holder(d.layout.ID, p)
	} else {
		kind, index = holderType(d.layout, p)
	}
	if d.holders[kind+" "+index] {
		return nil, "", "", false
	}
	d.holders[kind+" "+index] = true
	return p, kind, index, true
}

// shape writes text or a figure.
func (d *drawing) shape(e *deck.Element) {
	m := d.m
	p, kind, index, held := d.fills(e)
	m.begin("p:sp")
	m.begin("p:nvSpPr")
	name := "Text"
	switch {
	case held && e.Role == deck.TitleRole:
		name = "Title"
	case held:
		name = "Placeholder"
	case e.Shape != nil:
		name = "Shape"
	}
	d.properties(e, name)
	switch {
	case held:
		m.begin("p:cNvSpPr")
		m.empty("a:spLocks", "noGrp", "1")
		m.end()
		m.begin("p:nvPr")
		m.empty("p:ph", "type", kind, "idx", index)
		m.end()
	case e.Shape == nil:
		m.empty("p:cNvSpPr", "txBox", "1")
		m.empty("p:nvPr")
	default:
		m.empty("p:cNvSpPr")
		m.empty("p:nvPr")
	}
	m.end()
	m.begin("p:spPr")
	if !held || e.Box != nil && (p.Box == nil || !sameBox(*e.Box, *p.Box)) {
		d.place("a:xfrm", d.box(e))
	}
	d.geometry(e.Shape, held)
	m.end()
	d.body(e, held)
	m.end()
}

func sameBox(a, b deck.Box) bool {
	return a.X == b.X && a.Y == b.Y && a.W == b.W && a.H == b.H && a.Rotation == b.Rotation && a.FlipH == b.FlipH &&
		a.FlipV == b.FlipV
}

// geometry writes what a shape draws. A placeholder without a figure draws what its layout does.
func (d *drawing) geometry(s *deck.Shape, held bool) {
	m := d.m
	if s == nil {
		if !held {
			m.WriteString(`<a:prstGeom prst="rect"><a:avLst/></a:prstGeom><a:noFill/>`)
		}
		return
	}
	switch {
	case len(s.Paths) > 0:
		d.custom(s.Paths)
	case !held:
		m.begin("a:prstGeom", "prst", preset(s.Geometry))
		m.empty("a:avLst")
		m.end()
	}
	if s.Fill == "" {
		m.empty("a:noFill")
	} else {
		d.solid(m, s.Fill, s.Opacity)
	}
	if s.Line == "" {
		m.WriteString("<a:ln><a:noFill/></a:ln>")
		return
	}
	const most = 20116800 // ST_LineWidth (20.1.10.35)
	width := min(max(s.LineWidth, 0), most)
	if width == 0 {
		width = 12700
	}
	m.begin("a:ln", "w", num(width))
	d.solid(m, s.Line, 0)
	for _, end := range [][2]string{{"a:headEnd", s.HeadEnd}, {"a:tailEnd", s.TailEnd}} {
		if lineEnds[end[1]] {
			m.empty(end[0], "type", end[1])
		}
	}
	m.end()
}

var lineEnds = map[string]bool{"triangle": true, "stealth": true, "diamond": true, "oval": true, "arrow": true}

// preset is a name that is safe to write: programs refuse files with one that they don't know.
func preset(name string) string {
	if slices.Contains(strings.Fields(presetNames), name) {
		return name
	}
	return "rect"
}

// presetNames are those of ST_ShapeType (20.1.10.56).
const presetNames = `line lineInv triangle rtTriangle rect diamond parallelogram trapezoid nonIsoscelesTrapezoid pentagon
	hexagon heptagon octagon decagon dodecagon star4 star5 star6 star7 star8 star10 star12 star16 star24 star32 roundRect
	round1Rect round2SameRect round2DiagRect snipRoundRect snip1Rect snip2SameRect snip2DiagRect plaque ellipse teardrop
	homePlate chevron pieWedge pie blockArc donut noSmoking rightArrow leftArrow upArrow downArrow stripedRightArrow
	notchedRightArrow bentUpArrow leftRightArrow upDownArrow leftUpArrow leftRightUpArrow quadArrow leftArrowCallout
	rightArrowCallout upArrowCallout downArrowCallout leftRightArrowCallout upDownArrowCallout quadArrowCallout bentArrow
	uturnArrow circularArrow leftCircularArrow leftRightCircularArrow curvedRightArrow curvedLeftArrow curvedUpArrow
	curvedDownArrow swooshArrow cube can lightningBolt heart sun moon smileyFace irregularSeal1 irregularSeal2 foldedCorner
	bevel frame halfFrame corner diagStripe chord arc leftBracket rightBracket leftBrace rightBrace bracketPair bracePair
	straightConnector1 bentConnector2 bentConnector3 bentConnector4 bentConnector5 curvedConnector2 curvedConnector3
	curvedConnector4 curvedConnector5 callout1 callout2 callout3 accentCallout1 accentCallout2 accentCallout3 borderCallout1
	borderCallout2 borderCallout3 accentBorderCallout1 accentBorderCallout2 accentBorderCallout3 wedgeRectCallout
	wedgeRoundRectCallout wedgeEllipseCallout cloudCallout cloud ribbon ribbon2 ellipseRibbon ellipseRibbon2 leftRightRibbon
	verticalScroll horizontalScroll wave doubleWave plus flowChartProcess flowChartDecision flowChartInputOutput
	flowChartPredefinedProcess flowChartInternalStorage flowChartDocument flowChartMultidocument flowChartTerminator
	flowChartPreparation flowChartManualInput flowChartManualOperation flowChartConnector flowChartPunchedCard
	flowChartPunchedTape flowChartSummingJunction flowChartOr flowChartCollate flowChartSort flowChartExtract flowChartMerge
	flowChartOfflineStorage flowChartOnlineStorage flowChartMagneticTape flowChartMagneticDisk flowChartMagneticDrum
	flowChartDisplay flowChartDelay flowChartAlternateProcess flowChartOffpageConnector actionButtonBlank actionButtonHome
	actionButtonHelp actionButtonInformation actionButtonForwardNext actionButtonBackPrevious actionButtonEnd
	actionButtonBeginning actionButtonReturn actionButtonDocument actionButtonSound actionButtonMovie gear6 gear9 funnel
	mathPlus mathMinus mathMultiply mathDivide mathEqual mathNotEqual cornerTabs squareTabs plaqueTabs chartX chartStar
	chartPlus`

// custom writes the paths of a figure.
func (d *drawing) custom(paths []deck.Path) {
	m := d.m
	m.begin("a:custGeom")
	m.WriteString(`<a:avLst/><a:gdLst/><a:ahLst/><a:cxnLst/><a:rect l="0" t="0" r="r" b="b"/>`)
	m.begin("a:pathLst")
	for _, p := range paths {
		fill := ""
		if p.NoFill {
			fill = "none"
		}
		m.begin("a:path", "w", num(max(p.Width, 0)), "h", num(max(p.Height, 0)), "fill", fill)
		for _, c := range p.Parse() {
			if c.Letter == 'Z' {
				m.empty("a:close")
				continue
			}
			m.begin(map[byte]string{'M': "a:moveTo", 'L': "a:lnTo", 'C': "a:cubicBezTo"}[c.Letter])
			for i := 0; i < len(c.Points); i += 2 {
				m.empty("a:pt", "x", num(c.Points[i]), "y", num(c.Points[i+1]))
			}
			m.end()
		}
		m.end()
	}
	m.ends(2)
}

// picture writes a picture. In place of one that can't be shown is a box with its description.
func (d *drawing) picture(e *deck.Element) {
	m, part := d.m, d.media[e.Picture.Media]
	if part == "" {
		d.shape(&deck.Element{
			Kind: deck.ShapeElement, Name: e.Name, Alt: e.Alt, Box: d.box(e),
			Shape: &deck.Shape{Geometry: "rect", Fill: "light2", Line: "accent1"},
			Text:  &deck.Text{Anchor: deck.AnchorMiddle, Paragraphs: []deck.Paragraph{{Align: deck.AlignCenter, Runs: []deck.Run{{Text: e.Alt, Color: "dark1"}}}}},
		})
		return
	}
	m.begin("p:pic")
	m.begin("p:nvPicPr")
	d.properties(e, "Picture")
	m.WriteString(`<p:cNvPicPr><a:picLocks noChangeAspect="1"/></p:cNvPicPr><p:nvPr/>`)
	m.end()
	m.begin("p:blipFill")
	m.empty("a:blip", "r:embed", d.embed(part))
	if c := e.Picture.Crop; c != nil {
		m.empty("a:srcRect", "l", crop(c.Left), "t", crop(c.Top), "r", crop(c.Right), "b", crop(c.Bottom))
	}
	m.WriteString("<a:stretch><a:fillRect/></a:stretch>")
	m.end()
	m.begin("p:spPr")
	d.place("a:xfrm", d.box(e))
	m.WriteString(`<a:prstGeom prst="rect"><a:avLst/></a:prstGeom>`)
	m.ends(2)
}

func crop(part float64) string { return numOr(int(math.Round(clamp(part) * 100000))) }

// embed returns the relation to a picture: one for each.
func (d *drawing) embed(part string) string {
	for _, r := range d.relations {
		if r.kind == "image" && r.target == "/"+part {
			return r.id
		}
	}
	return d.relate("image", "/"+part, false)
}
