// Package content interprets the content streams of PDF pages (ISO 32000-1, chapters 8 and 9) as far as layout needs
// it: the lines and areas that a page draws, and the fonts and places of its text. It paints nothing, and doesn't know
// which characters the text is.
//
// The cost of a page is bounded by the number of its operators; a page with more is an error.
package content

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
)

// Drawing is what a page draws, in points from its top left, as it is shown.
type Drawing struct {
	Width, Height float64
	Lines         []Line
	Fills         []Fill
	Dots          []Box // small round shapes, such as the bullets of lists
	Marks         []Box // small shapes that are neither lines nor rectangles, such as those that tick a box
	Images        []Box // where it shows images
	Texts         []Text
	Unknown       bool // there is text that Texts may lack
}

// Line is a straight line across or down the page: stroked, or a filled rectangle that is as thin as one.
type Line struct {
	Box // its middle line: no width or no height

	Thick float64 // points
	White bool
}

// Across reports whether the line runs from left to right.
func (l Line) Across() bool { return l.height() <= l.width() }

// Fill is a filled rectangle that is not a line.
type Fill struct {
	Box

	White  bool
	Colour Colour
}

// The bounds of a page.
const (
	maxOperators = 250_000
	maxForms     = 12 // within each other
	maxStates    = 200
	maxOperands  = 64
	maxHeld      = 16 << 20 // bytes of memory, about: of the operands of an operator
	maxPath      = 40_000   // corners
	maxLines     = 30_000
	maxImages    = 10_000 // of a page; a scan may be an image for each row of its dots
)

// ErrTooMuch reports a page that draws more than a document does, such as a map.
var ErrTooMuch = errors.New("the page draws too much")

// state is the graphics state (8.4).
type state struct {
	matrix    matrix
	clip      Box
	lineWidth float64
	stroke    paint
	fill      paint
	text      textState
}

// paint is the colour of lines or areas.
type paint struct {
	white  bool
	hidden bool // fully transparent
	colour Colour
}

type interpreter struct {
	ctx       context.Context //nolint:containedctx // of one call of Read
	file      *object.File
	reader    *Reader
	out       *Drawing
	resources object.Dict
	state     state
	saved     []state
	operators int
	forms     int // that are open

	operands []operand
	numbers  []float64 // of operands

	path    []subpath
	corners int
	clips   bool // the path becomes the clip when it is painted

	textMatrix, lineMatrix matrix // of what is shown next, and of the start of its line (9.4.1)
	written                textLine
	fonts                  map[object.Name]*Font // of the resources
	widths                 int                   // items of those that are not kept
	glyphs                 int                   // bytes of codes
}

// operand is a number or another object.
type operand struct {
	number   float64
	isNumber bool
	object   object.Object // nil if it is a number
}

// next returns the next operand, or an operator.
func next(l *object.Lexer) (operand, object.Operator, error) {
	if v, ok := l.Number(); ok {
		return operand{number: v, isNumber: true}, "", nil
	}
	o, err := l.Next()
	if op, ok := o.(object.Operator); ok && err == nil {
		return operand{}, op, nil
	}
	v, ok := object.Number(o)
	return operand{v, ok, o}, "", err
}

// run interprets a stream with its resources; nil: with those that the stream around it has.
func (in *interpreter) run(r io.Reader, resources object.Dict) error {
	if resources != nil {
		outer, fonts := in.resources, in.fonts
		in.resources, in.fonts = resources, map[object.Name]*Font{}
		defer func() { in.resources, in.fonts = outer, fonts }()
	}
	l := object.NewContentLexer(&whileRunning{in.ctx, r})
	in.operands = in.operands[:0]
	for held := 0; ; {
		o, op, err := next(l)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the content of a page: %w", err)
		}
		if op == "" {
			if len(in.operands) < maxOperands {
				in.operands = append(in.operands, o)
				held += l.Held()
			}
			if held > maxHeld {
				return ErrTooMuch
			}
			continue
		}
		held = 0
		if in.operators++; in.operators > maxOperators {
			return ErrTooMuch
		}
		if in.operators%1024 == 0 && in.ctx.Err() != nil {
			return fmt.Errorf("read the content of a page: %w", context.Cause(in.ctx))
		}
		if op == "BI" {
			in.image()
			err = l.SkipImage()
		} else {
			err = in.operate(op, l.Shown())
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		in.operands = in.operands[:0]
	}
}

// args returns the operands that are numbers.
func (in *interpreter) args() []float64 {
	in.numbers = in.numbers[:0]
	for _, o := range in.operands {
		if o.isNumber {
			in.numbers = append(in.numbers, o.number)
		}
	}
	return in.numbers
}

func (in *interpreter) operate(op object.Operator, shown []object.Shown) error {
	switch op {
	case "q":
		if len(in.saved) < maxStates {
			in.saved = append(in.saved, in.state)
		}
	case "Q":
		if n := len(in.saved); n > 0 {
			in.state, in.saved = in.saved[n-1], in.saved[:n-1]
		}
	case "cm":
		if m, ok := toMatrix(in.args()); ok {
			in.state.matrix = m.times(in.state.matrix)
		}
	case "w":
		if v := in.args(); len(v) > 0 {
			in.state.lineWidth = v[0]
		}
	case "Do":
		return in.object()
	case "gs":
		in.external()
	case "m", "l", "c", "v", "y", "h", "re":
		in.build(op)
	case "W", "W*":
		in.clips = true
	case "n", "S", "s", "f", "F", "f*", "B", "B*", "b", "b*":
		in.paint(op)
	case "g", "rg", "k", "sc", "scn", "cs":
		in.state.fill.white, in.state.fill.colour = isWhite(op, in.args()), colour(in.args())
	case "G", "RG", "K", "SC", "SCN", "CS":
		in.state.stroke.white = isWhite(op, in.args())
	default:
		in.textOperator(op, shown)
	}
	return nil
}

// external applies a graphics state from the resources (8.4.5): line width, font and transparency.
func (in *interpreter) external() {
	if len(in.operands) == 0 {
		return
	}
	name, _ := in.operands[0].object.(object.Name)
	d := in.file.Dict(in.file.Dict(in.resources["ExtGState"])[name])
	if v, ok := in.file.Number(d["LW"]); ok {
		in.state.lineWidth = v
	}
	if font := in.file.Array(d["Font"]); len(font) == 2 {
		in.state.text.font = in.fontOf(font[0])
		in.state.text.size, _ = in.file.Number(font[1])
	}
	const least = 0.02
	if v, ok := in.file.Number(d["ca"]); ok {
		in.state.fill.hidden = v < least
	}
	if v, ok := in.file.Number(d["CA"]); ok {
		in.state.stroke.hidden = v < least
	}
}

// finite reports whether a box has only usable numbers.
func finite(b Box) bool {
	const far = 1e6
	for _, v := range []float64{b.Left, b.Top, b.Right, b.Bottom} {
		if math.IsNaN(v) || math.Abs(v) > far {
			return false
		}
	}
	return true
}
