package pdf

import (
	"cmp"
	"slices"
)

// Many tables have lines between rows only, often no more than above and below the head and below the table. The
// lines say where such a table is and how wide; its columns come from the alignment of the text.

const (
	leastStripe   = 60.0 // points: shorter lines across the page are underlines or separate the columns of a head
	sameStripe    = 4.0  // between the ends of lines of one table
	maxStripeText = 3000 // words between two lines
	stripeLooks   = 12   // at each word of a page
	maxStripes    = 400  // on a page
	stripesProse  = 7.0  // words per cell: more is text between two lines
	narrowCell    = 0.6  // of the table's width: a wider line is text across it
	stripeGap     = 0.5  // between cells, in font sizes: less than without lines, which show where the table is
	pageStart     = 0.3  // of the page's height: above that a table may go on from the page before
	pageEnd       = 0.75 // of the page's height: below that a table may continue on the next page, without a last line
)

// stripedTables finds the tables with lines between rows only. across and down are the lines of the
// page, words those that belong to no other table. It returns the words that are left.
func (p *page) stripedTables(across, down []ruling, words []word) (tables []*ruledTable, rest []word) {
	rest = words
	var partial, long []ruling
	for _, r := range across {
		if r.to-r.from >= leastStripe {
			long = append(long, r)
		}
		partial = append(partial, r)
	}
	if len(long) < 2 || len(long) > maxStripes {
		return nil, rest
	}
	looks := &effort{stripeLooks * len(words)}
	for _, same := range sameEnds(long) {
		for start := 0; start+1 < len(same); {
			end := start + 1
			var parts [][]line
			for ; end < len(same); end++ {
				lines := between(same[end-1], same[end], rest, looks)
				if !tabular(lines, same[end].to-same[end].from) &&
					!(len(parts) == 1 && same[start].at < pageStart*p.height && restOfCell(lines, same[start])) {
					break
				}
				parts = append(parts, lines)
			}
			stripes := same[start:end]
			if last := stripes[len(stripes)-1]; end == len(same) {
				if lines := unended(last, rest, p.height, looks); len(lines) > 0 {
					parts = append(parts, lines)
					stripes = append(slices.Clone(stripes), ruling{lines[len(lines)-1].bottom + 1, last.from, last.to})
				}
			}
			if t := stripedTable(p.known, stripes, parts, partial); t != nil && !t.unlabelled(rest) && !slices.ContainsFunc(down,
				func(d ruling) bool { return t.contains(box{d.at, d.from, d.at, d.to}) }) {
				tables = append(tables, t)
				rest = slices.DeleteFunc(slices.Clone(rest), func(w word) bool { return t.contains(w.box) })
			}
			start = max(end-1, start+1)
		}
	}
	return tables, rest
}

// sameEnds groups lines that begin and end at the same places, each group from top to bottom.
func sameEnds(lines []ruling) [][]ruling {
	lines = slices.Clone(lines)
	slices.SortFunc(lines, func(a, b ruling) int { return cmp.Compare(a.at, b.at) })
	var out [][]ruling
	for _, l := range lines {
		i := slices.IndexFunc(out, func(g []ruling) bool {
			return abs(g[0].from-l.from) < sameStripe && abs(g[0].to-l.to) < sameStripe
		})
		if i < 0 {
			out, i = append(out, nil), len(out)
		}
		out[i] = append(out[i], l)
	}
	return out
}

// between returns the lines of text between two lines, or nil if text crosses them or is more than a table has.
func between(above, below ruling, words []word, looks *effort) []line {
	var in []word
	for _, w := range words {
		if w.centerY() <= above.at || w.centerY() >= below.at || w.right < above.from || w.left > above.to {
			continue
		}
		if w.left < above.from-sameStripe || w.right > above.to+sameStripe {
			return nil
		}
		if in = append(in, w); len(in) > maxStripeText {
			return nil
		}
	}
	if !looks.spend(len(in)) {
		return nil
	}
	return rows(segmentsOf(in))
}

// unended returns the lines below the last line of a table at the end of a page, where the rest of a row may be.
func unended(last ruling, words []word, height float64, looks *effort) []line {
	lines := between(last, ruling{height, last.from, last.to}, words, looks)
	end, bottom := 0, last.at
	for end < len(lines) && lines[end].top-bottom < 0.8*lines[end].height() {
		bottom = lines[end].bottom
		end++
	}
	if bottom < pageEnd*height || !tabular(lines[:end], last.to-last.from) {
		return nil
	}
	return lines[:end]
}

// tabular reports whether lines of text within a width may be rows of a table. A line with a single cell is the
// rest of a cell, so it is short.
func tabular(lines []line, width float64) bool {
	several, cells, words := 0, 0, 0
	for _, l := range lines {
		n := len(cellsOf(l))
		if n == 1 && l.width() > narrowCell*width {
			return false
		}
		several += one(n > 1)
		cells += n
		words += len(l.words())
	}
	return several > 0 && float64(words) <= stripesProse*float64(cells)
}

// restOfCell reports whether lines below the head of a table are the rest of a cell that the page cut: short, and not
// in the first column.
func restOfCell(lines []line, stripe ruling) bool {
	width := stripe.to - stripe.from
	return len(lines) > 0 && !slices.ContainsFunc(lines, func(l line) bool {
		return len(cellsOf(l)) > 1 || l.width() > narrowCell*width || l.left < stripe.from+0.1*width
	})
}

// stripedTable returns the table of the parts between lines, or nil if the text has no columns.
func stripedTable(known *vocabulary, stripes []ruling, parts [][]line, partial []ruling) *ruledTable {
	var cells []cell
	wide, at := 0, 0
	for _, lines := range parts {
		for _, l := range lines {
			own := cellsApart(l, stripeGap)
			wide += one(len(own) > 1)
			for _, c := range own {
				c.lineAt = at
				cells = append(cells, c)
			}
			at++
		}
	}
	const unparted = 3 // rows of a table without a line within
	if wide < 2 || len(stripes) == 2 && (wide < unparted || wide*10 < at*7) || mostlyMath(cells) {
		return nil
	}
	cuts := columnCuts(cells, wide)
	n := len(cuts) + 1
	if n < 2 || n > maxColumns {
		return nil
	}
	cells = place(cells, cuts)
	if !plausible(cells, n, at) {
		return nil
	}
	top, bottom := stripes[0], stripes[len(stripes)-1]
	spread(cells, cuts, partial, top)
	grouped, head := stripedRows(stripes, cells, n)
	if !regular(grouped, n) || inColumns(grouped, n) {
		return nil
	}
	t := &ruledTable{
		box:   box{top.from, top.at, top.to, bottom.at},
		table: fill(known, grouped, n), columns: []float64{top.from, top.to},
		size: cells[0].words[0].em(), order: cells[0].order,
	}
	if oneColumn(t.table) {
		return nil
	}
	if n := t.table.Headers; len(stripes) > 2 && (n == 0 || n < head && joinsColumns(grouped[n-1])) {
		t.table.Headers = head
	}
	for _, c := range cells {
		t.order = min(t.order, c.order)
	}
	return t
}

// mostlyMath reports whether many words are formula characters: a drawing, or formulas between lines.
func mostlyMath(cells []cell) bool {
	words, math := 0, 0
	for _, c := range cells {
		words += len(c.words)
		for _, w := range c.words {
			math += one(w.math)
		}
	}
	return math*5 > words*2
}

// stripedRows returns the rows of a table, or nil if it is not clear which cells are a row, and how many of them are
// above the second line. Between two lines there is one row, or several if lines of text have cells in most columns.
func stripedRows(stripes []ruling, cells []cell, columns int) (out [][]cell, head int) {
	const leastParts = 4 // of a table with a line below each row
	parts := make([][]cell, len(stripes)-1)
	for _, c := range cells {
		i, _ := slices.BinarySearchFunc(stripes, c.centerY(), func(s ruling, y float64) int { return cmp.Compare(s.at, y) })
		if i > 0 && i < len(stripes) {
			parts[i-1] = append(parts[i-1], c)
		}
	}
	full, single := make([]int, len(parts)), 0
	for i, part := range parts {
		full[i] = fullLines(part, columns)
		single += one(full[i] < 2)
	}
	each := len(parts) >= leastParts && single*5 >= len(parts)*3
	for i, part := range parts {
		rows := [][]cell{part}
		if i == 0 {
			rows = headRows(part)
		}
		if full[i] > 1 && (!each || collapsed(part)) {
			if rows = byStream(part); len(rows) < full[i] {
				rows = byHeight(part)
			}
			if len(rows) < full[i] {
				return nil, 0
			}
		}
		if len(part) > 0 {
			out = append(out, rows...)
		}
		if i == 0 {
			head = min(len(out), 3)
		}
	}
	return out, head
}

// fullLines counts the lines of text that have cells in the first and in most columns.
func fullLines(cells []cell, columns int) (full int) {
	type width struct {
		columns int
		first   bool
	}
	lines := map[int]width{}
	for _, c := range cells {
		l := lines[c.lineAt]
		lines[c.lineAt] = width{l.columns + c.to - c.from + 1, l.first || c.from == 0}
	}
	for _, l := range lines {
		full += one(l.first && l.columns > 1 && l.columns*5 >= columns*3)
	}
	return full
}

// spread extends cells over the columns of the short line below them, as heads of several columns have it.
func spread(cells []cell, cuts []float64, partial []ruling, whole ruling) {
	centers := columnCenters(cells, len(cuts)+1)
	for _, r := range partial {
		if r.to-r.from > 0.9*(whole.to-whole.from) || r.from < whole.from-sameStripe || r.to > whole.to+sameStripe ||
			r.at < whole.at {
			continue
		}
		found := -1
		for i, c := range cells {
			if gap := r.at - c.bottom; c.centerX() < r.from || c.centerX() > r.to || gap < -0.3*c.height() || gap > c.height() {
				continue
			}
			if found >= 0 {
				found = -1
				break
			}
			found = i
		}
		for i, x := range centers {
			if found >= 0 && x > r.from && x < r.to {
				cells[found].from, cells[found].to = min(cells[found].from, i), max(cells[found].to, i)
				cells[found].heads = cells[found].from < cells[found].to
			}
		}
	}
}
