package markdown

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

func (w *walker) table(n *east.Table) error {
	w.item = nil
	out := extract.NewTableWriter(func(b extract.Block) error {
		b.Table.Continued = b.Table.Continued || n == w.continued
		return w.emit(b)
	}, extract.Block{})
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []extract.Cell
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			text, links := w.inline(cell)
			cells = append(cells, extract.Cell{Text: text, Links: links})
		}
		header := row.Kind() == east.KindTableHeader
		if !header && len(cells) > 0 {
			w.addSurplus(&cells[len(cells)-1], row, len(cells))
		}
		out.Row(cells, header)
		if out.Full() {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// addSurplus adds to the last cell of a row what its line has beyond the columns of the header, where GitHub shows nothing:
// a bar that should have a backslash, or cells without a header. More columns would make all rows longer.
func (w *walker) addSurplus(last *extract.Cell, row ast.Node, columns int) {
	surplus := surplusOf(w.source[max(row.Pos(), 0):], columns)
	if len(bytes.Trim(surplus, " \t|")) == 0 {
		return
	}
	var all strings.Builder
	all.WriteString(last.Text)
	bars := 0 // before the next cell with text
	for text, links := range w.cellsOf(surplus) {
		if bars++; text == "" {
			continue
		}
		all.WriteString(strings.Repeat(" | ", bars))
		last.Links = append(last.Links, extract.Shift(links, all.Len())...)
		all.WriteString(text)
		bars = 0
	}
	last.Text = all.String()
}

// cellsOf yields the cells of a part of a row. As the header of a table, it is read by the same rules.
func (w *walker) cellsOf(row []byte) iter.Seq2[string, []extract.Link] {
	return func(yield func(string, []extract.Link) bool) {
		of := *w
		of.source = slices.Concat([]byte("|"), row, []byte("|\n|-"), bytes.Repeat([]byte("|-"), barsIn(row)))
		known := linked{parser.NewContext(), w.links}
		known.Set(notesKey, w.known)
		table, ok := w.parser.Parse(text.NewReader(of.source), parser.WithContext(known)).FirstChild().(*east.Table)
		if !ok {
			yield(string(plain(row)), nil)
			return
		}
		for cell := table.FirstChild().FirstChild(); cell != nil; cell = cell.NextSibling() {
			if !yield(of.inline(cell)) {
				return
			}
		}
	}
}

// linked is a context with the links of another.
type linked struct {
	parser.Context
	of parser.Context
}

// Reference implements parser.Context.
func (l linked) Reference(label string) (parser.Reference, bool) { return l.of.Reference(label) }

// surplusOf returns what the line at the start of a text has after this many cells of a table, without the bars around it.
func surplusOf(source []byte, columns int) []byte {
	line, _, _ := bytes.Cut(source, []byte("\n"))
	line = bytes.Trim(line, " \t\r\f\v")
	line = bytes.TrimSuffix(bytes.TrimPrefix(line, []byte("|")), []byte("|"))
	for i := range line {
		if isBar(line, i) {
			if columns--; columns == 0 {
				return line[i+1:]
			}
		}
	}
	return nil
}

// isBar reports whether a bar between two cells is at a place of a row.
func isBar(row []byte, i int) bool { return row[i] == '|' && (i == 0 || row[i-1] != '\\') }

func barsIn(row []byte) (n int) {
	for i := range row {
		if isBar(row, i) {
			n++
		}
	}
	return n
}
