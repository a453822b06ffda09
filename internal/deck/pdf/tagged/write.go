package tagged

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
)

// Write writes a file of the library with the structure tree. data is the whole of it, and is not changed.
func (d *Document) Write(to io.Writer, data []byte) error {
	s, err := parse(data)
	if err != nil {
		return err
	}
	w := &writer{to: bufio.NewWriterSize(to, 64<<10), doc: d, offsets: make([]int, len(s.offsets), len(s.offsets)+256)}
	order := s.order()
	w.number(&d.Root)
	for p := range d.pages {
		for i := range d.pages[p].links {
			d.pages[p].links[i].object = w.next()
		}
	}
	tree, parents := w.next(), w.next()

	header := data[:s.offsets[order[0]]]
	w.put("%%PDF-1.7%s", header[min(len("%PDF-1.x"), len(header)):])
	for i, n := range order {
		end := s.end
		if i+1 < len(order) {
			end = s.offsets[order[i+1]]
		}
		body := data[s.offsets[n]:end]
		switch {
		case n == s.root:
			body, err = insert(body, "/Type /Catalog\n", fmt.Sprintf(
				"/StructTreeRoot %d 0 R\n/MarkInfo <</Marked true>>\n/ViewerPreferences <</DisplayDocTitle true>>\n", tree))
		case n >= firstPage && n < pageObject(len(d.pages)+1) && (n-firstPage)%2 == 0:
			body, err = insert(body, "<</Type /Page\n", w.pageEntries((n-firstPage)/2+1))
		}
		if err != nil {
			return err
		}
		w.offsets[n] = w.at
		w.raw(body)
	}
	w.elements(&d.Root, tree)
	w.links()
	w.roots(tree, parents)
	w.trailer(s)
	if w.err == nil {
		w.err = w.to.Flush()
	}
	if w.err != nil {
		return fmt.Errorf("write the PDF: %w", w.err)
	}
	return nil
}

// firstPage is the number of the first page's object. Each page has two: itself and its content.
const firstPage = 3

func pageObject(page int) int { return firstPage + 2*(page-1) }

// insert puts text behind the beginning of an object's dictionary.
func insert(body []byte, behind, text string) ([]byte, error) {
	i := bytes.Index(body, []byte(behind))
	if i < 0 || i > 40 {
		return nil, fmt.Errorf("%w: an object without %q", errLayout, strings.TrimSpace(behind))
	}
	i += len(behind)
	return bytes.Join([][]byte{body[:i], []byte(text), body[i:]}, nil), nil
}

// writer writes a file. Its first error stays.
type writer struct {
	to      *bufio.Writer
	doc     *Document
	offsets []int // by the object's number
	at      int
	err     error
}

// next is the number of another object.
func (w *writer) next() int {
	w.offsets = append(w.offsets, 0)
	return len(w.offsets) - 1
}

// number gives the elements below one their objects.
func (w *writer) number(e *Element) {
	e.object = w.next()
	for _, k := range e.children() {
		if k.element != nil {
			w.number(k.element)
		}
	}
}

func (w *writer) raw(b []byte) {
	if w.err == nil {
		_, w.err = w.to.Write(b)
		w.at += len(b)
	}
}

func (w *writer) put(format string, args ...any) { w.raw(fmt.Appendf(nil, format, args...)) }

func (w *writer) object(n int, format string, args ...any) {
	w.offsets[n] = w.at
	w.put("%d 0 obj\n", n)
	w.put(format, args...)
	w.put("\nendobj\n")
}

// pageEntries are what a page says of the tree, and its links. Tabs: the keyboard goes from link to link as the tree
// does.
func (w *writer) pageEntries(page int) string {
	p := &w.doc.pages[page-1]
	var out strings.Builder
	fmt.Fprintf(&out, "/StructParents %d\n/Tabs /S\n", page-1)
	if len(p.links) > 0 {
		out.WriteString("/Annots [")
		for _, l := range p.links {
			fmt.Fprintf(&out, "%d 0 R ", l.object)
		}
		out.WriteString("]\n")
	}
	return out.String()
}

// elements writes an element and those below it.
func (w *writer) elements(e *Element, parent int) {
	var out strings.Builder
	fmt.Fprintf(&out, "<</Type /StructElem /S /%s /P %d 0 R", e.Type, parent)
	for _, text := range []struct{ key, value string }{{"Alt", e.Alt}, {"ActualText", e.Actual}, {"Lang", e.Lang}, {"T", e.Title}} {
		if text.value != "" {
			fmt.Fprintf(&out, " /%s %s", text.key, Text(text.value))
		}
	}
	out.WriteString(e.attributes())
	children := e.children()
	out.WriteString(" /K [")
	for _, k := range children {
		switch {
		case k.element != nil:
			fmt.Fprintf(&out, "%d 0 R ", k.element.object)
		case k.mark < 0:
			fmt.Fprintf(&out, "<</Type /OBJR /Pg %d 0 R /Obj %d 0 R>> ", pageObject(k.page), w.doc.pages[k.page-1].links[k.link].object)
		default:
			fmt.Fprintf(&out, "<</Type /MCR /Pg %d 0 R /MCID %d>> ", pageObject(k.page), k.mark)
		}
	}
	out.WriteString("]>>")
	w.object(e.object, "%s", out.String())
	for _, k := range children {
		if k.element != nil {
			w.elements(k.element, e.object)
		}
	}
}

// attributes are those of an element (14.8.5).
func (e *Element) attributes() string {
	var out strings.Builder
	switch {
	case e.Box != [4]float64{}:
		fmt.Fprintf(&out, " /A <</O /Layout /Placement /Block /BBox [%.2f %.2f %.2f %.2f]>>", e.Box[0], e.Box[1], e.Box[2], e.Box[3])
	case e.Summary != "":
		fmt.Fprintf(&out, " /A <</O /Table /Summary %s>>", Text(e.Summary))
	case e.Type == "TH", e.Type == "TD" && max(e.ColSpan, e.RowSpan) > 1:
		out.WriteString(" /A <</O /Table")
		if e.Type == "TH" {
			out.WriteString(" /Scope /Column")
		}
		if e.ColSpan > 1 {
			fmt.Fprintf(&out, " /ColSpan %d", e.ColSpan)
		}
		if e.RowSpan > 1 {
			fmt.Fprintf(&out, " /RowSpan %d", e.RowSpan)
		}
		out.WriteString(">>")
	}
	return out.String()
}

// links writes the annotations.
func (w *writer) links() {
	parent := len(w.doc.pages) // their keys in the parent tree follow those of the pages
	for p := range w.doc.pages {
		for _, l := range w.doc.pages[p].links {
			target := fmt.Sprintf("/Dest [%d 0 R /XYZ 0 %.2f null]", pageObject(l.Page), w.doc.Height)
			if l.URI != "" {
				target = fmt.Sprintf("/A <</Type /Action /S /URI /URI <%s>>>", hex.EncodeToString([]byte(l.URI)))
			}
			w.object(l.object, "<</Type /Annot /Subtype /Link /Rect [%.2f %.2f %.2f %.2f] /Border [0 0 0] /F 4 /P %d 0 R /StructParent %d "+
				"/Contents %s %s>>", l.Box[0], l.Box[1], l.Box[2], l.Box[3], pageObject(p+1), parent, Text(l.Text), target)
			parent++
		}
	}
}

// roots writes the root of the tree, and the tree of parents: of the marked content of each page, and of the links.
func (w *writer) roots(tree, parents int) {
	var out strings.Builder
	for i, p := range w.doc.pages {
		fmt.Fprintf(&out, "%d [", i)
		for _, e := range p.marks {
			fmt.Fprintf(&out, "%d 0 R ", e.object)
		}
		out.WriteString("]\n")
	}
	next := len(w.doc.pages)
	for _, p := range w.doc.pages {
		for _, l := range p.links {
			fmt.Fprintf(&out, "%d %d 0 R\n", next, l.of.object)
			next++
		}
	}
	w.object(tree, "<</Type /StructTreeRoot /K [%d 0 R] /ParentTree %d 0 R /ParentTreeNextKey %d>>", w.doc.Root.object, parents, next)
	w.object(parents, "<</Nums [\n%s]>>", out.String())
}

func (w *writer) trailer(s *source) {
	table := w.at
	w.put("xref\n0 %d\n0000000000 65535 f \n", len(w.offsets))
	for _, at := range w.offsets[1:] {
		w.put("%010d 00000 n \n", at)
	}
	w.put("trailer\n<<\n/Size %d\n/Root %d 0 R\n/Info %d 0 R\n>>\nstartxref\n%d\n%%%%EOF\n", len(w.offsets), s.root, s.info, table)
}

// Text is a text string of PDF: UTF-16 with its byte order mark, in hex.
func Text(text string) string {
	var out strings.Builder
	out.WriteString("<FEFF")
	for _, unit := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&out, "%04X", unit)
	}
	out.WriteString(">")
	return out.String()
}
