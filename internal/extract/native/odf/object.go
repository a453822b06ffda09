package odf

import (
	"encoding/xml"
	"path"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

// object reads a draw:object: a chart's title and table of values, or the characters of a formula. Nested
// objects are not read.
func (r *reader) object(start xml.StartElement, emit extract.Emit) error {
	target := strings.TrimPrefix(ooxml.Attr(start, "href"), "./")
	if target == "" || r.nested || strings.Contains(target, "..") || strings.Contains(target, ":") {
		return r.blocks(emit) // the object may be inline
	}
	if err := r.d.Skip(); err != nil {
		return err
	}
	inner := &reader{
		ctx: r.ctx, pkg: r.pkg, out: r.out, styles: newStyles(), lists: map[string]*counter{}, nested: true,
		page: r.page, maxPages: r.maxPages,
	}
	err := r.pkg.Read(r.ctx, path.Join(target, "content.xml"), func(d *ooxml.Decoder) error {
		inner.d = d
		return d.Each(func(start xml.StartElement) error {
			switch start.Name.Local {
			case "body":
				return inner.blocks(emit)
			case "math":
				return inner.formula(emit)
			}
			return nil
		})
	})
	return ooxml.Optional(err)
}

// formula reads a math:math without its annotation, which repeats the formula in the editor's language.
func (r *reader) formula(emit extract.Emit) error {
	p := &paragraph{}
	var read func() error
	read = func() error {
		return r.d.Children(func(start xml.StartElement) error {
			if strings.HasPrefix(start.Name.Local, "annotation") {
				return r.d.Skip()
			}
			p.blank = true
			return read()
		}, func(piece []byte) error { return r.write(p, string(piece)) })
	}
	if err := read(); err != nil {
		return err
	}
	return emit(extract.Block{Kind: extract.Paragraph, Text: p.text.String()})
}
