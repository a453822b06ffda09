// Package odf extracts OpenDocument files (ISO/IEC 26300): texts, spreadsheets, presentations and drawings. It
// streams the content; only styles and notes are held in memory. Elements are identified by local name, which
// is unique among those that are read.
package odf

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/flow"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const name = "native/odf"

// New returns an extractor of OpenDocument files. The pages of a presentation or a drawing are its slides; a text
// or a spreadsheet has none until it is laid out.
func New() extract.Extractor { return ooxml.Extractor(name, 10, read) }

func read(
	ctx context.Context, pkg *ooxml.Package, limits extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	if err := refuseEncrypted(ctx, pkg); err != nil {
		return extract.Info{}, err
	}
	properties, err := readMeta(ctx, pkg)
	if err != nil {
		return extract.Info{}, err
	}
	r := &reader{
		ctx: ctx, pkg: pkg, out: flow.New(emit, limits.Characters), maxPages: limits.Pages,
		styles: newStyles(), lists: map[string]*counter{}, objects: map[string]bool{}, blanks: limits.Characters, maxBlanks: limits.Characters,
	}
	if err := ooxml.Optional(pkg.Read(ctx, "styles.xml", r.readStyles)); err != nil {
		return extract.Info{}, err
	}
	err = pkg.Read(ctx, "content.xml", r.document)
	if errors.Is(err, fs.ErrNotExist) {
		err = taskerr.Errorf(taskerr.CorruptionDetected,
			"the OpenDocument file has no content part: it is damaged; save it again and upload it")
	}
	if err != nil {
		return extract.Info{}, err
	}
	language := r.styles.language
	if language == "" {
		language = properties["language"]
	}
	info := extract.Info{Title: r.title, Language: language, Pages: r.page, Properties: properties}
	if r.cut {
		info.Warnings = []string{fmt.Sprintf("rows that repeat more than %d times, and rows in which cells repeat more than %d times, "+
			"were read in part", maxRepeats, maxCopies)}
	}
	if r.unsaved > 0 {
		info.Warnings = append(info.Warnings, ooxml.Unsaved(r.unsaved))
	}
	return info, nil
}

// refuseEncrypted fails if the manifest lists encrypted parts (part 2, 4.8).
func refuseEncrypted(ctx context.Context, pkg *ooxml.Package) error {
	err := pkg.Read(ctx, "META-INF/manifest.xml", func(d *ooxml.Decoder) error {
		return d.Each(func(start xml.StartElement) error {
			if start.Name.Local == "encryption-data" {
				return taskerr.PasswordProtected("the OpenDocument file")
			}
			return nil
		})
	})
	return ooxml.Optional(err)
}

// reader walks one document. Each method is called after an element's start tag and reads to its end.
type reader struct {
	ctx      context.Context
	pkg      *ooxml.Package
	d        *ooxml.Decoder
	out      *flow.Writer
	styles   *styles
	lists    map[string]*counter // by the id of the list, and the last one of each style
	open     []*list             // enclosing lists, innermost last
	chapters counter             // numbers of the headings
	item     *item               // the list item whose first text comes next
	shapes   *[]extract.Block    // receives a sheet's drawings; nil: they go into the flow
	nested   bool                // within an embedded object
	objects  map[string]bool     // embedded objects that were read
	formula  string              // the last one
	deck     bool                // it is a presentation
	page     int                 // current slide, in the end the number of slides
	maxPages int
	size     int    // largest font of the object on the slide, in tenths of a point; 0: unknown
	title    string // of the first paragraph in the style Title
	titled   bool   // headings nest under a title
	main     bool   // what is read is the main text: not a note, a cell or a frame
	cut      bool   // repeated rows or cells were read in part
	unsaved  int    // formulas without a result

	collecting bool // what is read is held until collect returns
	repeated   int  // cells of hold
	blanks     int  // remaining budget for wide gaps within rows, in cells
	maxBlanks  int
}

func (r *reader) readStyles(d *ooxml.Decoder) error {
	return d.Each(func(start xml.StartElement) error { return r.styles.element(d, start) })
}

// document reads the content part: its automatic styles, then the body.
func (r *reader) document(d *ooxml.Decoder) error {
	r.d = d
	found := false
	err := d.Each(func(start xml.StartElement) error {
		if start.Name.Local != "body" || found {
			return r.styles.element(d, start)
		}
		found = true
		return r.d.Children(func(start xml.StartElement) error {
			switch start.Name.Local {
			case "spreadsheet":
				return r.spreadsheet()
			case "presentation", "drawing":
				r.deck = start.Name.Local == "presentation"
				return r.slides()
			}
			r.main = true
			return r.blocks(r.top)
		}, nil)
	})
	if err != nil {
		return err
	}
	if !found {
		return taskerr.Errorf(taskerr.CorruptionDetected,
			"the OpenDocument file has no body: it is damaged; save it again and upload it")
	}
	return r.out.Flush()
}

// top emits a block of the main flow.
func (r *reader) top(b extract.Block) error {
	b.Page = r.page
	return r.out.Block(b)
}

// collect calls read and returns the blocks that it emits. The enclosing lists are hidden from read.
func (r *reader) collect(read func(extract.Emit) error) ([]extract.Block, error) {
	open, item, main, collecting := r.open, r.item, r.main, r.collecting
	r.open, r.item, r.main, r.collecting = nil, nil, false, true
	defer func() { r.open, r.item, r.main, r.collecting = open, item, main, collecting }()
	var blocks []extract.Block
	err := read(func(b extract.Block) error {
		blocks = append(blocks, b)
		return nil
	})
	return blocks, err
}
