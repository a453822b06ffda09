// Package deck is the one model of a slide deck: what convert makes of a document, what is kept as JSON, and what the
// exporters write. Readers and writers of file formats are in packages below. Lengths are in EMU (English metric
// units): 914,400 to the inch, 12,700 to the point.
package deck

// Version is the version of the JSON that this package writes. It rises when a reader of the version before would take
// a deck for another; fields that are added don't raise it.
const Version = 1

// Deck is a whole presentation.
type Deck struct {
	Version  int      `json:"version"`            // Version
	ID       string   `json:"id,omitempty"`       // of the row in decks
	Title    string   `json:"title"`              // of the presentation
	Language string   `json:"language,omitempty"` // BCP 47; empty: unknown
	Author   string   `json:"author,omitempty"`   // as its source names the author
	Size     Size     `json:"size"`               // of each slide
	Theme    Theme    `json:"theme"`              // what colours and fonts refer to
	Layouts  []Layout `json:"layouts"`            // that slides name
	Slides   []Slide  `json:"slides"`             // in the order of the show
	// The pictures by the SHA-256 of their bytes, in hex: the same picture is there once.
	Media  map[string]Media `json:"media,omitempty"`
	Source *Source          `json:"source,omitempty"` // what it was made of

	Extra Extra `json:"-"`
}

// Size is a width and a height in EMU.
type Size struct {
	Width  int64 `json:"width"`  // in EMU
	Height int64 `json:"height"` // in EMU

	Extra Extra `json:"-"`
}

// Source is the file that a deck was made of.
type Source struct {
	Filename string `json:"filename"`         // as the task names it
	SHA256   string `json:"sha256,omitempty"` // of its bytes, in hex
	Format   string `json:"format,omitempty"` // e.g. pptx, pdf
	Pages    int    `json:"pages,omitempty"`  // 0: the format has none
	Method   string `json:"method,omitempty"` // slides (a presentation), rules or model

	Extra Extra `json:"-"`
}

// Theme is the look that a deck refers to by name.
type Theme struct {
	Name   string            `json:"name,omitempty"` // for people
	Colors map[string]string `json:"colors"`         // "#RRGGBB" by the names of ColorNames
	Fonts  Fonts             `json:"fonts"`          // that texts refer to

	Extra Extra `json:"-"`
}

// Fonts are the families of a theme.
type Fonts struct {
	Major string `json:"major"` // of titles
	Minor string `json:"minor"` // of all other text

	Extra Extra `json:"-"`
}

// ColorNames are the colours of a theme, in the order of a:clrScheme (ECMA-376 part 1, 20.1.6.2).
var ColorNames = []string{
	"dark1", "light1", "dark2", "light2", "accent1", "accent2", "accent3", "accent4", "accent5", "accent6", "link",
	"followedLink",
}

// Media is a picture's file.
type Media struct {
	Type   string `json:"type"`             // a MIME type, e.g. image/png
	Bytes  int64  `json:"bytes"`            // its size
	Width  int    `json:"width,omitempty"`  // in pixels; 0: unknown
	Height int    `json:"height,omitempty"` // in pixels; 0: unknown
	Blob   string `json:"blob,omitempty"`   // in the tenant's container

	Extra Extra `json:"-"`
}

// Layout is what the slides of one kind have in common.
type Layout struct {
	ID   string     `json:"id"`             // that slides name
	Name string     `json:"name,omitempty"` // for people
	Kind LayoutKind `json:"kind"`           // what it is for
	// The colour behind all: "#RRGGBB" or a name of the theme; empty: the theme's light1.
	Background   string        `json:"background,omitempty"`
	Placeholders []Placeholder `json:"placeholders,omitempty"` // places that slides fill
	Elements     []Element     `json:"elements,omitempty"`     // decoration, behind the slide's own

	Extra Extra `json:"-"`
}

// LayoutKind is what a layout is for.
type LayoutKind string

// The kinds of layouts.
const (
	TitleLayout     LayoutKind = "title"       // the first slide
	SectionLayout   LayoutKind = "section"     // opens a part
	ContentLayout   LayoutKind = "content"     // a title and one body
	TwoLayout       LayoutKind = "two_content" // a title and two bodies
	TitleOnlyLayout LayoutKind = "title_only"
	BlankLayout     LayoutKind = "blank"
	OtherLayout     LayoutKind = "other"
)

// Placeholder is a place of a layout that slides fill.
type Placeholder struct {
	Role   Role    `json:"role"`             // what it is for
	Index  int     `json:"index"`            // tells placeholders of one role apart
	Box    *Box    `json:"box,omitempty"`    // nil: unknown
	Anchor Anchor  `json:"anchor,omitempty"` // empty: top
	Styles []Style `json:"styles,omitempty"` // by level from 0; the last holds for deeper ones

	Extra Extra `json:"-"`
}

// Slide is one slide.
type Slide struct {
	Layout     string    `json:"layout"`               // the id of a Layout
	Title      string    `json:"title"`                // plain text; an element of the role title has its runs, if there is one
	Hidden     bool      `json:"hidden,omitempty"`     // it is not shown
	Background string    `json:"background,omitempty"` // as in Layout; empty: the layout's
	Elements   []Element `json:"elements"`             // in reading order
	Notes      string    `json:"notes,omitempty"`      // of the speaker; paragraphs are lines
	Comments   []Comment `json:"comments,omitempty"`   // of readers
	// where it comes from; nil: nowhere
	Source *Provenance `json:"source,omitempty"`

	Extra Extra `json:"-"`
}

// Comment is a reader's comment on a slide.
type Comment struct {
	Author string `json:"author,omitempty"` // empty: unknown
	At     string `json:"at,omitempty"`     // as the file states it
	Text   string `json:"text"`             // of the comment

	Extra Extra `json:"-"`
}

// Provenance is where a slide or an element comes from.
type Provenance struct {
	Document string `json:"document"`       // its filename
	Page     int    `json:"page,omitempty"` // from 1; 0: the format has no pages
	Last     int    `json:"last,omitempty"` // the last page, if there are several
	Area     *Area  `json:"box,omitempty"`  // on Page; nil: unknown

	Extra Extra `json:"-"`
}

// Area is a rectangle on a page in fractions (0-1) of its size, from the top left.
type Area struct {
	Left   float64 `json:"l"` // left edge
	Top    float64 `json:"t"` // upper edge
	Right  float64 `json:"r"` // right edge
	Bottom float64 `json:"b"` // lower edge

	Extra Extra `json:"-"`
}
