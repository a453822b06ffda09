package docling

import (
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/docling"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// maxDepth limits how deep items are nested; real documents have a tenth of it.
const maxDepth = 200

// Blocks emits the document's blocks in the order of the references from its body. Page headers and footers,
// backgrounds and invisible items are omitted. An item is emitted once, however often it is referenced; a
// dangling reference is ignored. Errors are emit's, and corruption_detected for a document that is nested too
// deep or a table that is too large.
func Blocks(doc *docling.Document, emit extract.Emit) error {
	return newWalk(doc, emit).children(&doc.Body, scope{})
}

// walk is one pass over a document.
type walk struct {
	doc   *docling.Document
	emit  extract.Emit
	whole bool            // page headers and footers are emitted, too
	seen  map[string]bool // by reference
	depth int
}

func newWalk(doc *docling.Document, emit extract.Emit) *walk {
	return &walk{doc: doc, emit: emit, seen: map[string]bool{}}
}

// with returns the walk with another place for its blocks.
func (w *walk) with(emit extract.Emit) *walk {
	inner := *w
	inner.emit = emit
	return &inner
}

// scope is what an item inherits from the items around it.
type scope struct {
	list  int  // number of enclosing lists
	place bool // a block around it has the position: text of a cell has none of its own
}

// find returns the item of a reference, unless it was found before.
func (w *walk) find(ref docling.Ref) (array string, item *docling.Item) {
	if w.seen[ref.To] {
		return "", nil
	}
	array, item = w.look(ref)
	if item != nil {
		w.seen[ref.To] = true
	}
	return array, item
}

func (w *walk) look(ref docling.Ref) (array string, item *docling.Item) {
	path, ok := strings.CutPrefix(ref.To, "#/")
	if !ok {
		return "", nil
	}
	array, number, ok := strings.Cut(path, "/")
	n, err := strconv.Atoi(number)
	items := w.doc.Items[array]
	if !ok || err != nil || n < 0 || n >= len(items) {
		return "", nil
	}
	return array, &items[n]
}

func (w *walk) children(of *docling.Item, s scope) error {
	if w.depth++; w.depth > maxDepth {
		return taskerr.Errorf(taskerr.CorruptionDetected, "the document's parts are nested more than %d deep", maxDepth)
	}
	defer func() { w.depth-- }()
	for i, ref := range of.Children {
		array, item := w.find(ref)
		if item == nil || !w.visible(item) {
			continue
		}
		if err := w.item(array, item, of, i, s); err != nil {
			return err
		}
	}
	return nil
}

// visible reports whether an item belongs to the document itself, which includes speaker notes and comments.
func (w *walk) visible(item *docling.Item) bool {
	if !w.whole && (item.Label == "page_header" || item.Label == "page_footer") {
		return false
	}
	return item.Layer == "" || item.Layer == "body" || item.Layer == "notes" || w.whole && item.Layer == "furniture"
}

// item emits an item, the number-th child of parent, and its content.
func (w *walk) item(array string, item, parent *docling.Item, number int, s scope) error {
	switch array {
	case "groups":
		return w.group(item, s)
	case "tables":
		return w.table(item, s)
	case "pictures":
		return w.picture(item, s)
	case "key_value_items", "form_items":
		return w.graph(item, s)
	case "field_items":
		return w.field(item, s)
	}
	if item.Graph != nil {
		return w.graph(item, s)
	}
	return w.text(item, parent, number, s)
}

func (w *walk) group(item *docling.Item, s scope) error {
	switch item.Label {
	case "inline":
		line, err := w.inline(item)
		if err != nil {
			return err
		}
		return w.block(extract.Block{Kind: extract.Paragraph, Text: line.Text, Links: line.Links}, w.first(item), s)
	case "list", "ordered_list":
		s.list++
	case "sheet":
		if err := w.emit(extract.Block{Kind: extract.Heading, Level: 2, Text: item.Name}); err != nil {
			return err
		}
	}
	return w.children(item, s)
}

// first returns the first position of an item or of its content; groups have none of their own.
func (w *walk) first(item *docling.Item) []docling.Place {
	if len(item.Places) > 0 {
		return item.Places
	}
	for _, ref := range item.Children {
		if _, child := w.look(ref); child != nil && len(child.Places) > 0 {
			return child.Places
		}
	}
	return nil
}

// inline joins the text and links of an item's children, as in a paragraph with parts in bold.
func (w *walk) inline(item *docling.Item) (extract.Cell, error) {
	var text strings.Builder
	var links []extract.Link
	collect := w.with(func(b extract.Block) error {
		part := extract.CellOf([]extract.Block{b})
		if part.Text == "" {
			return nil
		}
		if text.Len() > 0 {
			text.WriteByte(' ')
		}
		links = append(links, extract.Shift(part.Links, text.Len())...)
		text.WriteString(part.Text)
		return nil
	})
	if err := collect.children(item, scope{place: true}); err != nil {
		return extract.Cell{}, err
	}
	return extract.Cell{Text: text.String(), Links: links}, nil
}

// block emits one block at a position; the router drops blocks without text.
func (w *walk) block(b extract.Block, at []docling.Place, s scope) error {
	if len(at) > 0 && !s.place {
		b.Page, b.Box = w.place(at)
	}
	return w.emit(b)
}

// captions emits the captions or footnotes that an item refers to.
func (w *walk) captions(refs []docling.Ref, s scope) error {
	for _, ref := range refs {
		_, item := w.find(ref)
		if item == nil || !w.visible(item) {
			continue
		}
		if err := w.text(item, nil, 0, s); err != nil {
			return err
		}
	}
	return nil
}
