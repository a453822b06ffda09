package markdown

import (
	"context"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/html"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// maxDepth limits the recursion; real documents stay far below it.
const maxDepth = 128

func errTooDeep() error {
	return taskerr.Errorf(taskerr.CorruptionDetected, "the text is nested deeper than %d levels: it is not read",
		maxDepth)
}

// walker visits the tree of one slice.
type walker struct {
	ctx    context.Context
	parser parser.Parser
	links  parser.Context // has the addresses that links refer to
	source []byte
	emit   extract.Emit
	lists  int            // open lists
	item   *extract.Block // the list item whose text comes next
	known  *notes         // of the file
	notes  *east.FootnoteList

	continued *east.Table // its header and some rows are in the slice before; nil: none
}

func (w *walker) blocks(parent ast.Node, depth int) error {
	if depth > maxDepth {
		return errTooDeep()
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		if err := w.block(n, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) block(n ast.Node, depth int) error {
	switch n := n.(type) {
	case *ast.Heading:
		return w.put(w.written(extract.Block{Kind: extract.Heading, Level: n.Level}, n))
	case *ast.Paragraph, *ast.TextBlock:
		return w.paragraph(n)
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return w.put(extract.Block{Kind: extract.Code, Text: w.lines(n)})
	case *ast.HTMLBlock:
		source := w.lines(n)
		if n.HasClosure() {
			source += string(n.ClosureLine.Value(w.source))
		}
		return html.Fragment(w.ctx, source, w.put)
	case *ast.List:
		return w.list(n, depth)
	case *east.Table:
		return w.table(n)
	case *east.FootnoteList:
		w.notes = n // they follow the other text
		return nil
	case *east.DefinitionTerm:
		return w.put(w.written(extract.Block{Kind: extract.ListItem, Level: w.lists, Marker: "-"}, n))
	case *east.DefinitionDescription:
		w.item = &extract.Block{Kind: extract.ListItem, Level: w.lists + 1, Marker: "-"}
	}
	return w.blocks(n, depth+1)
}

// written returns a block with the text and the links of a node.
func (w *walker) written(b extract.Block, n ast.Node) extract.Block {
	b.Text, b.Links = w.inline(n)
	return b
}

// put emits a block. The first block within a list item becomes the item.
func (w *walker) put(b extract.Block) error {
	if item := w.item; item != nil && b.Kind == extract.Paragraph {
		item.Text, item.Links = b.Text, b.Links
		b = *item
	}
	w.item = nil
	return w.emit(b)
}

// paragraph emits a paragraph, or the picture that it consists of.
func (w *walker) paragraph(n ast.Node) error {
	kind := extract.Paragraph
	if only := n.FirstChild(); only != nil && only.NextSibling() == nil && only.Kind() == ast.KindImage &&
		w.item == nil {
		kind = extract.Picture
	}
	b := w.written(extract.Block{Kind: kind}, n)
	if strings.TrimSpace(b.Text) == "" {
		return nil
	}
	return w.put(b)
}

func (w *walker) list(n *ast.List, depth int) error {
	number := n.Start
	level := w.lists
	w.lists++
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		marker := "-"
		if n.IsOrdered() {
			marker = extract.Marker(number)
			number++
		}
		w.item = &extract.Block{Kind: extract.ListItem, Level: level, Marker: marker}
		if err := w.blocks(item, depth+1); err != nil {
			return err
		}
		w.item = nil
	}
	w.lists--
	return nil
}

func (w *walker) lines(n ast.Node) string {
	var b strings.Builder
	lines := n.Lines()
	for i := range lines.Len() {
		segment := lines.At(i)
		b.Write(segment.Value(w.source))
	}
	return b.String()
}
