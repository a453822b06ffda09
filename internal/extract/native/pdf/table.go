package pdf

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// cell is words that belong together in a line of a table.
type cell struct {
	box
	words    []word
	from, to int  // columns, both included
	lineAt   int  // index of its line
	heads    bool // a line below it joins its columns
	order    int
}

// maxColumns is more than any real table has.
const maxColumns = 40

// equationNumber matches the number to the right of a displayed formula, and no confidence interval: "(102.7–103.6)".
var equationNumber = pattern.New(`^\(\d+([.\-–]\d+){0,2}[a-z]?\)$`)

// strip is consecutive lines of a region: a table, or anything else.
type strip struct {
	table *extract.Table // nil: not a table
	drawn *ruledTable    // nil: its lines are not drawn
	lines []line
}

// strips finds the tables in a region's lines. Other lines with several cells, such as a form or the labels of
// a drawing, are best read in the order in which they were written.
func strips(known *vocabulary, lines []line) []strip {
	var out []strip
	var text []line
	flush := func() {
		if len(text) > 0 {
			out = append(out, strip{lines: text})
		}
		text = nil
	}
	for at := 0; at < len(lines); {
		if drawn, beside := withTables(lines[at]); len(drawn) > 0 {
			text = append(text, beside...)
			flush()
			out = append(out, drawn...)
			at++
			continue
		}
		if len(cellsOf(lines[at])) < 2 || isSectionHead(lines, at) {
			text = append(text, lines[at])
			at++
			continue
		}
		end, wide := tableLines(known, lines, at)
		if notes := notesBelow(lines[at:end]); notes < end-at {
			end, wide = at+notes, several(lines[at:at+notes])
		}
		start, table := tableWithin(known, lines[at:end], wide)
		text = append(text, asWritten(lines[at:at+start])...)
		if table != nil {
			flush()
			out = append(out, strip{table: table, lines: lines[at+start : end]})
		}
		at = end
	}
	flush()
	return out
}

// withTables returns the tables with drawn lines that are part of a line, from left to right, and the text beside
// them.
func withTables(l line) (tables []strip, beside []line) {
	if !l.drawn() {
		return nil, nil
	}
	var text []segment
	for _, s := range l.segments {
		if s.table == nil {
			text = append(text, s)
			continue
		}
		tables = append(tables, strip{s.table.table, s.table, []line{{box: s.box, segments: []segment{s}}}})
	}
	if len(text) > 0 {
		beside = rows(text)
	}
	return tables, beside
}

// tableWithin returns the table at the end of lines and its first line, because text right above a table may
// look like a part of it. Without a table, start is len(lines).
func tableWithin(known *vocabulary, lines []line, wide int) (start int, t *extract.Table) {
	const tries = 4
	for start := range lines[:min(len(lines)-1, tries)] {
		if t := grid(known, lines[start:], wide); t != nil {
			return start, t
		}
		wide -= one(len(cellsOf(lines[start])) >= 2)
	}
	return len(lines), nil
}

// tableLines returns how far a table that begins at lines[at] would reach, and how many of its lines have two
// or more cells. A title ends it unless the lines above and below are no tables without each other: the titles of groups are
// rows. The first one decides for all.
func tableLines(known *vocabulary, lines []line, at int) (end, wide int) {
	decided := false
	return tableRows(lines, at, func(title, wide int) bool {
		if decided {
			return false
		}
		decided = true
		next, rows := tableRows(lines, title+1, func(int, int) bool { return true })
		return grid(known, lines[at:title], wide) != nil && grid(known, lines[title+1:next], rows) != nil ||
			grid(known, lines[at:next], wide+rows) == nil
	})
}

// tableRows is tableLines, where ends decides whether a title ends the table, below some lines with two or more cells. The
// heading of a section ends it, too: what is below is not looked at, so that a page of headings is cheap.
func tableRows(lines []line, at int, ends func(title, wide int) bool) (end, wide int) {
	several := func(i int) bool { return i < len(lines) && len(cellsOf(lines[i])) >= 2 }
	below := func(i int) float64 { return lines[i].top - lines[i-1].bottom }
	var inner []float64 // left edges of the cells that are not the first in their lines
	end = at
	for ; end == at || end < len(lines) && !lines[end].drawn() && below(end) < 2*max(lines[end].height(), lines[end-1].height()); end++ {
		if end > at && isSectionHead(lines, end) {
			break
		}
		if cells := cellsOf(lines[end]); len(cells) >= 2 {
			wide++
			for _, c := range cells[1:] {
				inner = append(inner, c.left)
			}
		} else if slices.ContainsFunc(inner, func(left float64) bool { return abs(left-lines[end].left) < 2 }) {
			continue // the next line of a cell that isn't the first of its row
		} else if !several(end+1) || below(end+1) >= lines[end].height() || titles(lines, end) && ends(end, wide) {
			break
		}
	}
	return end, wide
}

// titles reports whether line i is the heading of the table below it, rather than a row: it is larger than the rows before it
// and after it.
func titles(lines []line, i int) bool {
	const larger = 1.1
	return i > 0 && lines[i].size > larger*lines[i-1].size && lines[i].size > larger*lines[i+1].size
}

// several counts the lines that have two or more cells.
func several(lines []line) (n int) {
	for _, l := range lines {
		n += one(len(cellsOf(l)) >= 2)
	}
	return n
}

// asWritten sorts the segments of the lines by the page's content stream.
func asWritten(lines []line) []line {
	var segs []segment
	for _, l := range lines {
		segs = append(segs, l.segments...)
	}
	if len(lines) < 3 || len(segs) == len(lines) || slices.ContainsFunc(lines,
		func(l line) bool { return hasLeader(l.words()) }) {
		return lines
	}
	slices.SortStableFunc(segs, func(a, b segment) int { return cmp.Compare(a.order, b.order) })
	var out []line
	for _, s := range segs {
		if n := len(out); n > 0 && out[n-1].sameLine(s.box) && s.left-out[n-1].right < 3*s.size &&
			s.left > out[n-1].left {
			out[n-1].segments = append(out[n-1].segments, s)
			out[n-1].box = out[n-1].union(s.box)
			continue
		}
		out = append(out, line{box: s.box, segments: []segment{s}})
	}
	for i := range out {
		out[i].collect()
	}
	return out
}

// grid makes a table of lines, wide of which have two or more cells. It returns nil if they are not a table.
func grid(known *vocabulary, lines []line, wide int) *extract.Table {
	if wide < 2 {
		return nil
	}
	var cells []cell
	contents := 0
	for i, l := range lines {
		l = l.withoutLeader()
		contents += one(hasLeader(l.words()))
		for _, c := range cellsOf(l) {
			c.lineAt = i
			cells = append(cells, c)
		}
	}
	if mostlyMath(cells) || contents*2 > len(lines) || justified(lines) {
		return nil
	}
	cuts := columnCuts(cells, wide)
	n := len(cuts) + 1
	if n < 2 || n > maxColumns || n == 2 && wide < 3 {
		return nil
	}
	cells = place(cells, cuts)
	if !plausible(cells, n, len(lines)) {
		return nil
	}
	for _, group := range []func([]cell) [][]cell{byStream, byHeight, byLine} {
		if grouped := group(cells); regular(grouped, n) && !slices.ContainsFunc(grouped, collapsed) && !numbersLines(grouped, n) {
			return fill(known, grouped, n)
		}
	}
	return nil
}

// justified reports whether lines are text that is spaced out to fill them: then all spaces of a line are equal.
func justified(lines []line) bool {
	equal, all := 0, 0
	for _, l := range lines {
		words := l.words()
		if len(words) < 3 || len(cellsOf(l)) < 2 {
			continue
		}
		least, most, numeric := words[1].left-words[0].right, 0.0, 0
		for i, w := range words[1:] {
			gap := w.left - words[i].right
			least, most = min(least, gap), max(most, gap)
			numeric += one(isNumeric(w.text))
		}
		all++
		equal += one(most-least < 0.12*l.size && numeric*3 < len(words))
	}
	return equal*2 > all
}

// plausible rejects what only looks like a table: formulas with their numbers, lists with hanging markers, and
// scattered words.
func plausible(cells []cell, columns, lines int) bool {
	filled := make([]int, columns)
	var numbers, markers, last, first, named int
	for _, c := range cells {
		filled[c.from]++
		named += one(slices.ContainsFunc(c.words, func(w word) bool { return hasName(w.text) }))
		if c.from == columns-1 {
			last++
			numbers += one(len(c.words) == 1 && equationNumber.MatchString(c.words[0].text))
		}
		if c.from == 0 {
			first++
			markers += one(isMarker(c.words))
		}
	}
	if numbers*2 > last || columns == 2 && markers*2 > first || named*2 < len(cells) {
		return false
	}
	total := 0
	for _, n := range filled {
		total += min(n, lines)
	}
	return float64(total) >= 0.4*float64(columns*lines)
}

// isMarker reports whether words are the marker of a list item, which may be printed in parts: "( a )".
func isMarker(words []word) bool {
	const most = 3
	var text strings.Builder
	for _, w := range words[:min(len(words), most+1)] {
		text.WriteString(w.text)
	}
	return len(words) == 1 && isBullet(words[0]) || len(words) <= most && ordinal.MatchString(text.String())
}

// regular reports whether rows form a table: most have several cells, and each column has some.
func regular(rows [][]cell, columns int) bool {
	filled := make([]int, columns)
	several := 0
	for _, row := range rows {
		var seen [maxColumns]bool
		n := 0
		for _, c := range row {
			if !seen[c.from] {
				seen[c.from] = true
				filled[c.from]++
				n++
			}
		}
		several += one(n > 1)
	}
	return len(rows) >= 2 && several*3 >= len(rows)*2 && slices.Min(filled) >= min(2, len(rows))
}
