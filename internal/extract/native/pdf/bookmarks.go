package pdf

import (
	"context"
	"errors"
	"io"
)

// readOutline returns the document's bookmarks. Missing or damaged ones are ignored. Pdftohtml is asked for those that
// the file's own objects don't tell for certain.
func (p poppler) readOutline(ctx context.Context) (items []outlineItem, err error) {
	if items, ok := p.drawn.outline(ctx); ok {
		return items, nil
	}
	_, err = p.run(ctx, "pdftohtml", func(r io.Reader) (err error) {
		items, err = readRuns(r, func(*runPage) error { return nil })
		return err
	}, p.runArgs(1, 1)...)
	if errors.Is(err, errToken) {
		err = nil
	}
	return items, err
}

// outline returns the bookmarks, if the file is sound and their titles can mean only one thing.
func (d *drawings) outline(ctx context.Context) (items []outlineItem, ok bool) {
	defer d.recovered(func() { items, ok = nil, false })
	if !d.opened(ctx) || !d.file.Sound() {
		return nil, false
	}
	found, ok := d.file.Outline()
	if !ok {
		return nil, false
	}
	for _, b := range found {
		title, ok := textString(b.Title)
		if !ok {
			return nil, false
		}
		items = append(items, outlineItem{normalize(title), b.Page, b.Level})
	}
	return items, true
}
