package docling

import (
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/docling"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// text emits an item with text, and the items below it.
func (w *walk) text(item, parent *docling.Item, number int, s scope) error {
	content := item.Text
	var links []extract.Link
	if strings.TrimSpace(content) == "" {
		parts, err := w.parts(item)
		if err != nil {
			return err
		}
		content, links = parts.Text, parts.Links
	}
	if item.Label == "formula" && strings.TrimSpace(content) == "" {
		content = item.Orig // of a PDF: there is LaTeX only with the server's formula enrichment
	}
	if target := extract.Target(item.Hyperlink); target != "" && content != "" {
		links = []extract.Link{{End: len(content), Target: target}}
	}
	b := extract.Block{Kind: extract.Paragraph, Text: content, Links: links}
	switch item.Label {
	case "title":
		b.Kind, b.Level = extract.Heading, 1
	case "section_header", "field_heading":
		b.Kind, b.Level = extract.Heading, min(max(item.Level, 1)+1, 6)
	case "list_item":
		b.Kind, b.Level, b.Marker = extract.ListItem, max(s.list-1, 0), marker(item, parent, number)
	case "checkbox_selected", "checkbox_unselected":
		b.Kind, b.Level, b.Marker = extract.ListItem, max(s.list-1, 0), "-"
		b.Text = map[bool]string{true: "[x] ", false: "[ ] "}[item.Label == "checkbox_selected"] + content
		b.Links = extract.Shift(links, len(b.Text)-len(content))
	case "code":
		b.Kind, b.Language = extract.Code, strings.ToLower(item.CodeLanguage)
		if b.Language == "unknown" {
			b.Language = ""
		}
	case "caption":
		b.Kind = extract.Caption
	}
	if err := w.block(b, item.Places, s); err != nil {
		return err
	}
	if err := w.captions(item.Captions, s); err != nil {
		return err
	}
	if err := w.captions(item.Footnotes, s); err != nil {
		return err
	}
	return w.children(item, s)
}

// parts returns the text of an item that has it only in parts, as an inline group below it.
func (w *walk) parts(item *docling.Item) (extract.Cell, error) {
	if len(item.Children) == 0 || strings.TrimSpace(item.Text) != "" {
		return extract.Cell{}, nil
	}
	ref := item.Children[0]
	array, group := w.look(ref)
	if array != "groups" || group.Label != "inline" || w.seen[ref.To] {
		return extract.Cell{}, nil
	}
	w.seen[ref.To] = true
	return w.inline(group)
}

// marker returns a list item's own marker, or one from its number in the list.
func marker(item, parent *docling.Item, number int) string {
	m := strings.TrimSpace(item.Marker)
	switch {
	case item.Enumerated && (m == "" || m == "-"):
		if parent == nil {
			return "1."
		}
		return extract.Marker(number + 1)
	case m == "":
		return "-"
	}
	return m
}

// graph emits the keys of a key-value area or form with their values, and values without a key.
func (w *walk) graph(item *docling.Item, s scope) error {
	if err := w.captions(item.Captions, s); err != nil {
		return err
	}
	for _, pair := range pairs(w, item.Graph) {
		if err := w.block(extract.Block{Kind: extract.Paragraph, Text: pair.text}, pair.at, s); err != nil {
			return err
		}
	}
	return w.children(item, s)
}

type pair struct {
	text string
	at   []docling.Place
}

// pairs makes "key: value" of each key, except text that is also an item of its own and emitted there.
func pairs(w *walk, g *docling.Graph) []pair {
	if g == nil {
		return nil
	}
	cells := make(map[int]*docling.GraphCell, len(g.Cells))
	for i := range g.Cells {
		cells[g.Cells[i].ID] = &g.Cells[i]
	}
	values, valued := map[int][]int{}, map[int]bool{}
	for _, l := range g.Links {
		from, to := l.Source, l.Target
		if l.Label == "to_key" {
			from, to = to, from
		} else if l.Label != "to_value" {
			continue
		}
		if cells[from] != nil && cells[to] != nil && from != to {
			values[from] = append(values[from], to)
			valued[to] = true
		}
	}
	var all []pair
	for i := range g.Cells {
		cell := &g.Cells[i]
		if valued[cell.ID] {
			continue
		}
		text := strings.TrimSpace(cell.Text)
		for n, id := range values[cell.ID] {
			separator := ", "
			if n == 0 {
				separator = ": "
			}
			text = strings.TrimSuffix(text, ":") + separator + strings.TrimSpace(cells[id].Text)
		}
		if elsewhere(w, cell, values, cells) {
			continue
		}
		p := pair{text: text}
		if cell.Place != nil {
			p.at = []docling.Place{*cell.Place}
		}
		all = append(all, p)
	}
	return all
}

// elsewhere reports whether a key and all its values are items in the body.
func elsewhere(w *walk, cell *docling.GraphCell, values map[int][]int, cells map[int]*docling.GraphCell) bool {
	known := func(c *docling.GraphCell) bool {
		if c.Item == nil {
			return false
		}
		_, item := w.look(*c.Item)
		return item != nil && item.Text != ""
	}
	if !known(cell) {
		return false
	}
	for _, id := range values[cell.ID] {
		if !known(cells[id]) {
			return false
		}
	}
	return true
}

// field emits a field of a form as one line: its key and its values.
func (w *walk) field(item *docling.Item, s scope) error {
	line, err := w.inline(item)
	if err != nil {
		return err
	}
	return w.block(extract.Block{Kind: extract.Paragraph, Text: line.Text, Links: line.Links}, w.first(item), s)
}
