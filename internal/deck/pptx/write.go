package pptx

import (
	"archive/zip"
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// WriteOptions qualify Write.
type WriteOptions struct {
	// Template is what the slides are put into; nil: a presentation of the deck's own layouts. The deck's layouts are the
	// template's then: see deck.Restyle.
	Template *Template
	// Media opens a picture by its key in deck.Media.
	Media func(key string) (io.ReadCloser, error)
	// Progress is called with the number of slides that were written, and of all; nil: not called.
	Progress func(done, total int) error
}

// Write writes a deck as a presentation: the same bytes for the same deck and template. It holds one slide at a time in
// memory. Warnings say what of the deck the presentation does not have.
func Write(ctx context.Context, to io.Writer, d *deck.Deck, o WriteOptions) (warnings []string, err error) {
	buffered := bufio.NewWriterSize(to, 64<<10)
	w := &writer{
		ctx: ctx, zip: zip.NewWriter(buffered), deck: d, options: o, warned: map[string]bool{},
		media: map[string]string{}, layouts: map[string]string{}, taken: map[string]bool{},
	}
	if err := w.write(); err != nil {
		return nil, err
	}
	if err := w.zip.Close(); err != nil {
		return nil, fmt.Errorf("write the presentation: %w", err)
	}
	if err := buffered.Flush(); err != nil {
		return nil, fmt.Errorf("write the presentation: %w", err)
	}
	return w.warnings, nil
}

// writer writes one presentation.
type writer struct {
	ctx     context.Context
	zip     *zip.Writer
	deck    *deck.Deck
	options WriteOptions
	base    base
	layouts map[string]string // by id: the part
	media   map[string]string // by key: the part; "": it can't be shown
	taken   map[string]bool   // names of the template's parts, in lower case
	charts  []int             // the numbers of the charts
	written int               // how many of them are written

	warnings []string
	warned   map[string]bool
}

// base is what a presentation has besides slides.
type base struct {
	main    string // the part of the presentation
	notes   string // the part of the master of notes
	types   []contentType
	write   func() error                          // the parts
	present func(slides []string) ([]byte, error) // the presentation's part, whose slides have these relations
	// relations of the presentation's part, without the slides
	relations []relation
}

type contentType struct{ part, kind string }

func (w *writer) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !w.warned[text] {
		w.warned[text] = true
		w.warnings = append(w.warnings, text)
	}
}

// epoch is the time of all entries: the earliest that a zip can have.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant

// entry begins an entry of the zip.
func (w *writer) entry(name string, method uint16) (io.Writer, error) {
	if w.ctx.Err() != nil {
		return nil, context.Cause(w.ctx)
	}
	out, err := w.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: epoch})
	if err != nil {
		return nil, fmt.Errorf("write the presentation: %w", err)
	}
	return out, nil
}

// put writes a part of XML.
func (w *writer) put(name string, content []byte) error {
	out, err := w.entry(name, zip.Deflate)
	if err != nil {
		return err
	}
	if _, err := out.Write(content); err != nil {
		return fmt.Errorf("write the presentation: %w", err)
	}
	return nil
}

func slidePart(n int) string { return fmt.Sprintf("ppt/slides/slide%d.xml", n) }
func notesPart(n int) string { return fmt.Sprintf("ppt/notesSlides/notesSlide%d.xml", n) }
func chartPart(n int) string { return fmt.Sprintf("ppt/charts/deckChart%d.xml", n) }
func chartBook(n int) string { return fmt.Sprintf("ppt/embeddings/deckChart%d.xlsx", n) }

func (w *writer) write() error {
	w.nameParts()
	if err := w.chooseBase(); err != nil {
		return err
	}
	if err := w.put("[Content_Types].xml", w.contentTypes()); err != nil {
		return err
	}
	if err := w.packageParts(); err != nil {
		return err
	}
	if err := w.base.write(); err != nil {
		return err
	}
	total := len(w.deck.Slides)
	for i := range w.deck.Slides {
		if err := w.slide(i + 1); err != nil {
			return err
		}
		if w.options.Progress != nil {
			if err := w.options.Progress(i+1, total); err != nil {
				return err
			}
		}
	}
	return w.writeMedia()
}

// chooseBase decides between the template and the deck's own layouts.
func (w *writer) chooseBase() error {
	if w.options.Template != nil {
		return w.templateBase()
	}
	w.ownBase()
	return nil
}

// nameParts names the parts of the pictures and charts that the slides and layouts show. An export that is a template has
// parts with such names already.
func (w *writer) nameParts() {
	shown := *w.deck
	if t := w.options.Template; t != nil {
		shown.Layouts = nil // their pictures and charts are parts of the template
		for _, name := range t.parts {
			w.taken[strings.ToLower(name)] = true
		}
	}
	w.nameMedia(&shown)
	w.nameCharts(&shown)
}

// nameMedia names the parts of the pictures in the order of their keys.
func (w *writer) nameMedia(shown *deck.Deck) {
	n := 0
	for _, key := range shown.Shown() {
		extension := extensions[w.deck.Media[key].Type]
		if extension == "" {
			w.warn("pictures of the type %s can't be in a presentation: their places are left as boxes with their descriptions",
				w.deck.Media[key].Type)
			w.media[key] = ""
			continue
		}
		part := func(n int) string { return fmt.Sprintf("ppt/media/deckImage%d.%s", n, extension) }
		n = w.next(n, part)
		w.media[key] = part(n)
	}
}

// nameCharts numbers the charts.
func (w *writer) nameCharts(shown *deck.Deck) {
	n := 0
	number := func(elements []deck.Element) {
		for _, e := range elements {
			if e.Kind == deck.ChartElement {
				n = w.next(n, chartPart, chartBook)
				w.charts = append(w.charts, n)
			}
		}
	}
	for _, l := range shown.Layouts {
		number(l.Elements)
	}
	for _, s := range shown.Slides {
		number(s.Elements)
	}
}

// next is the first number after n that no part of the template has in its name. Names don't differ by case alone.
func (w *writer) next(n int, parts ...func(n int) string) int {
	n++
	for slices.ContainsFunc(parts, func(part func(int) string) bool { return w.taken[strings.ToLower(part(n))] }) {
		n++
	}
	return n
}

// extensions are those of the types of pictures that PowerPoint shows.
var extensions = map[string]string{
	"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/bmp": "bmp", "image/tiff": "tiff",
	"image/x-emf": "emf", "image/x-wmf": "wmf",
}

func (w *writer) writeMedia() error {
	type file struct{ key, part string }
	var files []file
	for key, name := range w.media {
		if name != "" {
			files = append(files, file{key, name})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.key, b.key) })
	for _, f := range files {
		if err := w.copyMedia(f.key, f.part); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) copyMedia(key, name string) error {
	in, err := w.options.Media(key)
	if err != nil {
		return fmt.Errorf("open a picture of the deck: %w", err)
	}
	defer func() { _ = in.Close() }() // read-only
	out, err := w.entry(name, zip.Store)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, reading{w.ctx, in}); err != nil {
		return fmt.Errorf("copy a picture of the deck: %w", err)
	}
	return nil
}

// inZ returns elements in the order in which they are drawn.
func inZ(elements []deck.Element) []*deck.Element {
	out := make([]*deck.Element, len(elements))
	for i := range elements {
		out[i] = &elements[i]
	}
	slices.SortStableFunc(out, func(a, b *deck.Element) int { return cmp.Compare(a.Z, b.Z) })
	return out
}
