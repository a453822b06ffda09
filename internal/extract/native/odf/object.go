package odf

import (
	"encoding/xml"
	"path"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/formula"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

// object reads a draw:object: a chart's title and table of values, or a formula. Nested objects are not read,
// and each object is read once.
func (r *reader) object(start xml.StartElement, emit extract.Emit) error {
	target := strings.TrimPrefix(ooxml.Attr(start, "href"), "./")
	if target == "" || r.nested || strings.Contains(target, "..") || strings.Contains(target, ":") {
		return r.blocks(emit) // the object may be inline
	}
	if err := r.d.Skip(); err != nil || r.objects[target] {
		return err
	}
	r.objects[target] = true // a small file may refer to a large object any number of times
	inner := &reader{
		ctx: r.ctx, pkg: r.pkg, out: r.out, styles: newStyles(), lists: map[string]*counter{}, nested: true, objects: r.objects,
		page: r.page, maxPages: r.maxPages, collecting: r.collecting, repeated: r.repeated,
		blanks: r.blanks, maxBlanks: r.maxBlanks,
	}
	err := r.pkg.Read(r.ctx, path.Join(target, "content.xml"), func(d *ooxml.Decoder) error {
		inner.d = d
		return d.Each(func(start xml.StartElement) error {
			switch start.Name.Local {
			case "body":
				return inner.blocks(emit)
			case "math":
				return inner.equation(start, emit)
			}
			return nil
		})
	})
	r.formula, r.repeated, r.blanks = inner.formula, inner.repeated, inner.blanks
	return ooxml.Optional(err)
}

// equation reads a math:math.
func (r *reader) equation(start xml.StartElement, emit extract.Emit) error {
	text, err := formula.Read(r.d, start)
	if err != nil || text == "" {
		return err
	}
	r.formula = text
	return emit(extract.Block{Kind: extract.Paragraph, Text: text})
}
