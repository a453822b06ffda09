package extract

import (
	"strings"
	"unicode/utf8"
)

// sniffRows is how many rows are compared to detect the delimiter.
const sniffRows = 50

// Delimiter detects the column delimiter of a CSV text from its start: comma, semicolon, tab or pipe, whichever
// splits the rows most evenly. Delimiters within quotes don't count. It returns 0 if none does: for a text
// declared as CSV this means a single column, otherwise anything less than two columns over three even rows.
func Delimiter(start string, declared bool) rune {
	best, bestScore := rune(0), 0.0
	for _, candidate := range ",;\t|" {
		rows := columnCounts(start, candidate)
		even, columns := evenness(rows)
		if columns < 2 || even < 0.5 || !declared && !undoubted(candidate, even, columns, len(rows)) {
			continue
		}
		// A few more columns don't make up for uneven rows.
		if score := even + 0.01*float64(min(columns, 20)); score > bestScore {
			best, bestScore = candidate, score
		}
	}
	if best == 0 && declared {
		return mostFrequent(start)
	}
	return best
}

// undoubted applies stricter rules to a text that is not named as CSV, because prose has commas, too.
func undoubted(delimiter rune, even float64, columns, rows int) bool {
	if delimiter == ',' && columns == 2 {
		return even == 1 && rows >= 5
	}
	return even == 1 && rows >= 3
}

// columnCounts counts the columns of each complete row. Blank lines are not rows.
func columnCounts(text string, delimiter rune) []int {
	var counts []int
	columns, quoted, blank, fieldStart := 1, false, true, true
	for i, r := range text {
		switch {
		case r == '"':
			// A quote opens only at the start of a field; otherwise 5" tapes would swallow the rest.
			if quoted || fieldStart {
				quoted = !quoted
			}
			fieldStart, blank = false, false
		case quoted:
		case r == '\n':
			if !blank {
				counts = append(counts, columns)
			}
			columns, blank, fieldStart = 1, true, true
		case r == delimiter:
			columns++
			blank, fieldStart = false, true
		case r == '\r' || r == ' ':
		default:
			blank, fieldStart = false, false
		}
		if len(counts) >= sniffRows {
			return counts
		}
		if i+utf8.RuneLen(r) >= len(text) && len(text) < headBytes && !blank {
			counts = append(counts, columns)
		}
	}
	return counts
}

// evenness returns the fraction of rows that have the most common number of columns, and that number.
func evenness(rows []int) (float64, int) {
	frequency := map[int]int{}
	columns := 0
	for _, n := range rows {
		frequency[n]++
		if frequency[n] > frequency[columns] || frequency[n] == frequency[columns] && n > columns {
			columns = n
		}
	}
	if len(rows) == 0 {
		return 0, 0
	}
	return float64(frequency[columns]) / float64(len(rows)), columns
}

// mostFrequent is the last resort for ragged files that are named as CSV.
func mostFrequent(text string) rune {
	line, _, _ := strings.Cut(text, "\n")
	best, most := rune(0), 0
	for _, candidate := range ",;\t|" {
		if n := strings.Count(line, string(candidate)); n > most {
			best, most = candidate, n
		}
	}
	return best
}
