package chunk

import (
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// The largest accepted spans of columns and rows.
const (
	colSpanMax = 64
	rowSpanMax = 10_000
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
	if whole, ok := c.wholeTable(*b.Table); ok {
		if whole != "" {
			c.push(c.item(b, Table, whole))
		}
		return
	}
	headers := min(max(0, b.Table.Headers), len(b.Table.Rows))
	columns := grid{}
	var names []string // of the columns
	var lead string
	for _, cells := range b.Table.Rows[:headers] {
		names = columns.next(cells)
		if lead += render(names) + "\n"; len(lead) > c.config.Max*longestToken {
			break // it is too long, whatever follows
		}
	}
	if lead != "" {
		lead += rule(len(names)) + "\n"
	}
	ahead := 0
	if c.config.fits(lead, c.config.Max/4-1) {
		ahead = c.config.Counter.Count(lead) + 1
	} else { // too long to repeat: it is kept as separate rows
		lead, names, headers, columns = "", nil, 0, grid{}
	}
	first := true
	if lead != "" {
		c.push(c.item(b, Table, strings.TrimSuffix(lead, "\n")))
		first = false
	}
	for k, cells := range b.Table.Rows[headers:] {
		if c.err != nil {
			return
		}
		values := columns.next(cells)
		text := render(values)
		if strings.Trim(text, "| ") == "" {
			continue
		}
		i := c.item(b, Table, text)
		i.lead, i.ahead = lead, ahead
		if !first {
			i.join, i.bond = "\n", row
			if k == 0 {
				i.bond = tight // between the header and the first row
			}
		}
		if !c.config.fits(text, c.config.room()-ahead) {
			c.longRow(b, names, values, i.join)
		} else {
			c.push(i)
		}
		first = false
	}
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
		values := columns.next(cells)
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
	taken []int // by column: how many more rows are spanned from above
}

// next returns the text of each column of the next row, tidied to one line.
func (g *grid) next(cells []extract.Cell) []string {
	var values []string
	skip := func() {
		for len(values) < len(g.taken) && g.taken[len(values)] > 0 {
			g.taken[len(values)]--
			values = append(values, "")
		}
	}
	for _, cell := range cells {
		skip()
		text := strings.ReplaceAll(tidy(cell.Text), "\n", " ")
		for k := range min(max(1, cell.ColSpan), colSpanMax) {
			column := len(values)
			if column >= len(g.taken) {
				g.taken = append(g.taken, 0)
			}
			g.taken[column] = min(max(1, cell.RowSpan), rowSpanMax) - 1
			if k > 0 {
				text = ""
			}
			values = append(values, text)
		}
	}
	skip()
	return values
}

// render writes a row as in Markdown.
func render(values []string) string {
	escaped := slices.Clone(values)
	for i, v := range escaped {
		escaped[i] = strings.ReplaceAll(v, "|", `\|`)
	}
	return "| " + strings.Join(escaped, " | ") + " |"
}

func rule(columns int) string { return "|" + strings.Repeat(" --- |", max(1, columns)) }
