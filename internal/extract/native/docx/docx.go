// Package docx extracts Word documents (Office Open XML, ECMA-376 part 1, chapter 17), transitional and strict.
// It streams the main part; only styles, numbering, notes and comments are held in memory. Comments name elements as
// the standard does, with the prefix w.
package docx

import (
	"context"
	"encoding/xml"
	"errors"
	"io/fs"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/flow"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// New returns an extractor of Word documents. A Word document has no pages until it is laid out. Documents that it
// imports when it is opened (w:altChunk) are read by imported, which must not read such documents in them; nil: they
// are not read, and a warning says so.
func New(imported extract.Runner) extract.Extractor {
	return extract.Func("native/docx", 9, func(
		ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit,
	) (extract.Info, error) {
		pkg, err := ooxml.Open(src.Path, limits)
		if err != nil {
			return extract.Info{}, err
		}
		defer func() { _ = pkg.Close() }() // read-only
		r := &reader{
			ctx: ctx, pkg: pkg, out: flow.New(emit, limits.Characters), read: map[string]bool{},
			imports: imports{runner: imported, temp: src.TempDir, limits: limits, unpack: limits.ZipBytes},
		}
		return r.extract()
	})
}

func (r *reader) extract() (extract.Info, error) {
	main, err := r.prepare()
	if err != nil {
		return extract.Info{}, err
	}
	properties, err := r.pkg.Properties(r.ctx)
	if err != nil {
		return extract.Info{}, err
	}
	err = r.pkg.Read(r.ctx, main, r.document)
	if errors.Is(err, fs.ErrNotExist) {
		err = taskerr.Errorf(taskerr.CorruptionDetected,
			"the Word document has no text part: it is damaged; save it again and upload it")
	}
	if err != nil {
		return extract.Info{}, err
	}
	return extract.Info{
		Title: r.title, Language: r.styles.language, Properties: properties, Warnings: r.imports.warnings(),
	}, nil
}

// prepare reads the parts that the main part refers to and returns the main part's name.
func (r *reader) prepare() (string, error) {
	main, err := r.pkg.Main(r.ctx, "word/document.xml")
	if err != nil {
		return "", err
	}
	parts := map[string]string{
		"styles": "word/styles.xml", "numbering": "word/numbering.xml",
		"footnotes": "word/footnotes.xml", "endnotes": "word/endnotes.xml", "comments": "word/comments.xml",
	}
	relations, err := r.pkg.Relations(r.ctx, main)
	if err != nil {
		return "", err
	}
	for _, relation := range relations {
		if _, ok := parts[relation.Type]; ok {
			parts[relation.Type] = relation.Target
		}
	}
	if err := ooxml.Optional(r.pkg.Read(r.ctx, parts["styles"], r.styles.read)); err != nil {
		return "", err
	}
	if err := ooxml.Optional(r.pkg.Read(r.ctx, parts["numbering"], r.numbering.read)); err != nil {
		return "", err
	}
	r.notes, r.comments = map[string]extract.Cell{}, map[string]extract.Block{}
	for _, kind := range []string{"footnote", "endnote", "comment"} {
		part := parts[kind+"s"]
		if r.relations, err = r.pkg.Relations(r.ctx, part); err != nil {
			return "", err
		}
		err := r.pkg.Read(r.ctx, part, func(d *ooxml.Decoder) error { return r.readNotes(d, kind) })
		if err := ooxml.Optional(err); err != nil {
			return "", err
		}
	}
	r.relations = relations
	return main, nil
}

// reader walks one document. Each method is called after an element's start tag and reads to its end.
type reader struct {
	ctx       context.Context
	pkg       *ooxml.Package
	d         *ooxml.Decoder
	relations map[string]ooxml.Relation // of the part being read
	out       *flow.Writer
	styles    styles
	numbering numbering
	notes     map[string]extract.Cell  // by "footnote 2", "endnote 1"
	comments  map[string]extract.Block // by id; those that were not emitted yet
	ordered   []string                 // ids of the comments, in the order of their part
	fields    []field                  // open complex fields, innermost last
	read      map[string]bool          // parts with charts, diagrams and imported documents; each is read once
	imports   imports
	held      int        // cells and blocks within the current block of the main text, or the current note
	title     string     // of the first paragraph in the style Title
	dropped   string     // the large first letter of the next paragraph
	begun     *paragraph // has the text so far of the next paragraph; nil: there is none
	titled    bool       // headings nest under a title
	main      bool       // what is read is the main text: not a note, a cell or a text box
}

// document reads the main part.
func (r *reader) document(d *ooxml.Decoder) error {
	r.d = d
	found := false
	err := d.Each(func(start xml.StartElement) error {
		if start.Name.Local != "body" || found {
			return nil
		}
		found, r.main = true, true
		return r.story(r.emit)
	})
	if err != nil {
		return err
	}
	if !found {
		return taskerr.Errorf(taskerr.CorruptionDetected,
			"the Word document has no body: it is damaged; save it again and upload it")
	}
	for _, id := range r.ordered { // whose places are not in the text
		r.comment(id)
	}
	return r.out.Flush()
}
