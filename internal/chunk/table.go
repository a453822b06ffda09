package chunk

import (
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// The largest accepted spans of columns and rows, and the longest text, in bytes, of a cell that a chunk within its rows
// repeats.
const (
	colSpanMax = 64
	rowSpanMax = 10_000
	repeatMax  = 200
)

// Beyond these, cells don't span: a small file of wide and tall cells would be rows without end. Real tables have fewer
// columns, and fewer positions of a table that cells from the left or above take.
const (
	maxColumns = 1024
	maxSpanned = 1 << 20
)

// table is kept in one piece if it fits into a chunk; otherwise it is cut at rows, and a row that begins a
// chunk is preceded by the header.
func (c *Chunker) table(b extract.Block) {
	if b.Table == nil {
		c.paragraph(b) // the extractor reported no cells
		return
	}
	if text := tidy(b.Text); text != "" {
		c.paragraph(extract.Block{Kind: extract.Paragraph, Text: text, Page: b.Page, Box: b.Box})
	}
	h := c.tableHeader(*b.Table)
	more := b.Table.Continued && c.continues(h)
	if !more {
		c.header = nil
		if whole, ok := c.wholeTable(*b.Table); ok {
			if whole != "" {
				c.push(c.item(b, Table, whole))
			}
			return
		}
	}
	rows, columns, first := b.Table.Rows[h.rows:], h.columns, !more
	switch {
	case more:
	case h.lead != "":
		c.push(c.item(b, Table, strings.TrimSuffix(h.lead, "\n")))
		first = false
	default: // it has none, or one too long to repeat, which is kept as separate rows
		rows, columns = b.Table.Rows, grid{}
	}
	for k, cells := range rows {
		if c.err != nil {
			return
		}
		values, repeated := columns.next(cells)
		text := render(values)
		if strings.Trim(text, "| ") == "" {
			continue
		}
		i := c.item(b, Table, text)
		i.lead, i.ahead = h.lead, h.ahead
		if !first {
			i.join, i.bond = "\n", row
			if k == 0 && !more {
				i.bond = tight // between the header and the first row
			}
		}
		room := c.config.room() - h.ahead
		i.first = c.firstRow(repeated, room)
		if !c.config.fits(text, room) {
			c.longRow(b, h.names, values, i.join)
		} else {
			c.push(i)
		}
		first = false
	}
	if !first {
		c.header = &h
	}
}

// firstRow renders a row for a chunk that begins with it, in the middle of the cells from above that it repeats. It is ""
// if there are none, or there is no room for them.
func (c *Chunker) firstRow(repeated []string, room int) string {
	if repeated == nil {
		return ""
	}
	if text := render(repeated); c.config.fits(text, room) {
		return text
	}
	return ""
}

// header is the header of a table.
type header struct {
	text    string // as rendered, up to where it is too long
	lead    string // text, if it is short enough to be repeated in each chunk
	ahead   int    // tokens of lead, at most
	names   []string
	rows    int
	columns grid // after the header's rows
}

func (c *Chunker) tableHeader(t extract.Table) header {
	h := header{rows: min(max(0, t.Headers), len(t.Rows))}
	for _, cells := range t.Rows[:h.rows] {
		h.names, _ = h.columns.next(cells)
		if len(h.text) <= c.config.Max*longestToken { // a longer one is too long, whatever follows
			h.text += render(h.names) + "\n"
		}
	}
	if h.text != "" {
		h.text += rule(len(h.names)) + "\n"
	}
	if h.lead = h.text; c.config.fits(h.lead, c.config.Max/4-1) {
		h.ahead = c.config.Counter.Count(h.lead) + 1
	} else {
		h.lead, h.names = "", nil
	}
	return h
}

// continues reports whether the last item is a row of a table with this header. The next slice then continues its rows as
// if there were no slices: an inserted row moves the ends of all slices, and must not move those of the chunks.
func (c *Chunker) continues(h header) bool {
	last := c.last()
	return last != nil && last.block == extract.TableKind && c.header != nil && c.header.text == h.text
}

// wholeMax is the maximum text of a row, in bytes, for its table to be tried whole. A longer row never fits
// into a chunk, and rendering megabytes takes time.
const wholeMax = 1 << 20

// wholeTable renders a table, unless it is longer than a chunk.
func (c *Chunker) wholeTable(t extract.Table) (text string, fits bool) {
	var b strings.Builder
	columns, words := grid{}, false
	for k, cells := range t.Rows {
		if bytes := 0; slices.ContainsFunc(cells,
			func(c extract.Cell) bool { bytes += len(c.Text); return bytes > wholeMax }) {
			return "", false
		}
		values, _ := columns.next(cells)
		line := render(values)
		words = words || strings.Trim(line, "| ") != ""
		b.WriteString(line + "\n")
		if k+1 == t.Headers {
			b.WriteString(rule(len(values)) + "\n")
		}
		if b.Len() > 16*c.config.room() { // hardly any text has 16 bytes per token
			return "", false
		}
	}
	if !words {
		return "", true
	}
	text = strings.TrimSuffix(b.String(), "\n")
	return text, c.config.Counter.Count(text) <= c.config.room()
}

// longRow handles a row that is longer than a chunk: its cells become paragraphs that begin with the name of
// their column.
func (c *Chunker) longRow(b extract.Block, names, values []string, join string) {
	for k, value := range values {
		if value == "" {
			continue
		}
		if k < len(names) && names[k] != "" {
			value = shorten(names[k], nameMax/4) + ": " + value
		}
		c.pushAll(b, Table, value, join, row, c.config.Max/4)
		join = "\n"
	}
}

// grid places cells in columns. Positions that a cell from above spans stay blank.
type grid struct {
	taken   []span // by column
	spanned int    // positions that were left blank
}

// span is what a cell from above takes of a column.
type span struct {
	rows int    // how many more
	text string // of the cell, if it is short
}

// next returns the text of each column of the next row, tidied to one line. repeated also has the short texts of the
// cells from above that span it; it is nil if there are none.
func (g *grid) next(cells []extract.Cell) (values, repeated []string) {
	if g.spanned > maxSpanned {
		return once(cells), nil
	}
	spanned := false
	skip := func() {
		for len(values) < len(g.taken) && g.taken[len(values)].rows > 0 {
			above := &g.taken[len(values)]
			above.rows--
			spanned = spanned || above.text != ""
			values, repeated = append(values, ""), append(repeated, above.text)
		}
	}
	for _, cell := range cells {
		skip()
		text := line(cell)
		for k := range min(max(1, cell.ColSpan), colSpanMax) {
			column := len(values)
			if column >= maxColumns {
				if k == 0 {
					values, repeated = append(values, text), append(repeated, text)
				}
				break
			}
			if column >= len(g.taken) {
				g.taken = append(g.taken, span{})
			}
			if k > 0 {
				text = ""
			}
			g.taken[column] = span{rows: min(max(1, cell.RowSpan), rowSpanMax) - 1}
			if len(text) <= repeatMax {
				g.taken[column].text = text
			}
			values, repeated = append(values, text), append(repeated, text)
		}
	}
	skip()
	g.spanned += len(values) - len(cells)
	if !spanned {
		return values, nil
	}
	return values, repeated
}

// once returns the texts of cells that span nothing.
func once(cells []extract.Cell) (values []string) {
	for _, cell := range cells {
		values = append(values, line(cell))
	}
	return values
}

// line is the text of a cell in one line.
func line(cell extract.Cell) string { return strings.ReplaceAll(tidy(cell.Text), "\n", " ") }

// render writes a row as in Markdown.
func render(values []string) string {
	escaped := slices.Clone(values)
	for i, v := range escaped {
		escaped[i] = strings.ReplaceAll(v, "|", `\|`)
	}
	return "| " + strings.Join(escaped, " | ") + " |"
}

func rule(columns int) string { return "|" + strings.Repeat(" --- |", max(1, columns)) }
