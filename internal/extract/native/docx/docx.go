// Package docx extracts Word documents (Office Open XML, ECMA-376 part 1, chapter 17), transitional and strict.
// It streams the main part; only styles, numbering and notes are held in memory. Comments name elements as the
// standard does, with the prefix w.
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

// New returns an extractor of Word documents. A Word document has no pages until it is laid out.
func New() extract.Extractor { return ooxml.Extractor("native/docx", 1, read) }

func read(
	ctx context.Context, pkg *ooxml.Package, limits extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	r := &reader{out: flow.New(emit, limits.Characters)}
	main, err := r.prepare(ctx, pkg)
	if err != nil {
		return extract.Info{}, err
	}
	properties, err := pkg.Properties(ctx)
	if err != nil {
		return extract.Info{}, err
	}
	err = pkg.Read(ctx, main, r.document)
	if errors.Is(err, fs.ErrNotExist) {
		err = taskerr.Errorf(taskerr.CorruptionDetected,
			"the Word document has no text part: it is damaged; save it again and upload it")
	}
	if err != nil {
		return extract.Info{}, err
	}
	return extract.Info{Title: r.title, Language: r.styles.language, Properties: properties}, nil
}

// prepare reads the parts that the main part refers to and returns the main part's name.
func (r *reader) prepare(ctx context.Context, pkg *ooxml.Package) (string, error) {
	main, err := pkg.Main(ctx, "word/document.xml")
	if err != nil {
		return "", err
	}
	parts := map[string]string{
		"styles": "word/styles.xml", "numbering": "word/numbering.xml",
		"footnotes": "word/footnotes.xml", "endnotes": "word/endnotes.xml",
	}
	relations, err := pkg.Relations(ctx, main)
	if err != nil {
		return "", err
	}
	for _, relation := range relations {
		if _, ok := parts[relation.Type]; ok {
			parts[relation.Type] = relation.Target
		}
	}
	if err := ooxml.Optional(pkg.Read(ctx, parts["styles"], r.styles.read)); err != nil {
		return "", err
	}
	if err := ooxml.Optional(pkg.Read(ctx, parts["numbering"], r.numbering.read)); err != nil {
		return "", err
	}
	r.notes = map[string]string{}
	for _, kind := range []string{"footnote", "endnote"} {
		err := pkg.Read(ctx, parts[kind+"s"], func(d *ooxml.Decoder) error { return r.readNotes(d, kind) })
		if err := ooxml.Optional(err); err != nil {
			return "", err
		}
	}
	return main, nil
}

// reader walks one document. Each method is called after an element's start tag and reads to its end.
type reader struct {
	d         *ooxml.Decoder
	out       *flow.Writer
	styles    styles
	numbering numbering
	notes     map[string]string // text by "footnote 2", "endnote 1"
	fields    []bool            // open complex fields, innermost last; true once the result has begun
	title     string            // of the first paragraph in the style Title
	titled    bool              // headings nest under a title
}

// document reads the main part.
func (r *reader) document(d *ooxml.Decoder) error {
	r.d = d
	found := false
	err := d.Each(func(start xml.StartElement) error {
		if start.Name.Local != "body" || found {
			return nil
		}
		found = true
		return r.blocks(r.out.Block)
	})
	if err != nil {
		return err
	}
	if !found {
		return taskerr.Errorf(taskerr.CorruptionDetected,
			"the Word document has no body: it is damaged; save it again and upload it")
	}
	return r.out.Flush()
}
