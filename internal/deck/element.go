package deck

// Kind is the kind of an element.
type Kind string

// The kinds of elements.
const (
	TextElement    Kind = "text"
	TableElement   Kind = "table"
	PictureElement Kind = "picture"
	ChartElement   Kind = "chart"
	ShapeElement   Kind = "shape" // a drawn figure, maybe with text
)

// Role is the placeholder of the layout that an element fills; empty: none.
type Role string

// The roles.
const (
	TitleRole    Role = "title"
	SubtitleRole Role = "subtitle"
	BodyRole     Role = "body"
	FooterRole   Role = "footer"
	DateRole     Role = "date"
	NumberRole   Role = "slide_number"
)

// Element is one object of a slide. The field of its kind is set: Text for text and maybe for a shape, Table, Picture,
// Chart, Shape.
type Element struct {
	ID    string `json:"id,omitempty"`    // unique in its slide
	Kind  Kind   `json:"kind"`            // says which of the fields below is set
	Role  Role   `json:"role,omitempty"`  // the placeholder that it fills; empty: none
	Index int    `json:"index,omitempty"` // of the placeholder
	Name  string `json:"name,omitempty"`  // for people
	Alt   string `json:"alt,omitempty"`   // the text for who can't see it
	Box   *Box   `json:"box,omitempty"`   // nil: the placeholder's
	// What is drawn above what: the higher one. Elements of the same value: the later one.
	Z       int      `json:"z,omitempty"`
	Link    string   `json:"link,omitempty"`    // of the whole element; see Run.Link
	Text    *Text    `json:"text,omitempty"`    // of a text, and maybe of a shape
	Table   *Table   `json:"table,omitempty"`   // of a table
	Picture *Picture `json:"picture,omitempty"` // of a picture
	Chart   *Chart   `json:"chart,omitempty"`   // of a chart
	Shape   *Shape   `json:"shape,omitempty"`   // of a shape
	// where it comes from; nil: from where its slide does
	Source *Provenance `json:"source,omitempty"`

	Extra Extra `json:"-"`
}

// Box is a rectangle on a slide in EMU, from the top left.
type Box struct {
	X int64 `json:"x"` // of the left edge
	Y int64 `json:"y"` // of the upper edge
	W int64 `json:"w"` // the width
	H int64 `json:"h"` // the height
	// Clockwise around its middle, in degrees.
	Rotation float64 `json:"rotation,omitempty"`
	FlipH    bool    `json:"flip_h,omitempty"` // left and right are exchanged
	FlipV    bool    `json:"flip_v,omitempty"` // above and below are exchanged

	Extra Extra `json:"-"`
}

// Bottom is the lower edge.
func (b Box) Bottom() int64 { return b.Y + b.H }

// Right is the right edge.
func (b Box) Right() int64 { return b.X + b.W }

// Text is paragraphs in a box.
type Text struct {
	Paragraphs []Paragraph `json:"paragraphs"`       // in order
	Anchor     Anchor      `json:"anchor,omitempty"` // empty: the placeholder's, or top
	Inset      *Inset      `json:"inset,omitempty"`  // nil: DefaultInset
	// What the file's layout says about each level from 0; empty: the layout's placeholder does.
	Styles []Style `json:"styles,omitempty"`
	// The part of its sizes at which it fits its box, 0.25 to 1; 0: 1.
	Scale float64 `json:"scale,omitempty"`
	// Lines end at line breaks alone; the text may be wider than its box.
	NoWrap bool `json:"no_wrap,omitempty"`

	Extra Extra `json:"-"`
}

// Anchor is where a text is in its box.
type Anchor string

// The anchors.
const (
	AnchorTop    Anchor = "top"
	AnchorMiddle Anchor = "middle"
	AnchorBottom Anchor = "bottom"
)

// Inset is the distance of a text from the edges of its box, in EMU.
type Inset struct {
	Left   int64 `json:"l"` // from the left edge
	Top    int64 `json:"t"` // from the upper edge
	Right  int64 `json:"r"` // from the right edge
	Bottom int64 `json:"b"` // from the lower edge

	Extra Extra `json:"-"`
}

// DefaultInset is that of ECMA-376 (21.1.2.1.1).
var DefaultInset = Inset{Left: 91440, Top: 45720, Right: 91440, Bottom: 45720}

// Paragraph is a paragraph or an item of a list.
type Paragraph struct {
	Runs   []Run  `json:"runs"`             // its text, by look
	Level  int    `json:"level,omitempty"`  // 0-8
	List   *List  `json:"list,omitempty"`   // nil: as the style says
	Align  Align  `json:"align,omitempty"`  // empty: as the style says
	RTL    *bool  `json:"rtl,omitempty"`    // it is written from right to left; nil: as the style says
	Before int    `json:"before,omitempty"` // space above in hundredths of a point; 0: the style's
	Page   int    `json:"page,omitempty"`   // of the document that it is from; 0: unknown
	Cites  string `json:"cites,omitempty"`  // the words of the document that it is made of, where a model wrote it

	Extra Extra `json:"-"`
}

// Align is how lines are aligned.
type Align string

// The alignments.
const (
	AlignLeft    Align = "left"
	AlignCenter  Align = "center"
	AlignRight   Align = "right"
	AlignJustify Align = "justify"
)

// List is the marker of a paragraph.
type List struct {
	Kind   ListKind `json:"kind"`             // of the marker
	Char   string   `json:"char,omitempty"`   // of a bullet; empty: "•"
	Scheme string   `json:"scheme,omitempty"` // of numbers: ST_TextAutonumberScheme; empty: arabicPeriod
	Start  int      `json:"start,omitempty"`  // the first number; 0: 1

	Extra Extra `json:"-"`
}

// ListKind is the kind of a marker.
type ListKind string

// The kinds of markers.
const (
	NoList     ListKind = "none" // none, although the style has one
	BulletList ListKind = "bullet"
	NumberList ListKind = "number"
)

// Style is what a level of a text looks like where runs and paragraphs don't say so.
type Style struct {
	Size   float64 `json:"size,omitempty"`   // in points; 0: 18
	Color  string  `json:"color,omitempty"`  // "#RRGGBB" or a name of the theme; empty: dark1
	Font   string  `json:"font,omitempty"`   // a family, or major or minor; empty: minor
	Bold   bool    `json:"bold,omitempty"`   // the text is bold
	Italic bool    `json:"italic,omitempty"` // the text is italic
	Align  Align   `json:"align,omitempty"`  // empty: left, or right where it is written from there
	RTL    bool    `json:"rtl,omitempty"`    // the text is written from right to left
	List   *List   `json:"list,omitempty"`   // nil: none
	Margin int64   `json:"margin,omitempty"` // of the text from the left, in EMU
	Indent int64   `json:"indent,omitempty"` // of the first line (or the marker) from Margin, in EMU
	Before int     `json:"before,omitempty"` // space above in hundredths of a point
	Line   float64 `json:"line,omitempty"`   // the height of a line as a part of the font's; 0: 1

	Extra Extra `json:"-"`
}

// Run is a piece of text of one look. A line break within a paragraph is "\n".
type Run struct {
	Text      string  `json:"text"`                // a line break is a newline
	Bold      *bool   `json:"bold,omitempty"`      // nil: as the style says
	Italic    *bool   `json:"italic,omitempty"`    // nil: as the style says
	Underline bool    `json:"underline,omitempty"` // the text has a line below
	Strike    bool    `json:"strike,omitempty"`    // the text is crossed out
	Size      float64 `json:"size,omitempty"`      // in points; 0: as the style says
	Color     string  `json:"color,omitempty"`     // as in Style; empty: as that says
	Font      string  `json:"font,omitempty"`      // as in Style; empty: as that says
	Baseline  int     `json:"baseline,omitempty"`  // in percent of the size: above 0 superscript, below subscript
	Language  string  `json:"language,omitempty"`  // BCP 47; empty: the deck's
	// An address of http, https or mailto, or "#slide" and a number; empty: none.
	Link string `json:"link,omitempty"`
	// What a program puts in the text's place: slide_number or date; empty: nothing.
	Field string `json:"field,omitempty"`

	Extra Extra `json:"-"`
}
