package pptx

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/typeset"
)

var anchorNames = map[deck.Anchor]string{deck.AnchorTop: "t", deck.AnchorMiddle: "ctr", deck.AnchorBottom: "b"}

var alignNames = map[deck.Align]string{
	deck.AlignLeft: "l", deck.AlignCenter: "ctr", deck.AlignRight: "r", deck.AlignJustify: "just",
}

// Limits of ST_TextMargin (20.1.10.72) in EMU, and of ST_TextSpacingPoint (20.1.10.75) in hundredths of a point: programs
// call a file with more damaged.
const (
	maxMargin = 51206400
	maxSpace  = 158400
)

func margin(n int64) int64 { return min(max(n, 0), maxMargin) }

// body writes the text of a shape: p:txBody.
func (d *drawing) body(e *deck.Element, held bool) {
	m, t := d.m, e.Text
	if t == nil {
		if held {
			m.WriteString("<p:txBody><a:bodyPr/><a:lstStyle/><a:p/></p:txBody>")
		}
		return
	}
	m.begin("p:txBody")
	d.bodyProperties(t, held)
	if len(t.Styles) > 0 && (!held || d.options.Template == nil) {
		m.begin("a:lstStyle")
		d.styles(t.Styles)
		m.end()
	} else {
		m.empty("a:lstStyle")
	}
	d.paragraphs(t, func(level int) deck.Style { return d.layout.Style(e, level) })
	m.end()
}

func (d *drawing) bodyProperties(t *deck.Text, held bool) {
	m := d.m
	attrs := []string{"wrap", ""}
	switch {
	case t.NoWrap:
		attrs[1] = "none"
	case !held:
		attrs[1] = "square"
	}
	if in := t.Inset; in != nil {
		attrs = append(attrs, "lIns", num(margin(in.Left)), "tIns", num(margin(in.Top)), "rIns", num(margin(in.Right)), "bIns", num(margin(in.Bottom)))
	}
	attrs = append(attrs, "anchor", anchorNames[t.Anchor])
	m.begin("a:bodyPr", attrs...)
	if t.Scale > 0 && t.Scale < 1 {
		m.empty("a:normAutofit", "fontScale", num(int(math.Round(t.Scale*1000))*100))
	}
	m.end()
}

// paragraphs writes the paragraphs of a text; there is at least one.
func (d *drawing) paragraphs(t *deck.Text, style func(level int) deck.Style) {
	if len(t.Paragraphs) == 0 {
		d.m.empty("a:p")
	}
	for i := range t.Paragraphs {
		p := &t.Paragraphs[i]
		d.paragraph(p, style(p.Level))
	}
}

func (d *drawing) paragraph(p *deck.Paragraph, st deck.Style) {
	m := d.m
	m.begin("a:p")
	align := p.Align
	if align == "" && st.Align == "" && p.RTL != nil && (*p.RTL || st.RTL) {
		align = map[bool]deck.Align{false: deck.AlignLeft, true: deck.AlignRight}[*p.RTL]
	}
	attrs := []string{"marL", "", "indent", "", "lvl", numOr(p.Level), "algn", alignNames[align]}
	if p.RTL != nil {
		attrs = append(attrs, "rtl", bit(*p.RTL))
	}
	if p.List != nil && p.List.Kind != deck.NoList && (st.List == nil || st.Margin == 0) {
		const step = int(typeset.ListStep)
		attrs[1], attrs[3] = num(step*(p.Level+1)), num(-step)
	} else if p.List != nil && p.List.Kind == deck.NoList && st.Indent < 0 {
		attrs[1], attrs[3] = num(margin(st.Margin+st.Indent)), "0"
	}
	m.begin("a:pPr", attrs...)
	if p.Before > 0 {
		m.begin("a:spcBef")
		m.empty("a:spcPts", "val", num(min(p.Before, maxSpace)))
		m.end()
	}
	d.list(p.List)
	m.end()
	for i := range p.Runs {
		d.run(&p.Runs[i])
	}
	m.end()
}

func (d *drawing) list(l *deck.List) {
	if l == nil {
		return
	}
	m := d.m
	switch l.Kind {
	case deck.NoList:
		m.empty("a:buNone")
	case deck.NumberList:
		scheme, start := l.Scheme, ""
		if !slices.Contains(strings.Fields(numberSchemes), scheme) {
			scheme = "arabicPeriod"
		}
		if l.Start > 1 && l.Start <= 32767 {
			start = num(l.Start)
		}
		m.empty("a:buFont", "typeface", "+mj-lt")
		m.empty("a:buAutoNum", "type", scheme, "startAt", start)
	case deck.BulletList:
		char := clip(l.Char, 4)
		if char == "" {
			char = "•"
		}
		m.empty("a:buFont", "typeface", "Arial")
		m.empty("a:buChar", "char", char)
	}
}

// numberSchemes are ST_TextAutonumberScheme (20.1.10.61).
const numberSchemes = `alphaLcParenBoth alphaUcParenBoth alphaLcParenR alphaUcParenR alphaLcPeriod alphaUcPeriod
	arabicParenBoth arabicParenR arabicPeriod arabicPlain romanLcParenBoth romanUcParenBoth romanLcParenR romanUcParenR
	romanLcPeriod romanUcPeriod circleNumDbPlain circleNumWdBlackPlain circleNumWdWhitePlain arabicDbPeriod arabicDbPlain
	ea1ChsPeriod ea1ChsPlain ea1ChtPeriod ea1ChtPlain ea1JpnChsDbPeriod ea1JpnKorPlain ea1JpnKorPeriod arabic1Minus
	arabic2Minus hebrew2Minus thaiAlphaPeriod thaiAlphaParenR thaiAlphaParenBoth thaiNumPeriod thaiNumParenR
	thaiNumParenBoth hindiAlphaPeriod hindiNumPeriod hindiNumParenR hindiAlpha1Period`

// run writes the lines of a run; between them are line breaks.
func (d *drawing) run(r *deck.Run) {
	m := d.m
	if kind := map[string]string{"slide_number": "slidenum", "date": "datetime1"}[r.Field]; kind != "" {
		id := "{B6F15528-21DE-4FAA-801E-634DDDAF4B2B}"
		if kind != "slidenum" {
			id = "{D5A1C3D0-6F1B-4E29-9C0B-5F0B4E2A7C11}"
		}
		m.begin("a:fld", "id", id, "type", kind)
		d.runProperties(r)
		text := r.Text
		if text == "" {
			text = "‹#›"
		}
		m.leaf("a:t", strings.ReplaceAll(text, "\n", " "))
		m.end()
		return
	}
	for i, line := range strings.Split(r.Text, "\n") {
		if i > 0 {
			m.begin("a:br")
			d.runProperties(&deck.Run{Size: r.Size, Language: r.Language})
			m.end()
		}
		if line == "" {
			continue
		}
		m.begin("a:r")
		d.runProperties(r)
		m.leaf("a:t", line)
		m.end()
	}
}

func (d *drawing) runProperties(r *deck.Run) {
	m := d.m
	language := r.Language
	if language == "" {
		language = d.deck.Language
	}
	attrs := []string{"lang", language, "sz", points(r.Size)}
	if r.Bold != nil {
		attrs = append(attrs, "b", bit(*r.Bold))
	}
	if r.Italic != nil {
		attrs = append(attrs, "i", bit(*r.Italic))
	}
	if r.Underline {
		attrs = append(attrs, "u", "sng")
	}
	if r.Strike {
		attrs = append(attrs, "strike", "sngStrike")
	}
	attrs = append(attrs, "baseline", numOr(min(max(r.Baseline, -100), 100)*1000))
	m.begin("a:rPr", attrs...)
	if r.Color != "" {
		d.solid(m, r.Color, 0)
	}
	d.font(r.Font)
	d.link(r.Link)
	m.end()
}

// points is a size in hundredths of a point, within ST_TextFontSize.
func points(size float64) string {
	if size == 0 {
		return ""
	}
	return num(int(math.Round(min(max(size, 1), 4000) * 100)))
}

func (d *drawing) font(family string) {
	switch family {
	case "":
		return
	case "major":
		family = "+mj-lt"
	case "minor":
		family = "+mn-lt"
	}
	d.m.empty("a:latin", "typeface", family)
}

// styles writes the levels of a list of styles: a:lvl1pPr and so on.
func (d *drawing) styles(styles []deck.Style) {
	for i := range levels {
		st := deck.StyleAt(styles, i)
		m := d.m
		if st.Align == "" && st.RTL {
			st.Align = deck.AlignRight // programs begin at the left where no one says so
		}
		m.begin(fmt.Sprintf("a:lvl%dpPr", i+1), "marL", num(margin(st.Margin)),
			"indent", num(min(max(st.Indent, -maxMargin), maxMargin)), "algn", alignNames[st.Align], "rtl", bit(st.RTL))
		if st.Line > 0 {
			m.begin("a:lnSpc")
			m.empty("a:spcPct", "val", num(int(math.Round(min(max(st.Line, 0.2), 10)*100000))))
			m.end()
		}
		m.begin("a:spcBef")
		m.empty("a:spcPts", "val", num(min(max(st.Before, 0), maxSpace)))
		m.end()
		if st.List == nil {
			m.empty("a:buNone")
		} else {
			d.list(st.List)
		}
		size := st.Size
		if size == 0 {
			size = deck.DefaultSize
		}
		m.begin("a:defRPr", "sz", points(size), "b", bit(st.Bold), "i", bit(st.Italic))
		color := st.Color
		if color == "" {
			color = "dark1"
		}
		d.solid(m, color, 0)
		font := st.Font
		if font == "" {
			font = "minor"
		}
		d.font(font)
		m.ends(2)
	}
}
