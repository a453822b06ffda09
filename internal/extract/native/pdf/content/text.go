package content

import (
	"math"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
)

// Text is characters in one font that follow each other in a line. What they are is not known here.
type Text struct {
	Box // from the font's ascent to its descent

	Font   *Font
	Size   float64 // points
	Line   int     // texts of one line, as the page writes it, have the same number; the next line's is one larger
	Hidden bool    // it is on the page and not drawn
	Gaps   []Gap   // between its glyphs, from left to right: no glyph is there, not even a space
}

// Gap is from the end of a glyph to the start of the next one, in points from the left.
type Gap struct{ From, To float64 }

// leastGap is the width of a gap that counts, as a part of the font's size.
const leastGap = 0.05

// The bounds of a page's text.
const (
	maxTexts  = 50_000
	maxGlyphs = 300_000 // bytes of codes
)

// textState is the part of the graphics state that is about text (9.3).
type textState struct {
	font             *Font
	size             float64
	between, ofSpace float64 // room after each character, and after each space
	stretch          float64
	leading, rise    float64
	mode             int
}

// textLine is the line that is being written, as pdftohtml joins its strings (HtmlPage::coalesce).
type textLine struct {
	top, bottom, end float64 // points
	size             int     // in thirds of a point
	family           string
	colour           [4]float64
	hidden           bool
	number           int
}

// goesOn reports whether next, a glyph that begins at x, belongs to the line: it is beside its end, in the same family,
// size and colour, and the gap is no wider than the line is high.
func (l textLine) goesOn(next textLine, x float64) bool {
	high, shared := l.bottom-l.top, 0.0
	switch {
	case next.top >= l.top && next.top <= l.bottom:
		shared = l.bottom - next.top
	case next.bottom >= l.top && next.bottom <= l.bottom:
		shared = next.bottom - l.top
	}
	gap := x - l.end
	return shared > 0.5*high && gap > -0.5*high && gap < high && next.size == l.size && next.family == l.family &&
		next.colour == l.colour && next.hidden == l.hidden
}

// textOperator applies an operator of text (9.4). Those that show text get it apart.
func (in *interpreter) textOperator(op object.Operator, shown []object.Shown) {
	v := in.args()
	t := &in.state.text
	number := func(to *float64) {
		if len(v) > 0 {
			*to = v[0]
		}
	}
	switch op {
	case "BT":
		in.textMatrix, in.lineMatrix = identity, identity
	case "Tc":
		number(&t.between)
	case "Tw":
		number(&t.ofSpace)
	case "Tz":
		if len(v) > 0 {
			t.stretch = v[0] / 100
		}
	case "TL":
		number(&t.leading)
	case "Ts":
		number(&t.rise)
	case "Tr":
		if len(v) > 0 {
			t.mode = int(v[0])
		}
	case "Tf":
		if len(v) > 0 && len(in.operands) > 1 {
			name, _ := in.operands[0].object.(object.Name)
			t.font, t.size = in.font(name), v[0]
		}
	case "Td", "TD":
		if len(v) > 1 {
			if op == "TD" {
				t.leading = -v[1]
			}
			in.nextLine(v[0], v[1])
		}
	case "T*":
		in.nextLine(0, -t.leading)
	case "Tm":
		if m, ok := toMatrix(v); ok {
			in.textMatrix, in.lineMatrix = m, m
		}
	case "'", "\"":
		if len(v) > 1 && op == "\"" {
			t.ofSpace, t.between = v[0], v[1]
		}
		in.nextLine(0, -t.leading)
		in.showAll(shown)
	case "Tj", "TJ":
		in.showAll(shown)
	}
}

// nextLine moves to the start of another line.
func (in *interpreter) nextLine(x, y float64) {
	in.lineMatrix = matrix{1, 0, 0, 1, x, y}.times(in.lineMatrix)
	in.textMatrix = in.lineMatrix
}

// showAll shows strings and moves between them.
func (in *interpreter) showAll(parts []object.Shown) {
	for _, part := range parts {
		if part.Codes != nil {
			in.show(part.Codes)
			continue
		}
		in.advance(-part.Move / 1000 * in.state.text.size * in.state.text.stretch)
	}
}

func (in *interpreter) advance(x float64) {
	in.textMatrix = matrix{1, 0, 0, 1, x, 0}.times(in.textMatrix)
}

// show adds a string to the page's texts.
func (in *interpreter) show(codes []byte) {
	t := &in.state.text
	if in.glyphs += len(codes); in.glyphs > maxGlyphs || t.font == nil || !t.font.known {
		in.out.Unknown = in.out.Unknown || len(codes) > 0
		return
	}
	m := in.textMatrix.times(in.state.matrix)
	size := math.Hypot(m.c, m.d) * math.Abs(t.size) * t.font.enlarged
	turned := math.Abs(m.b) > math.Abs(m.a)
	if turned { // it is a line of its own
		in.written = textLine{number: in.written.number + 1}
	}
	moved := 0.0
	for len(codes) > 0 {
		code, n := int(codes[0]), 1
		if t.font.wide && len(codes) > 1 {
			code, n = code<<8|int(codes[1]), 2
		}
		codes = codes[n:]
		w := t.font.width(code) * t.size
		if n == 1 && code == ' ' {
			w += t.ofSpace
		}
		if !turned {
			at := m.apply(moved, t.rise)
			in.glyph(at, w*t.stretch*m.a, size)
		}
		moved += (w + t.between) * t.stretch
	}
	in.advance(moved)
}

// glyph adds a glyph to the last text, or begins another one.
func (in *interpreter) glyph(at point, width, size float64) {
	const mostAscent, mostDescent = 1.05, 0.4
	t := &in.state.text
	b := Box{
		min(at.x, at.x+width), at.y - min(t.font.ascent, mostAscent)*size,
		max(at.x, at.x+width), at.y + min(-t.font.descent, mostDescent)*size,
	}
	if !finite(b) {
		return
	}
	if len(in.out.Texts) >= maxTexts {
		in.out.Unknown = true
		return
	}
	l := &in.written
	next := textLine{b.Top, b.Bottom, at.x + width, int(math.Round(3 * size)), t.font.family, in.state.fill.colour, t.mode&3 == 3, l.number}
	if n := len(in.out.Texts); n > 0 && l.goesOn(next, at.x) {
		gap := Gap{l.end, at.x}
		l.bottom, l.end = max(l.bottom, b.Bottom), max(l.end, next.end)
		if last := &in.out.Texts[n-1]; last.Font == t.font && last.Top == b.Top && last.Size == size {
			last.Left, last.Right = min(last.Left, b.Left), max(last.Right, b.Right)
			if gap.To-gap.From > leastGap*size {
				last.Gaps = append(last.Gaps, gap)
			}
			return
		}
	} else {
		next.number++
		*l = next
	}
	in.out.Texts = append(in.out.Texts, Text{Box: b, Font: t.font, Size: size, Line: l.number, Hidden: l.hidden})
}
