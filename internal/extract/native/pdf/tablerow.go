package pdf

import (
	"cmp"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// byStream groups cells into rows by the order in which they were written: from left to right, then back to the
// left for each new row. It returns nil if the resulting rows overlap, that is, if the table was not written
// so.
func byStream(cells []cell) [][]cell {
	cells = slices.Clone(cells)
	slices.SortStableFunc(cells, func(a, b cell) int { return cmp.Compare(a.order, b.order) })
	perLine := map[int]int{}
	for _, c := range cells {
		perLine[c.lineAt]++
	}
	var out [][]cell
	for i, c := range cells {
		// A cell below one that is alone on its line begins a row; below one that shares its line, it is that
		// cell's next line.
		again := i > 0 && c.from == cells[i-1].from && perLine[c.lineAt] > 1 && perLine[cells[i-1].lineAt] == 1
		if i == 0 || c.from < cells[i-1].from || again {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], c)
	}
	bottom := 0.0
	for i, row := range out {
		var b box
		for _, c := range row {
			b = b.union(c.box)
		}
		if i > 0 && b.top < bottom-0.6*row[0].words[0].em() {
			return nil
		}
		bottom = b.bottom
	}
	return out
}

// byHeight groups cells into rows by position: each cell of a row is beside the next.
func byHeight(cells []cell) [][]cell {
	cells = slices.Clone(cells)
	slices.SortStableFunc(cells, func(a, b cell) int { return cmp.Compare(a.top, b.top) })
	var out [][]cell
	bottom := 0.0
	for i, c := range cells {
		if i == 0 || c.top+0.1*c.height() >= bottom {
			out = append(out, nil)
			bottom = 0
		}
		out[len(out)-1] = append(out[len(out)-1], c)
		bottom = max(bottom, c.bottom-0.1*c.height())
	}
	return out
}

// byLine groups the cells of a table with amounts in most rows into rows by their lines. A cell that is alone on its line goes on
// with the row above. It returns nil if there is such text in several columns, the first not counted, or if it is another table.
func byLine(cells []cell) (out [][]cell) {
	const least = 5 // rows
	last, column := -1, 0
	for i, c := range cells {
		alone := c.lineAt != last && (i+1 == len(cells) || cells[i+1].lineAt != c.lineAt)
		switch {
		case alone && c.from > 0 && len(out) > 0:
			if column > 0 && column != c.from {
				return nil
			}
			column = c.from
		case c.lineAt != last:
			out = append(out, nil)
		}
		out[len(out)-1], last = append(out[len(out)-1], c), c.lineAt
	}
	if len(out) < least || rowsOfAmounts(out)*3 < len(out)*2 {
		return nil
	}
	return out
}

// rowsOfAmounts counts the rows that have a name and an amount, which the number of a line is not. There are none if a column is
// running text, as beside numbers of lines.
func rowsOfAmounts(rows [][]cell) (n int) {
	named, amounts := make([]bool, len(rows)), make([]bool, len(rows))
	for at := range maxColumns {
		if flowsDown(rows, at) {
			return 0
		}
		counts := lineNumbersIn(rows, at) > 0
		for i, row := range rows {
			for _, c := range row {
				if c.from == at {
					named[i] = named[i] || letters(joinWords(c.words)) > 1
					amounts[i] = amounts[i] || !counts && c.isAmounts()
				}
			}
		}
	}
	for i := range rows {
		n += one(named[i] && amounts[i])
	}
	return n
}

// fill writes the rows' cells into a table.
func fill(known *vocabulary, grouped [][]cell, columns int) *extract.Table {
	t := &extract.Table{}
	var bold []bool
	for _, row := range grouped {
		slices.SortStableFunc(row, func(a, b cell) int {
			return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.lineAt, b.lineAt), cmp.Compare(a.left, b.left))
		})
		out := make([]extract.Cell, 0, columns)
		next, isBold, lineAt := 0, true, 0
		var last textBuilder // text of the last cell of out
		var words []word     // its words
		for _, c := range row {
			text := joinWords(c.words)
			isBold = isBold && lookOf(c.words).bold
			if c.from < next && len(out) > 0 {
				join := joinTexts
				if c.lineAt != lineAt {
					join, lineAt = known.joinInCell, c.lineAt
				}
				last.add(join, text)
				words = append(words, c.words...)
				continue
			}
			closeCell(out, &last, words)
			for ; next < c.from; next++ {
				out = append(out, extract.Cell{})
			}
			made := extract.Cell{}
			last.tail, words = text, slices.Clone(c.words)
			if span := c.to - c.from + 1; span > 1 {
				made.ColSpan = span
			}
			out = append(out, made)
			next, lineAt = c.to+1, c.lineAt
		}
		closeCell(out, &last, words)
		for ; next < columns; next++ {
			out = append(out, extract.Cell{})
		}
		t.Rows, bold = append(t.Rows, out), append(bold, isBold)
	}
	t.Headers = headers(t.Rows, bold)
	return t
}

// closeCell sets the text of the row's last cell, and its links.
func closeCell(row []extract.Cell, text *textBuilder, words []word) {
	if n := len(row); n > 0 {
		row[n-1].Text = text.String()
		row[n-1].Links = linksOf(row[n-1].Text, words)
	}
	*text = textBuilder{}
}

// headers counts the header rows at the top: they are bold and the rest is not, or they have no numbers and the
// rest has some.
func headers(rows [][]extract.Cell, bold []bool) int {
	n := 0
	for n < len(bold) && bold[n] {
		n++
	}
	if n > 0 && n < len(bold) && n <= 3 {
		return n
	}
	share := func(row []extract.Cell) float64 {
		var filled, numeric float64
		for _, c := range row {
			if c.Text != "" {
				filled++
				numeric += float64(one(isNumeric(c.Text)))
			}
		}
		return numeric / max(filled, 1)
	}
	rest := 0.0
	for _, row := range rows[1:] {
		rest += share(row)
	}
	if share(rows[0]) < 0.25 && rest/float64(len(rows)-1) > 0.3 {
		return 1
	}
	return 0
}

func isNumeric(s string) bool {
	digits, others := 0, 0
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r == ' ' || r == '.' || r == ',' || r == '%' || r == '-' || r == '+' || r == '±' || r == '€' || r == '$':
		default:
			others++
		}
	}
	return digits > 0 && others <= digits
}
