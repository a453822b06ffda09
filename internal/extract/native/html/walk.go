package html

import (
	"context"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// walker visits the tree in order and collects text until a block ends. The parser limits the tree's depth
// (512), and so the recursion.
type walker struct {
	ctx  context.Context
	emit extract.Emit

	text   strings.Builder // of the current block, white space collapsed
	link   extract.Linker
	blank  bool // a space is due before the next character
	linked int  // bytes of text within links
	alt    bool // all text so far is alternative text of pictures

	links   int          // open a elements
	kind    extract.Kind // of the block; "": paragraph
	level   int          // of the heading
	lists   []*list      // open ones, innermost last
	item    *item        // the list item whose text comes next
	headers int          // open header elements

	captioned bool // within a figure that has a caption

	resolve func(href string) string // makes the target of a link of its address; nil: the address is the target

	// chrome: the page has headings, but none came yet. Menus and banners are there.
	chrome bool
}

// list is an open ul, ol or dl.
type list struct {
	ordered bool
	terms   bool // a dl with dt elements
	next    int
}

// item is a list item before its first text. Later text in it becomes paragraphs.
type item struct {
	marker string
	level  int
}

func (w *walker) walk(n *html.Node) error {
	switch n.Type {
	case html.TextNode:
		return w.writeAll(n.Data)
	case html.ElementNode:
		return w.element(n)
	case html.DocumentNode:
		return w.children(n)
	}
	return nil
}

func (w *walker) children(n *html.Node) error {
	if err := w.ctx.Err(); err != nil {
		return context.Cause(w.ctx)
	}
	for c := range n.ChildNodes() {
		if err := w.walk(c); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) element(n *html.Node) error {
	if skipped(n) {
		return nil
	}
	switch n.DataAtom {
	case atom.Br:
		w.newline()
		return nil
	case atom.Hr:
		return w.flush()
	case atom.Img:
		w.picture(n)
		return nil
	case atom.A:
		return w.anchor(n)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return w.heading(n)
	case atom.Pre, atom.Listing:
		return w.pre(n)
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir, atom.Dl:
		return w.list(n)
	case atom.Li, atom.Dt, atom.Dd:
		return w.listItem(n)
	case atom.Table:
		return w.table(n)
	case atom.Figcaption, atom.Caption:
		return w.as(extract.Caption, n)
	case atom.Figure:
		return w.figure(n)
	case atom.Sup:
		return w.superscript(n)
	case atom.Header:
		w.headers++
		defer func() { w.headers-- }()
	}
	if !isBlock(n.DataAtom) {
		return w.children(n)
	}
	return w.block(n)
}

// anchor reads a link, whose text may extend over several blocks.
func (w *walker) anchor(n *html.Node) error {
	w.links++
	href := attr(n, "href")
	if w.resolve != nil && href != "" {
		href = w.resolve(href)
	}
	w.link.Begin(href, w.text.Len())
	err := w.children(n)
	w.link.End(w.text.Len())
	w.links--
	return err
}

// block ends the block before n, and the one in n after it.
func (w *walker) block(n *html.Node) error {
	if err := w.flush(); err != nil {
		return err
	}
	item := wordItem(n)
	if item != nil {
		w.item = item
	}
	if err := w.children(n); err != nil {
		return err
	}
	err := w.flush()
	if item != nil {
		w.item = nil // without a text it would be the next paragraph's
	}
	return err
}

// as makes the blocks within n blocks of the kind.
func (w *walker) as(kind extract.Kind, n *html.Node) error {
	if err := w.flush(); err != nil {
		return err
	}
	before := w.kind
	w.kind = kind
	err := w.block(n)
	w.kind = before
	return err
}

func (w *walker) heading(n *html.Node) error {
	if err := w.flush(); err != nil {
		return err
	}
	w.chrome = false
	level := w.level
	w.level = int(n.Data[1] - '0')
	err := w.as(extract.Heading, n)
	w.level = level
	return err
}

// picture writes a picture's alternative text, unless a caption describes it.
func (w *walker) picture(n *html.Node) {
	alt := strings.TrimSpace(attr(n, "alt"))
	if alt == "" || w.captioned {
		return
	}
	first := w.text.Len() == 0
	w.blank = w.blank || !first
	w.write(alt)
	w.blank = true
	w.alt = first || w.alt
}

// figure reads a figure. A caption replaces the alternative texts of its pictures.
func (w *walker) figure(n *html.Node) error {
	before := w.captioned
	for c := range n.ChildNodes() {
		if c.DataAtom == atom.Figcaption && c.FirstChild != nil {
			w.captioned = true
		}
	}
	err := w.block(n)
	w.captioned = before
	return err
}

// pre keeps line ends and indentation.
func (w *walker) pre(n *html.Node) error {
	if err := w.flush(); err != nil {
		return err
	}
	var code strings.Builder
	for c := range n.Descendants() {
		switch {
		case c.Type == html.TextNode:
			code.WriteString(c.Data)
		case c.DataAtom == atom.Br:
			code.WriteByte('\n')
		}
	}
	w.item = nil
	return w.put(extract.Block{Kind: extract.Code, Text: code.String()})
}

// writeAll adds a text in pieces and checks the context between them; the text may be the whole page.
func (w *walker) writeAll(text string) error {
	const piece = 1 << 20
	for len(text) > piece {
		if w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		end := piece
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		w.write(text[:end])
		text = text[end:]
	}
	w.write(text)
	return nil
}

// write adds text as a browser shows it, with runs of white space collapsed.
func (w *walker) write(text string) {
	before := w.text.Len()
	for _, r := range text {
		switch r {
		case ' ', '\t', '\n', '\r', '\f', '\u00a0':
			w.blank = true
			continue
		}
		if w.blank && w.text.Len() > 0 {
			w.text.WriteByte(' ')
		}
		w.blank = false
		w.text.WriteRune(r)
	}
	if w.text.Len() > before {
		w.alt = false
	}
	if w.links > 0 {
		w.linked += w.text.Len() - before
	}
}

func (w *walker) newline() {
	if w.text.Len() > 0 {
		w.text.WriteByte('\n')
	}
	w.blank = false
}

// flush ends the block.
func (w *walker) flush() error {
	text, links := tidy(w.text.String(), w.link.Take(w.text.Len()))
	linked, alt := w.linked, w.alt
	w.text.Reset()
	w.blank, w.linked, w.alt = false, 0, false
	if text == "" {
		return nil
	}
	if w.chrome && (w.headers > 0 || 2*linked > len(text)) {
		w.item = nil
		return nil
	}
	b := extract.Block{Kind: extract.Paragraph, Text: text, Links: links}
	switch {
	case w.kind != "":
		b.Kind = w.kind
		if b.Kind == extract.Heading {
			b.Level = w.level
		}
	case w.item != nil:
		b.Kind, b.Level, b.Marker = extract.ListItem, w.item.level, w.item.marker
		w.item = nil
	case alt:
		b.Kind = extract.Picture
	}
	return w.put(b)
}

func (w *walker) put(b extract.Block) error {
	if w.kind == extract.Heading && b.Kind == extract.Code {
		b.Kind, b.Level = extract.Heading, w.level
	}
	return w.emit(b)
}
