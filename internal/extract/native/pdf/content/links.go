package content

import "github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"

// Link is an area of a page that leads to an address.
type Link struct {
	Box

	Address string
}

// Button is a box to tick in a form.
type Button struct {
	Box

	On bool
}

// Links are those of a page of this size, as it is shown, and its buttons.
type Links struct {
	Width, Height float64
	All           []Link
	Buttons       []Button
}

// ReadLinks returns the areas of a page that lead to addresses (12.5.6.5, 12.6.4.8), or can be ticked.
func ReadLinks(f *object.File, p *object.Page) *Links {
	m, width, height := pageMatrix(p)
	out := &Links{Width: width, Height: height}
	for _, l := range f.Links(p) {
		for _, r := range l.Areas {
			out.All = append(out.All, Link{m.around(r), l.Address})
		}
	}
	for _, b := range f.Buttons(p) {
		out.Buttons = append(out.Buttons, Button{m.around(b.Area), b.On})
	}
	return out
}
