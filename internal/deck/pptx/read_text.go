package pptx

import (
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// body reads a p:txBody; nil: it has no text. held: it fills a placeholder of that kind and index.
func (s *sheet) body(n *node, kind string, index int, held bool) *deck.Text {
	if n == nil || strings.TrimSpace(n.words("t")) == "" && n.find("fld") == nil {
		return nil
	}
	properties := n.kid("bodyPr")
	t := &deck.Text{NoWrap: properties.attr("wrap") == "none"}
	if a := properties.attr("anchor"); a != "" {
		if t.Anchor = anchors[a]; t.Anchor == "" {
			t.Anchor = deck.AnchorTop
		}
	}
	t.Inset = insets(properties)
	if fit := properties.kid("normAutofit"); fit != nil {
		if scale := float64(fit.num("fontScale", 100000)) / 100000; scale >= 0.25 && scale < 1 {
			t.Scale = scale
		}
	}
	if list := n.kid("lstStyle"); held && list != nil && len(list.kids) > 0 {
		styles := make([]deck.Style, levels)
		inherited := s.look.styles(kind, index, s.defaults, &s.deck.Theme)
		for i := range styles {
			styles[i] = deck.StyleAt(inherited, i)
		}
		s.look.overlay(styles, list, &s.deck.Theme)
		t.Styles = shorter(styles)
	}
	for _, p := range n.all("p") {
		t.Paragraphs = append(t.Paragraphs, s.paragraph(p))
	}
	return t
}

func insets(n *node) *deck.Inset {
	d := deck.DefaultInset
	in := deck.Inset{
		Left: length(n, "lIns", d.Left), Top: length(n, "tIns", d.Top), Right: length(n, "rIns", d.Right),
		Bottom: length(n, "bIns", d.Bottom),
	}
	if in.Left == d.Left && in.Top == d.Top && in.Right == d.Right && in.Bottom == d.Bottom {
		return nil
	}
	return &in
}

// boxStyles are the looks of the text of a shape that is not a placeholder.
func (s *sheet) boxStyles(n, body *node) []deck.Style {
	styles := make([]deck.Style, levels)
	theme := &s.deck.Theme
	s.look.overlay(styles, s.defaults, theme)
	if s.look.master != nil {
		s.look.overlay(styles, s.look.master.styles.kid("otherStyle"), theme)
	}
	if ref := n.at("style", "fontRef"); ref != nil {
		if color := s.look.color(ref, theme); color != "" {
			for i := range styles {
				styles[i].Color = color
			}
		}
	}
	s.look.overlay(styles, body.kid("lstStyle"), theme)
	return shorter(styles)
}

// paragraph reads an a:p.
func (s *sheet) paragraph(n *node) deck.Paragraph {
	p := deck.Paragraph{Runs: []deck.Run{}}
	if properties := n.kid("pPr"); properties != nil {
		p.Level = int(min(max(properties.num("lvl", 0), 0), levels-1))
		p.Align = aligns[properties.attr("algn")]
		if properties.attr("rtl") != "" {
			p.RTL = new(properties.on("rtl", false))
		}
		if list, set := listOf(properties); set {
			p.List = list
		}
		if before := properties.kid("spcBef"); before != nil {
			p.Before = space(before, 0)
		}
	}
	for _, k := range n.kids {
		switch k.name() {
		case "r":
			s.run(&p, k)
		case "br":
			s.lineBreak(&p, k)
		case "fld":
			s.field(&p, k)
		case "m", "oMath", "oMathPara": // a formula: its letters
			p.Runs = append(p.Runs, deck.Run{Text: k.words("t")})
			s.warn("formulas are kept as their letters")
		}
	}
	return p
}

// run adds an a:r. It joins the run before if that looks the same, as PowerPoint cuts words at will.
func (s *sheet) run(p *deck.Paragraph, n *node) {
	r := s.look.runStyle(n.kid("rPr"), &s.deck.Theme)
	r.Text = clean(n.kid("t"))
	r.Link = s.target(n.at("rPr", "hlinkClick").rel("id"))
	if r.Text == "" {
		return
	}
	if last := len(p.Runs) - 1; last >= 0 && sameRun(p.Runs[last], r) {
		p.Runs[last].Text += r.Text
		return
	}
	p.Runs = append(p.Runs, r)
}

func clean(n *node) string {
	if n == nil {
		return ""
	}
	return strings.ReplaceAll(strings.ToValidUTF8(n.text, "\uFFFD"), "\x00", "")
}

// lineBreak adds an a:br to the run before.
func (s *sheet) lineBreak(p *deck.Paragraph, n *node) {
	if last := len(p.Runs) - 1; last >= 0 && p.Runs[last].Field == "" {
		p.Runs[last].Text += "\n"
		return
	}
	r := s.look.runStyle(n.kid("rPr"), &s.deck.Theme)
	r.Text = "\n"
	p.Runs = append(p.Runs, r)
}

func (s *sheet) field(p *deck.Paragraph, n *node) {
	r := s.look.runStyle(n.kid("rPr"), &s.deck.Theme)
	r.Text = clean(n.kid("t"))
	switch kind := n.attr("type"); {
	case kind == "slidenum":
		r.Field = "slide_number"
	case strings.HasPrefix(kind, "datetime"):
		r.Field = "date"
	}
	p.Runs = append(p.Runs, r)
}

// runStyle is the look of an a:rPr.
func (l *layout) runStyle(n *node, theme *deck.Theme) deck.Run {
	r := deck.Run{Size: size(n, 0), Color: l.color(n.kid("solidFill"), theme), Language: clip(n.attr("lang"), 35)}
	if n.attr("b") != "" {
		r.Bold = new(n.on("b", false))
	}
	if n.attr("i") != "" {
		r.Italic = new(n.on("i", false))
	}
	r.Underline = n.attr("u") != "" && n.attr("u") != "none"
	r.Strike = n.attr("strike") != "" && n.attr("strike") != "noStrike"
	r.Font = font(n.kid("latin").attr("typeface"))
	if b := n.num("baseline", 0) / 1000; b != 0 && b >= -100 && b <= 100 {
		r.Baseline = int(b)
	}
	return r
}

func sameRun(a, b deck.Run) bool {
	return same(a.Bold, b.Bold) && same(a.Italic, b.Italic) && a.Underline == b.Underline && a.Strike == b.Strike &&
		a.Size == b.Size && a.Color == b.Color && a.Font == b.Font && a.Baseline == b.Baseline && a.Link == b.Link &&
		a.Field == b.Field && (a.Language == b.Language || strings.TrimSpace(b.Text) == "")
}

func same(a, b *bool) bool {
	return a == b || a != nil && b != nil && *a == *b
}
