package docling

import (
	"math"

	"github.com/seed-7227ef26/async-worker/internal/docling"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// place returns the page on which an item begins, and the box around its parts on that page, or nil if the
// page's size is unknown.
func (w *walk) place(at []docling.Place) (page int, box *extract.Box) {
	page = max(at[0].Page, 0)
	size := w.doc.Pages[page].Size
	if !(size.Width > 0 && size.Height > 0) {
		return page, nil
	}
	for _, p := range at {
		if p.Page != at[0].Page {
			continue
		}
		b := fractions(p.Box, size.Width, size.Height)
		if b == nil {
			continue
		}
		if box == nil {
			box = b
			continue
		}
		box.Left, box.Top = min(box.Left, b.Left), min(box.Top, b.Top)
		box.Right, box.Bottom = max(box.Right, b.Right), max(box.Bottom, b.Bottom)
	}
	return page, box
}

// fractions converts a box to fractions of the page from its top left, or nil for an invalid one.
func fractions(b docling.Box, width, height float64) *extract.Box {
	left, right, top, bottom := b.Left/width, b.Right/width, b.Top/height, b.Bottom/height
	if b.Origin == docling.BottomLeft {
		top, bottom = 1-top, 1-bottom
	}
	for _, f := range []*float64{&left, &right, &top, &bottom} {
		if math.IsNaN(*f) {
			return nil
		}
		*f = min(max(*f, 0), 1)
	}
	box := &extract.Box{
		Left: min(left, right), Top: min(top, bottom), Right: max(left, right), Bottom: max(top, bottom),
	}
	if box.Left == box.Right || box.Top == box.Bottom {
		return nil
	}
	return box
}
