package pptx

import (
	"math"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

var aligns = map[string]deck.Align{
	"l": deck.AlignLeft, "ctr": deck.AlignCenter, "r": deck.AlignRight, "just": deck.AlignJustify, "dist": deck.AlignJustify,
}

// paragraphStyle applies the properties of a level (CT_TextParagraphProperties, 21.1.2.2.7).
func (l *layout) paragraphStyle(s *deck.Style, n *node, theme *deck.Theme) {
	if a := aligns[n.attr("algn")]; a != "" {
		s.Align = a
	}
	s.RTL = n.on("rtl", s.RTL)
	s.Margin, s.Indent = length(n, "marL", s.Margin), length(n, "indent", s.Indent)
	s.Line = spacing(n.kid("lnSpc"), s.Line)
	if before := n.kid("spcBef"); before != nil {
		s.Before = space(before, s.Size)
	}
	if list, set := listOf(n); set {
		if list.Kind == deck.NoList {
			list = nil
		}
		s.List = list
	}
	if run := n.kid("defRPr"); run != nil {
		s.Size = size(run, s.Size)
		s.Bold, s.Italic = run.on("b", s.Bold), run.on("i", s.Italic)
		if c := l.color(run.kid("solidFill"), theme); c != "" {
			s.Color = c
		}
		if f := font(run.kid("latin").attr("typeface")); f != "" {
			s.Font = f
		}
	}
}

// length is an attribute in EMU that is on a slide.
func length(n *node, name string, fallback int64) int64 {
	const most = 51206400
	return min(max(n.num(name, fallback), -most), most)
}

// size is a size in points.
func size(n *node, fallback float64) float64 {
	if hundredths := n.num("sz", 0); hundredths >= 100 && hundredths <= 400000 {
		return float64(hundredths) / 100
	}
	return fallback
}

// font is a family as a deck names it: +mj-lt and +mn-lt are those of the theme.
func font(face string) string {
	switch {
	case strings.HasPrefix(face, "+mj"):
		return "major"
	case strings.HasPrefix(face, "+mn"):
		return "minor"
	}
	return clip(face, maxName)
}

// spacing is the height of lines as a part of the font's, of an a:lnSpc. A height in points is not kept.
func spacing(n *node, fallback float64) float64 {
	if p := n.kid("spcPct"); p != nil {
		if part := percent(p); part >= 0.2 && part <= 10 {
			return part
		}
	}
	return fallback
}

// percent is an attribute val in thousandths of a percent, or as the strict form has it, with a percent sign.
func percent(n *node) float64 {
	text := n.attr("val")
	if digits, ok := strings.CutSuffix(text, "%"); ok {
		copied := *n
		copied.start = copied.start.Copy()
		for i := range copied.start.Attr {
			copied.start.Attr[i].Value = digits
		}
		return float64(copied.num("val", 0)) / 100
	}
	return float64(n.num("val", 0)) / 100000
}

// space is a distance in hundredths of a point.
func space(n *node, size float64) int {
	if p := n.kid("spcPts"); p != nil {
		return int(min(max(p.num("val", 0), 0), 158400))
	}
	if p := n.kid("spcPct"); p != nil {
		if size == 0 {
			size = deck.DefaultSize
		}
		return int(math.Round(min(max(percent(p), 0), 10) * size * 100))
	}
	return 0
}

// listOf is the marker that paragraph properties set.
func listOf(n *node) (list *deck.List, set bool) {
	for _, k := range n.kids {
		switch k.name() {
		case "buNone":
			return &deck.List{Kind: deck.NoList}, true
		case "buChar":
			return &deck.List{Kind: deck.BulletList, Char: bulletChar(n, clip(k.attr("char"), 4))}, true
		case "buBlip":
			return &deck.List{Kind: deck.BulletList}, true
		case "buAutoNum":
			start := k.num("startAt", 1)
			l := &deck.List{Kind: deck.NumberList, Scheme: clip(k.attr("type"), 40)}
			if start > 1 && start <= 32767 {
				l.Start = int(start)
			}
			return l, true
		}
	}
	return nil, false
}

// bulletChar is a bullet as Unicode: the letters of Wingdings and Symbol are not what they say.
func bulletChar(n *node, char string) string {
	face := n.kid("buFont").attr("typeface")
	if !strings.HasPrefix(face, "Wingdings") && face != "Symbol" && face != "Webdings" {
		return char
	}
	known := map[string]string{
		"§": "▪", "Ø": "➢", "ü": "✓", "q": "❑", "v": "❖", "·": "•", "à": "→", "n": "■", "l": "●", "o": "□",
	}
	if to := known[strings.TrimSpace(char)]; to != "" {
		return to
	}
	return "•"
}
