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
// Commas in the columns between other delimiters are not delimiters where they are those of numbers: 1,5;2,5.
func Delimiter(start string, declared bool) rune {
	best, bestScore, decimals := rune(0), 0.0, false
	for _, candidate := range ";\t|," {
		rows, inNumbers := columnCounts(start, candidate)
		even, columns := evenness(rows)
		if columns < 2 || even < 0.5 || !declared && !undoubted(candidate, even, columns, len(rows)) {
			continue
		}
		if candidate == ',' && decimals {
			continue
		}
		decimals = decimals || inNumbers
		// A few more columns don't make up for uneven rows.
		if score := even + 0.01*float64(min(columns, 20)); score > bestScore || candidate == ',' && score == bestScore {
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

// columnCounts counts the columns of each complete row. Blank lines are not rows. decimal reports that the commas in the
// columns are those of numbers, one in each, but for commas before a blank, as in a name. They are not where all columns
// after the first are empty: a delimiter may end each row of another one's.
func columnCounts(text string, delimiter rune) (counts []int, decimal bool) {
	columns, quoted, blank, fieldStart := 1, false, true, true
	numbers, texts, others, number := 0, 0, 0, false // commas; the column has one in a number
	filled := false                                  // a column after the first
	for i, r := range text {
		switch {
		case r == '"':
			// A quote opens only at the start of a field; otherwise 5" tapes would swallow the rest.
			if quoted || fieldStart {
				quoted = !quoted
			}
			fieldStart, blank, filled = false, false, filled || columns > 1
		case quoted:
		case r == '\n':
			if !blank {
				counts = append(counts, columns)
			}
			columns, blank, fieldStart, number = 1, true, true, false
		case r == delimiter:
			columns++
			blank, fieldStart, number = false, true, false
		case r == '\r' || r == ' ':
		default:
			switch before, after := text[max(i-1, 0)], text[min(i+1, len(text)-1)]; {
			case r != ',':
			case !number && isDigit(before) && isDigit(after):
				numbers, number = numbers+1, true
			case after == ' ':
				texts++
			default:
				others++
			}
			fieldStart, blank, filled = false, false, filled || columns > 1
		}
		if len(counts) >= sniffRows {
			break
		}
		if i+utf8.RuneLen(r) >= len(text) && len(text) < headBytes && !blank {
			counts = append(counts, columns)
		}
	}
	return counts, filled && others == 0 && (numbers > 0 || texts == 0)
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

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
