package pdf

import (
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

// flowsDown reports whether a column is running text, which goes on from row to row.
func flowsDown(rows [][]cell, column int) bool {
	right := 0.0
	for _, row := range rows {
		for _, c := range row {
			if c.from == column && c.to == column {
				right = max(right, c.right)
			}
		}
	}
	flowing, all := 0, 0
	var last []word // of the column in the row before
	for _, row := range rows {
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
			last = c.words
		}
	}
	return flowing*4 > all && flowing >= leastFlowing
}

// flows reports whether a line that may reach to the right edge goes on in the next one: that line's first word had no room, and
// is within a sentence.
func flows(line, next []word, right float64) bool {
	first, _ := utf8.DecodeRuneInString(next[0].text)
	end := line[len(line)-1]
	return unicode.IsLower(first) && !endsSentence(end.text) && right-end.right < next[0].width()+1.2*end.em()
}
