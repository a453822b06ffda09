package pdf

import (
	"cmp"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// cellLines returns the lines of a cell. Text that runs up or down is turned.
func cellLines(p *page, words []word) []line {
	var tall, all int
	for _, w := range words {
		n := len(w.text)
		all += n
		if len([]rune(w.text)) > 1 && w.height() > 1.3*w.width() {
			tall += n
		}
	}
	if tall*2 > all {
		words = slices.Clone(words)
		turn := runsUp(words)
		for i := range words {
			words[i].box = words[i].rotatedBy(turn, p.width, p.height)
		}
	}
	return rows(segmentsOf(words))
}

// runsUp returns the rotation of text that runs up or down, judging by words that follow each other in a line.
func runsUp(words []word) rotation {
	up := 0
	for i := 1; i < len(words); i++ {
		if a, b := words[i-1], words[i]; a.segment == b.segment && abs(a.centerX()-b.centerX()) < a.width()/2 {
			up += cmp.Compare(a.top, b.top)
		}
	}
	if up < 0 {
		return fromDownwards
	}
	return fromUpwards
}

// cellOf joins the lines of a cell.
func cellOf(known *vocabulary, lines []line) extract.Cell {
	var s textBuilder
	for _, l := range lines {
		s.add(known.join, l.text())
	}
	text := s.String()
	return extract.Cell{Text: text, Links: linksOf(text, wordsIn(lines))}
}

// unruledRows returns the rows within cells side by side that no lines separate, as below the head of a table
// whose columns are ruled, or nil if the cells are one row. Rows have text in all columns at the same heights and no
// text that goes on from line to line.
func unruledRows(p *page, cells []ruledCell) [][]extract.Cell {
	const least = 3 // rows
	lines := make([][]line, len(cells))
	most, several, filled, numeric := 0, 0, 0, false
	for i, c := range cells {
		if c.bottom > c.top {
			return nil
		}
		filled += one(len(c.words) > 0)
		if len(c.words) < least {
			continue
		}
		lines[i] = cellLines(p, c.words)
		if n := len(lines[i]); n >= least {
			several++
			numeric = numeric || numbers(lines[i])*2 > n
			if wraps(lines[i]) {
				return nil
			}
			if n > len(lines[most]) {
				most = i
			}
		}
	}
	if several < 2 || !numeric && !sameLength(lines, filled) {
		return nil
	}
	// The cell with most lines has one in each row.
	heads := lines[most]
	out := make([][]extract.Cell, len(heads))
	for r := range out {
		out[r] = make([]extract.Cell, len(cells))
	}
	for i, c := range cells {
		if lines[i] == nil && len(c.words) > 0 {
			lines[i] = cellLines(p, c.words)
		}
		for _, l := range lines[i] {
			r := slices.IndexFunc(heads, func(h line) bool { return h.sameLine(l.box) })
			if r < 0 || out[r][i].Text != "" {
				return nil
			}
			out[r][i] = cellOf(p.known, []line{l})
		}
		for r := range out {
			if n := c.to - c.from + 1; n > 1 {
				out[r][i].ColSpan = n
			}
		}
	}
	return out
}

// sameLength reports whether all of n cells have the same number of lines.
func sameLength(cells [][]line, n int) bool {
	length := 0
	for _, lines := range cells {
		if len(lines) == 0 {
			continue
		}
		if length == 0 {
			length = len(lines)
		}
		if n--; len(lines) != length {
			return false
		}
	}
	return n == 0
}

// numbers counts the lines that are numbers.
func numbers(lines []line) (n int) {
	for _, l := range lines {
		n += one(isNumeric(l.text()))
	}
	return n
}

// wraps reports whether lines are text that goes on from line to line: most are as long as the longest. A dot leader fills its
// line, and leads to the rest of a row.
func wraps(lines []line) bool {
	widest, long, words := 0.0, 0, 0
	for _, l := range lines {
		widest = max(widest, l.width())
	}
	for _, l := range lines[:len(lines)-1] {
		long += one(l.width() > 0.75*widest && !hasLeader(l.words()))
		words += len(l.words())
	}
	return long*2 > len(lines)-1 && words >= 3*(len(lines)-1)
}
