package pdf

import (
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// leastFlowing is how many rows go on in the next one in a column of running text.
const leastFlowing = 4

// inColumns reports whether the rows of a table are lines of running text in columns: in each column, the text goes on from
// row to row.
func inColumns(rows [][]cell, columns int) bool {
	for at := range columns {
		if !flowsDown(rows, at) {
			return false
		}
	}
	return true
}

// flowsDown reports whether a column is running text, which goes on from row to row. Cells end before the row of the table does, so
// that a column has room below them.
func flowsDown(rows [][]cell, column int) bool {
	right := 0.0
	for _, row := range rows {
		for _, c := range row {
			if c.from == column && c.to == column {
				right = max(right, c.right)
			}
		}
	}
	flowing, all, first, end := 0, 0, -1, 0
	var last []word // of the column in the row before
	for i, row := range rows {
		above := last
		last = nil
		for _, c := range row {
			if c.from != column || c.to != column {
				continue
			}
			if above != nil && last == nil {
				all++
				flowing += one(flows(above, c.words, right))
			}
			if last, end = c.words, i; first < 0 {
				first = i
			}
		}
	}
	return flowing*4 > all && flowing >= leastFlowing && all*4 >= (end-first)*3
}

// flows reports whether a line that may reach to the right edge goes on in the next one: that line's first word had no room, and
// is within a sentence.
func flows(line, next []word, right float64) bool {
	first, _ := utf8.DecodeRuneInString(next[0].text)
	end := line[len(line)-1]
	return unicode.IsLower(first) && !endsSentence(end.text) && right-end.right < next[0].width()+1.2*end.em()
}

// numbersLines reports whether the first or the last column of a table is the numbers of a page's lines: it counts lines of
// running text, or, at the right, also lines without text.
func numbersLines(rows [][]cell, columns int) bool {
	last := columns - 1
	first, numbers := lineNumbersIn(rows, 0), lineNumbersIn(rows, last)
	if first == 0 && numbers == 0 {
		return false
	}
	named := 0
	for _, row := range rows {
		named += one(slices.ContainsFunc(row, func(c cell) bool { return c.from < last }))
	}
	if numbers > named {
		return true
	}
	for at := range columns {
		if flowsDown(rows, at) {
			return true
		}
	}
	return false
}

// lineNumbersIn returns how many numbers a column has that counts its lines, or zero: most are one more than the number above.
func lineNumbersIn(rows [][]cell, column int) int {
	const least = 5
	numbers, steps, last := 0, 0, -1
	for _, row := range rows {
		for _, c := range row {
			if c.from != column {
				continue
			}
			for _, w := range c.words {
				if n, err := strconv.Atoi(w.text); err == nil {
					numbers++
					steps += one(n == last+1)
					last = n
				}
			}
		}
	}
	if numbers < least || steps*2 <= numbers {
		return 0
	}
	return numbers
}
