// Package tagged adds a structure tree to a PDF file that go-pdf/fpdf wrote: what its marked content is (headings,
// paragraphs, lists, tables, figures), in reading order, for screen readers and for whoever takes the text out. Links
// are annotations of this package, as the library's can't be in the tree. See ISO 32000-1, 14.7 and 14.8.
package tagged

// Element is an element of the structure tree. One without a type is a group: its children are its parent's.
type Element struct {
	Type string // a standard structure type (14.8.4), such as P
	// The text for who can't see a figure.
	Alt string
	// The text itself, where the letters on the page are others: joined, turned, or boxes.
	Actual  string
	Lang    string // BCP 47; empty: the parent's
	Title   string // for people who look at the tree
	Summary string // of a table

	// Of a cell: how many columns and rows it spans; 0: 1.
	ColSpan, RowSpan int
	// Of a figure: where it is on its page, from the bottom left in points; all zero: not said.
	Box [4]float64

	kids   []kid
	object int
}

// kid is a child of an element: another one, or content of a page, or an annotation of it.
type kid struct {
	element *Element
	page    int // from 1
	mark    int // the marked content's number on its page; -1: annotation
	link    int // the annotation's index
}

// Add appends a child, and returns it.
func (e *Element) Add(child *Element) *Element {
	e.kids = append(e.kids, kid{element: child})
	return child
}

// shown reports whether an element or what is below it has content. Cells count without it: they keep rows in columns.
func (e *Element) shown() bool {
	if e.Type == "TD" || e.Type == "TH" {
		return true
	}
	for _, k := range e.kids {
		if k.element == nil || k.element.shown() {
			return true
		}
	}
	return false
}

// children are what is below an element in the tree: groups are taken apart, and what has no content is left out.
func (e *Element) children() []kid {
	var out []kid
	for _, k := range e.kids {
		switch {
		case k.element == nil:
			out = append(out, k)
		case !k.element.shown():
		case k.element.Type == "":
			out = append(out, k.element.children()...)
		default:
			out = append(out, k)
		}
	}
	return out
}

// Link is a place that leads to an address or to a page.
type Link struct {
	Box  [4]float64 // left, bottom, right, top from the bottom left, in points
	URI  string     // empty: Page
	Page int        // from 1
	Text string     // what it says, for who can't see it
}

// Document is the structure of a file.
type Document struct {
	Root   Element
	Height float64 // of the pages, in points
	pages  []page
}

// page is what a page has.
type page struct {
	marks []*Element // by the number of the marked content
	links []link
}

type link struct {
	Link
	of     *Element
	object int
}

// AddPage begins the next page.
func (d *Document) AddPage() { d.pages = append(d.pages, page{}) }

// Mark adds content of the current page to an element, and returns the number that the page's content has to mark it
// with.
func (d *Document) Mark(e *Element) int {
	p := &d.pages[len(d.pages)-1]
	n := len(p.marks)
	p.marks = append(p.marks, e)
	e.kids = append(e.kids, kid{page: len(d.pages), mark: n})
	return n
}

// Link adds a link of the current page to an element of the type Link.
func (d *Document) Link(e *Element, l Link) {
	p := &d.pages[len(d.pages)-1]
	e.kids = append(e.kids, kid{page: len(d.pages), mark: -1, link: len(p.links)})
	p.links = append(p.links, link{Link: l, of: e})
}
