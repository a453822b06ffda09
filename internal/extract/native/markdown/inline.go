package markdown

import (
	"bytes"
	"html"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// inline returns the visible text of a block: that of emphasis, links, code and pictures; and its links.
func (w *walker) inline(n ast.Node) (string, []extract.Link) {
	var b strings.Builder
	var links extract.Linker
	var end ast.Node // where the open link ends
	// The walk is not recursive: inline nodes may nest to any depth.
	for c := n.FirstChild(); c != nil; c = following(c, n) {
		if c == end {
			links.End(b.Len())
		}
		switch link := c.(type) {
		case *ast.Link:
			links.Begin(string(plain(link.Destination)), b.Len())
			end = after(c, n)
		case *ast.AutoLink:
			links.Begin(w.address(link), b.Len())
			end = after(c, n)
		}
		w.piece(&b, c)
	}
	return b.String(), links.Take(b.Len())
}

// address returns the target of an address in the text.
func (w *walker) address(n *ast.AutoLink) string {
	address := string(n.URL(w.source))
	if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(address), "mailto:") {
		address = "mailto:" + address
	}
	return address
}

// following returns the node after c in reading order within stop, or nil.
func following(c, stop ast.Node) ast.Node {
	if child := c.FirstChild(); child != nil {
		return child
	}
	return after(c, stop)
}

// after returns the node after all within c in reading order within stop, or nil.
func after(c, stop ast.Node) ast.Node {
	for ; c != nil && c != stop; c = c.Parent() {
		if next := c.NextSibling(); next != nil {
			return next
		}
	}
	return nil
}

func (w *walker) piece(b *strings.Builder, n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		value := n.Segment.Value(w.source)
		if n.IsRaw() || n.Parent() != nil && n.Parent().Kind() == ast.KindCodeSpan {
			b.Write(bytes.ReplaceAll(value, []byte("\n"), []byte(" ")))
		} else {
			b.Write(plain(value))
		}
		switch {
		case n.HardLineBreak():
			b.WriteByte('\n')
		case n.SoftLineBreak():
			b.WriteByte(' ')
		}
	case *ast.String:
		b.Write(n.Value)
	case *ast.AutoLink:
		b.Write(n.Label(w.source))
	case *ast.RawHTML:
		var tag strings.Builder
		for i := range n.Segments.Len() {
			segment := n.Segments.At(i)
			tag.Write(segment.Value(w.source))
		}
		if strings.HasPrefix(strings.ToLower(tag.String()), "<br") {
			b.WriteByte('\n')
		}
	case *east.TaskCheckBox:
		if n.IsChecked {
			b.WriteString("[x] ")
		} else {
			b.WriteString("[ ] ")
		}
	case *east.FootnoteLink:
		b.WriteString("[" + strconv.Itoa(n.Index) + "]")
	}
}

// plain resolves backslash escapes and entities.
func plain(value []byte) []byte {
	if bytes.IndexByte(value, '\\') < 0 && bytes.IndexByte(value, '&') < 0 {
		return value
	}
	var out []byte
	for i := 0; i < len(value); i++ {
		switch {
		case value[i] == '\\' && i+1 < len(value) && util.IsPunct(value[i+1]):
			i++
			out = append(out, value[i])
		case value[i] == '&':
			end := bytes.IndexByte(value[i:min(len(value), i+40)], ';')
			if end < 0 {
				out = append(out, '&')
				continue
			}
			out = append(out, html.UnescapeString(string(value[i:i+end+1]))...)
			i += end
		default:
			out = append(out, value[i])
		}
	}
	return out
}
