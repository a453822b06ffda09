package content

import "github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"

// Link is an area of a page that leads to an address.
type Link struct {
	Box

	Address string
}

// Field is a field of a form.
type Field struct {
	Box

	Button bool // a box to tick; else it has text
	On     bool // it is ticked
}

// Links are those of a page of this size, as it is shown, and its fields.
type Links struct {
	Width, Height float64
	All           []Link
	Fields        []Field
}

// ReadLinks returns the areas of a page that lead to addresses (12.5.6.5, 12.6.4.8), or are fields of a form (12.7).
func ReadLinks(f *object.File, p *object.Page) *Links {
	m, width, height := pageMatrix(p)
	out := &Links{Width: width, Height: height}
	for _, l := range f.Links(p) {
		for _, r := range l.Areas {
			out.All = append(out.All, Link{m.around(r), l.Address})
		}
	}
	for _, field := range f.Fields(p) {
		out.Fields = append(out.Fields, Field{m.around(field.Area), field.Button, field.On})
	}
	return out
}
