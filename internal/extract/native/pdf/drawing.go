package pdf

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/content"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
)

// rule is a line that the page draws across or down.
type rule struct {
	box

	thick float64 // points
}

// across reports whether the rule runs from left to right.
func (r rule) across() bool { return r.height() <= r.width() }

// drawings reads what the pages of a file draw.
type drawings struct {
	path   string
	in     *os.File
	file   *object.File
	reader *content.Reader
	next   func() (*object.Page, bool)
	page   *object.Page
	number int   // of page
	failed error // nothing more is read
	dense  []int // pages that draw too much
	lost   []int // pages whose content can't be read, or costs too much
	broken []int // pages whose content is damaged
}

// at returns the drawing and the links of a page, or nil for what can't be read. Pages are read in order.
func (d *drawings) at(ctx context.Context, number int) (found *content.Drawing, links *content.Links) {
	defer d.recovered(func() { found, links = nil, nil })
	if !d.opened(ctx) {
		return nil, nil
	}
	for d.number < number {
		page, ok := d.next()
		if !ok {
			return nil, nil
		}
		d.page, d.number = page, d.number+1
	}
	if d.number != number {
		return nil, nil
	}
	links = content.ReadLinks(d.file, d.page)
	broken := d.file.Broken()
	found, err := d.reader.Read(ctx, d.page)
	if d.file.Broken() > broken {
		d.broken = append(d.broken, number)
	}
	switch {
	case err == nil:
		return found, links
	case errors.Is(err, content.ErrTooMuch):
		d.dense = append(d.dense, number)
	case ctx.Err() == nil:
		d.lost = append(d.lost, number)
	}
	return nil, links
}

// noOutline reports whether the file was read and has no outline, so that poppler needn't look for one.
func (d *drawings) noOutline(ctx context.Context) (none bool) {
	defer d.recovered(func() { none = false })
	return d.opened(ctx) && d.file.Root()["Outlines"] == nil
}

// opened opens the file before its first use, and reports whether it can be read.
func (d *drawings) opened(ctx context.Context) bool {
	if d.file == nil && d.failed == nil {
		d.failed = d.open(ctx)
	}
	return d.failed == nil
}

// recovered must be deferred. After a panic nothing more is read, and forget is called.
func (d *drawings) recovered(forget func()) {
	if p := recover(); p != nil {
		d.failed = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		forget()
	}
}

func (d *drawings) open(ctx context.Context) error {
	in, err := os.Open(d.path)
	if err != nil {
		return fmt.Errorf("open the PDF: %w", err)
	}
	d.in = in
	stat, err := in.Stat()
	if err != nil {
		return fmt.Errorf("open the PDF: %w", err)
	}
	if d.file, err = object.Open(ctx, in, stat.Size()); err != nil {
		return fmt.Errorf("open the PDF: %w", err)
	}
	d.next, d.reader = d.file.Pages(), content.NewReader(d.file)
	return nil
}

func (d *drawings) close() {
	if d.in != nil {
		_ = d.in.Close() // it was only read
	}
}

// warnings returns warnings about pages whose lines are not known.
func (d *drawings) warnings() (all []string) {
	const effect = "tables there are found only by the alignment of their text"
	if d.failed != nil {
		return []string{"the lines that the PDF draws could not be read: " + effect}
	}
	if len(d.broken) > 0 {
		all = append(all, fmt.Sprintf("the content of page %s is damaged in the file: text there may be missing or wrong",
			extract.PageRanges(d.broken)))
	}
	if len(d.dense) > 0 {
		all = append(all, fmt.Sprintf("page %s draws too many lines: %s", extract.PageRanges(d.dense), effect))
	}
	if len(d.lost) > 0 {
		all = append(all, fmt.Sprintf("the lines of page %s could not be read: %s", extract.PageRanges(d.lost), effect))
	}
	return all
}

// beyond returns a warning if the file has more pages than it claims. Poppler doesn't read those.
func (d *drawings) beyond(claimed int) (all []string) {
	defer func() {
		if p := recover(); p != nil {
			all = nil
		}
	}()
	if d.failed != nil || d.next == nil || d.number != claimed {
		return nil
	}
	if _, more := d.next(); !more {
		return nil
	}
	return []string{fmt.Sprintf("the PDF claims to have %d pages and has more, which were not read: it is damaged; "+
		"print it to a new PDF", claimed)}
}

// draw adds the drawing to the page unless it is that of another size: then the positions would not fit.
func (p *page) draw(d *content.Drawing) {
	if d == nil {
		return
	}
	p.pictures = coveredBy(d.Images, d.Width, d.Height)
	p.sizeAs(&runPage{width: d.Width, height: d.Height})
	if abs(d.Width-p.width) > 1.5 || abs(d.Height-p.height) > 1.5 {
		return
	}
	for _, l := range d.Lines {
		p.rules = append(p.rules, rule{box{l.Left, l.Top, l.Right, l.Bottom}, l.Thick})
	}
	for _, b := range d.Dots {
		p.dots = append(p.dots, box{b.Left, b.Top, b.Right, b.Bottom})
	}
	for _, b := range d.Marks {
		p.marks = append(p.marks, box{b.Left, b.Top, b.Right, b.Bottom})
	}
	for i, f := range d.Fills {
		if !f.White && !shadesShaded(f, d.Fills[max(0, i-shadingsBefore):i]) {
			p.fills = append(p.fills, box{f.Left, f.Top, f.Right, f.Bottom})
		}
	}
}
