// Package pptx reads and writes PowerPoint presentations (Office Open XML, ECMA-376 part 1, chapters 19 to 21) as
// decks. It keeps text with its order, geometry, tables, charts with their data, pictures, notes and the theme; not
// animations, sound and macros. Comments name elements as the standard does, with the prefixes p, a, c and r.
package pptx

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// ReadOptions qualify Read.
type ReadOptions struct {
	Limits extract.Limits
	// Name is the document's name, for provenance.
	Name string
	// Folder is where the pictures are saved, each under its SHA-256; empty: they are left out.
	Folder string
	// Progress is called with the number of slides that were read, and of all; nil: not called.
	Progress func(done, total int) error
}

// Read reads a presentation. Warnings say what of it the deck does not have. Errors are *taskerr.Error:
// corruption_detected (damaged, a bomb), quota_exceeded (over a limit), or the context's cause.
func Read(ctx context.Context, path string, o ReadOptions) (d *deck.Deck, warnings []string, err error) {
	pkg, err := ooxml.Open(path, o.Limits)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = pkg.Close() }() // read-only
	r := newReader(ctx, pkg, o)
	if err := r.presentation(); err != nil {
		return nil, nil, err
	}
	if err := r.deck.Check(); err != nil {
		return nil, nil, taskerr.Errorf(taskerr.CorruptionDetected, "the presentation has values out of range: %w", err)
	}
	return r.deck, r.warnings, nil
}

func newReader(ctx context.Context, pkg *ooxml.Package, o ReadOptions) *reader {
	r := &reader{
		ctx: ctx, pkg: pkg, options: o, limits: o.Limits.WithDefaults(), warned: map[string]bool{},
		layouts: map[string]*layout{}, masters: map[string]*master{}, media: map[string]string{}, ids: map[string]int{},
		authors: map[string]string{},
		deck: &deck.Deck{
			Version: deck.Version, Media: map[string]deck.Media{},
			Source: &deck.Source{Filename: o.Name, Format: "pptx", Method: "slides"},
		},
	}
	r.budget = 4 * r.limits.Characters
	return r
}

// reader reads one presentation.
type reader struct {
	ctx     context.Context
	pkg     *ooxml.Package
	options ReadOptions
	limits  extract.Limits
	deck    *deck.Deck
	budget  int // bytes of text that may still be read
	points  int // values and texts of charts that were read

	defaults *node // p:defaultTextStyle
	masters  map[string]*master
	layouts  map[string]*layout
	media    map[string]string // by part: the key in deck.Media
	slides   map[string]int    // by part: the slide's number
	authors  map[string]string // of comments, by id
	ids      map[string]int    // how often an id of a layout was wanted

	warnings []string
	warned   map[string]bool
}

// warn adds a warning, once.
func (r *reader) warn(text string) {
	if !r.warned[text] {
		r.warned[text] = true
		r.warnings = append(r.warnings, text)
	}
}

// spend counts text toward the limit of a document's characters.
func (r *reader) spend(text string) error {
	if r.budget -= len(text); r.budget < 0 {
		return extract.TooManyCharacters(r.limits.Characters)
	}
	return nil
}

func (r *reader) presentation() error {
	main, err := r.pkg.Main(r.ctx, "ppt/presentation.xml")
	if err != nil {
		return err
	}
	root, err := parse(r.ctx, r.pkg, main)
	if errors.Is(err, fs.ErrNotExist) {
		return taskerr.Errorf(taskerr.CorruptionDetected, "the presentation has no main part: save it again and upload it")
	}
	if err != nil {
		return err
	}
	relations, err := r.pkg.Relations(r.ctx, main)
	if err != nil {
		return err
	}
	size := root.kid("sldSz")
	r.deck.Size = deck.Size{Width: size.num("cx", 9144000), Height: size.num("cy", 6858000)}
	r.defaults = root.kid("defaultTextStyle")
	if err := r.properties(); err != nil {
		return err
	}
	if err := r.readAuthors(relations); err != nil {
		return err
	}
	var parts []string
	for _, id := range root.kid("sldIdLst").all("sldId") {
		parts = append(parts, relations[id.rel("id")].Target)
	}
	if len(parts) > min(r.limits.Pages, deck.MaxSlides) {
		return taskerr.Errorf(taskerr.QuotaExceeded, "the presentation has more than %d slides: split it into smaller files",
			min(r.limits.Pages, deck.MaxSlides))
	}
	if err := r.firstTheme(root, relations); err != nil {
		return err
	}
	r.deck.Source.Pages = len(parts)
	r.slides = map[string]int{}
	for i, part := range parts {
		r.slides[part] = i + 1
	}
	for i, part := range parts {
		err := r.slide(part, i+1)
		if errors.Is(err, fs.ErrNotExist) {
			return taskerr.Errorf(taskerr.CorruptionDetected, "slide %d is missing in the file: save it again and upload it", i+1)
		}
		if err != nil {
			return err
		}
		if r.options.Progress != nil {
			if err := r.options.Progress(i+1, len(parts)); err != nil {
				return err
			}
		}
	}
	if r.deck.Title == "" && len(r.deck.Slides) > 0 {
		r.deck.Title = r.deck.Slides[0].Title
	}
	return nil
}

// firstTheme reads the theme of the first master: it is the deck's.
func (r *reader) firstTheme(root *node, relations map[string]ooxml.Relation) error {
	part := ""
	if list := root.kid("sldMasterIdLst").all("sldMasterId"); len(list) > 0 {
		part = relations[list[0].rel("id")].Target
	}
	r.deck.Theme = deck.HouseTheme()
	if part == "" {
		return nil
	}
	_, err := r.master(part)
	return err
}

func (r *reader) properties() error {
	properties, err := r.pkg.Properties(r.ctx)
	if err != nil {
		return err
	}
	r.deck.Title, r.deck.Author, r.deck.Language = properties["title"], properties["author"], properties["language"]
	// What PowerPoint calls a presentation without a title.
	if generic := []string{"PowerPoint Presentation", "PowerPoint-Präsentation", "Slide 1"}; slices.Contains(generic, r.deck.Title) {
		r.deck.Title = ""
	}
	return nil
}

// slide reads one slide.
func (r *reader) slide(part string, number int) error {
	root, err := parse(r.ctx, r.pkg, part)
	if err != nil {
		return err
	}
	relations, err := r.pkg.Relations(r.ctx, part)
	if err != nil {
		return err
	}
	look, err := r.layout(ooxml.OfType(relations, "slideLayout"))
	if err != nil {
		return err
	}
	s := &sheet{reader: r, relations: relations, look: look}
	s.deckSlide = deck.Slide{
		Layout: look.id, Hidden: !root.on("show", true), Background: s.background(root),
		Source: &deck.Provenance{Document: r.options.Name, Page: number},
	}
	if err := s.tree(root.at("cSld", "spTree"), identity); err != nil {
		return err
	}
	s.deckSlide.Elements = inOrder(s.elements)
	for i := range s.deckSlide.Elements {
		s.deckSlide.Elements[i].ID = fmt.Sprintf("e%d", i+1)
	}
	if e := s.deckSlide.TitleElement(); e != nil {
		s.deckSlide.Title = strings.Join(strings.Fields(e.Text.Plain()), " ")
	}
	if root.kid("timing") != nil || root.kid("transition") != nil {
		r.warn("animations and transitions are not kept")
	}
	if err := s.notes(); err != nil {
		return err
	}
	if err := s.comments(); err != nil {
		return err
	}
	r.deck.Slides = append(r.deck.Slides, s.deckSlide)
	return nil
}
