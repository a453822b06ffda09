// Package pdf draws decks as PDF: each slide is a page of its size, its text is text with embedded and subsetted fonts,
// its charts and tables are drawn from their data, its titles are bookmarks, and it is tagged for screen readers. Arabic
// letters are joined; scripts whose letters change their order (as of India) need LibreOffice.
package pdf

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/fonts"
	"github.com/seed-7227ef26/async-worker/internal/deck/pdf/tagged"
	"github.com/seed-7227ef26/async-worker/internal/deck/typeset"
)

// Options qualify Write.
type Options struct {
	// Faces are the fonts for the deck's text.
	Faces *Faces
	// Media opens a picture by its key in deck.Media.
	Media func(key string) (io.ReadCloser, error)
	// Progress is called with the number of slides that were drawn, and of all; nil: not called.
	Progress func(done, total int) error
}

// Write draws a deck whose content fits: see fit.Fit with the same faces. Hidden slides are left out. Warnings say what
// is not drawn as it should be.
func Write(ctx context.Context, to io.Writer, d *deck.Deck, o Options) (warnings []string, err error) {
	w := &writer{
		ctx: ctx, deck: d, options: o, faces: o.Faces, set: typeset.Setter{Face: o.Faces, Deck: d}, pages: map[int]int{},
		added: map[string]bool{}, images: map[string]*picture{}, warned: map[string]bool{},
	}
	w.doc = tagged.Document{Root: tagged.Element{Type: "Document"}, Height: points(d.Size.Height)}
	w.pdf = fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{
		Wd: points(d.Size.Width), Ht: points(d.Size.Height),
	}})
	w.head()
	if err := w.slides(); err != nil {
		return nil, err
	}
	if err := w.pdf.Output(whole(func(data []byte) error { return w.doc.Write(to, data) })); err != nil {
		return nil, fmt.Errorf("write the PDF: %w", err)
	}
	w.missing()
	return w.warnings, nil
}

// whole takes the file from the library, which writes all of it in one piece: no second copy of it is in memory.
type whole func(data []byte) error

// Write implements io.Writer.
func (f whole) Write(data []byte) (int, error) { return len(data), f(data) }

// writer draws one deck.
type writer struct {
	ctx     context.Context
	pdf     *fpdf.Fpdf
	deck    *deck.Deck
	options Options
	faces   *Faces
	set     typeset.Setter
	pages   map[int]int // by slide: its page
	added   map[string]bool
	images  map[string]*picture
	number  int // of the slide being drawn

	sections bool // there are slides that open a section
	doc      tagged.Document
	marked   bool            // content is being marked
	tagged   *tagged.Element // as part of this; nil: as decoration
	turn     turn            // of the element being drawn
	section  *tagged.Element // of the slide
	title    string          // the type of the slide's title in the tree

	warnings []string
	warned   map[string]bool
}

func (w *writer) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !w.warned[text] {
		w.warned[text] = true
		w.warnings = append(w.warnings, text)
	}
}

// points are a length in points.
func points(emu int64) float64 { return float64(emu) / typeset.Point }

// epoch is the time of all files: the same deck yields the same file.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant

func (w *writer) head() {
	p := w.pdf
	p.SetMargins(0, 0, 0)
	p.SetAutoPageBreak(false, 0)
	p.SetCellMargin(0)
	p.SetCatalogSort(true)
	p.SetCreationDate(epoch)
	p.SetModificationDate(epoch)
	p.SetTitle(inBMP(w.deck.Title), true)
	p.SetAuthor(inBMP(w.deck.Author), true)
	p.SetCreator("async-worker", true)
	p.SetProducer("async-worker (go-pdf/fpdf)", true)
	if w.deck.Language != "" {
		p.SetLang(w.deck.Language)
	}
}

// inBMP replaces characters that the library can't write.
func inBMP(text string) string {
	return strings.Map(func(r rune) rune {
		if r > 0xFFFF {
			return '\uFFFD'
		}
		return r
	}, text)
}

func (w *writer) slides() error {
	total := len(w.deck.Slides)
	page := 0
	for i, s := range w.deck.Slides {
		if !s.Hidden {
			page++
			w.pages[i+1] = page
		}
	}
	if page == 0 { // a PDF has at least one
		w.pdf.AddPage()
		w.doc.AddPage()
	}
	w.sections = slices.ContainsFunc(w.deck.Slides, func(s deck.Slide) bool { return w.kind(s) == deck.SectionLayout })
	for i := range w.deck.Slides {
		if w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		s := &w.deck.Slides[i]
		if s.Hidden {
			w.warn("hidden slides are left out")
			continue
		}
		w.number = i + 1
		w.pdf.AddPage()
		w.doc.AddPage()
		w.bookmark(s)
		if err := w.slide(s); err != nil {
			return err
		}
		if err := w.pdf.Error(); err != nil {
			return fmt.Errorf("draw slide %d: %w", i+1, err)
		}
		if w.options.Progress != nil {
			if err := w.options.Progress(i+1, total); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *writer) kind(s deck.Slide) deck.LayoutKind {
	if l := w.deck.Layout(s.Layout); l != nil {
		return l.Kind
	}
	return deck.OtherLayout
}

// level is how deep a slide is in the outline: below the section that it is in, if there are sections.
func (w *writer) level(s *deck.Slide) int {
	if k := w.kind(*s); w.sections && k != deck.SectionLayout && k != deck.TitleLayout && w.number > 1 {
		return 1
	}
	return 0
}

// bookmark adds a slide's title to the outline.
func (w *writer) bookmark(s *deck.Slide) {
	title := inBMP(strings.Join(strings.Fields(s.Title), " "))
	if title == "" {
		title = fmt.Sprint(w.number)
	}
	w.pdf.Bookmark(title, w.level(s), 0)
}

func (w *writer) slide(s *deck.Slide) error {
	layout := w.deck.Layout(s.Layout)
	if layout == nil {
		layout = &deck.Layout{}
	}
	background := s.Background
	if background == "" {
		background = layout.Background
	}
	w.tag(nil)
	defer w.untag()
	w.fill(background, "light1")
	w.pdf.Rect(0, 0, points(w.deck.Size.Width), points(w.deck.Size.Height), "F")
	w.section = w.doc.Root.Add(&tagged.Element{Type: "Sect"})
	w.title = w.heading(s)
	for _, e := range inZ(layout.Elements) {
		if err := w.element(layout, e, nil); err != nil {
			return err
		}
	}
	heading := w.section.Add(&tagged.Element{})
	places := make(map[*deck.Element]*tagged.Element, len(s.Elements))
	for i := range s.Elements { // in reading order, however they are drawn
		places[&s.Elements[i]] = w.group(w.section, &s.Elements[i])
	}
	for _, e := range inZ(s.Elements) {
		if err := w.element(layout, e, places[e]); err != nil {
			return err
		}
	}
	if s.Title != "" && s.TitleElement() == nil && layout.Placeholder(deck.TitleRole, 0) != nil {
		e := &deck.Element{Kind: deck.TextElement, Role: deck.TitleRole, Text: deck.Lines(s.Title)}
		return w.element(layout, e, heading)
	}
	return nil
}

// inZ returns elements in the order in which they are drawn.
func inZ(elements []deck.Element) []*deck.Element {
	out := make([]*deck.Element, len(elements))
	for i := range elements {
		out[i] = &elements[i]
	}
	slices.SortStableFunc(out, func(a, b *deck.Element) int { return a.Z - b.Z })
	return out
}

// rgb returns the parts of a colour, 0 to 255.
func (w *writer) rgb(color, fallback string) (r, g, b int) {
	hex := w.deck.Theme.Color(color, fallback)
	if _, err := fmt.Sscanf(hex, "#%02x%02x%02x", &r, &g, &b); err != nil {
		return 0, 0, 0
	}
	return r, g, b
}

func (w *writer) fill(color, fallback string)   { w.pdf.SetFillColor(w.rgb(color, fallback)) }
func (w *writer) stroke(color, fallback string) { w.pdf.SetDrawColor(w.rgb(color, fallback)) }

// missing warns of characters that no font has.
func (w *writer) missing() {
	if lost := w.faces.Missing(); lost != "" {
		w.warn("no installed font that can be embedded has these characters, which are drawn as boxes: %s; install a "+
			"TrueType font with them, or set PDF_ENGINE=soffice", lost)
	}
}

var _ typeset.Face = (*Faces)(nil)

// NewFaces returns the fonts for one deck. The error is fonts.ErrNone.
func NewFaces(l *fonts.Library) (*Faces, error) {
	if _, err := l.Find("Arial", false, false); err != nil {
		return nil, err
	}
	return &Faces{library: l, known: map[faceKey]*fonts.Font{}, lost: map[rune]bool{}}, nil
}
