package csv

import (
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// maxTitles is how many rows above the names of the columns may be a title or a comment.
const maxTitles = 3

// layout is what the start of a file shows of its rows.
type layout struct {
	delimiter rune
	titles    int  // rows above the table
	header    bool // the first row of the table has the names of the columns
}

// layoutOf detects the layout. A delimiter of 0 is not known.
func layoutOf(start string, delimiter rune) layout {
	if delimiter == 0 {
		delimiter = delimiterOf(start)
	}
	rows := sample(start, delimiter)
	titles := titleRows(rows, delimiter)
	return layout{delimiter, titles, hasHeader(rows[titles:])}
}

// delimiterOf detects the delimiter. Where the whole of the start is uneven, but not what follows the titles, that decides:
// a title has commas, too. A line with other delimiters is no title over columns that commas separate: these are in numbers.
func delimiterOf(start string) rune {
	rest := start
	for titles := range maxTitles + 1 {
		delimiter := extract.Delimiter(rest, true)
		if delimiter == ',' && strings.ContainsAny(start[:len(start)-len(rest)], ";\t|") {
			break
		}
		if delimiter != 0 && even(sample(rest, delimiter)) && titleRows(sample(start, delimiter), delimiter) >= titles {
			return delimiter
		}
		var found bool
		if _, rest, found = strings.Cut(strings.TrimLeft(rest, "\r\n"), "\n"); !found {
			break
		}
	}
	if delimiter := extract.Delimiter(start, true); delimiter != 0 {
		return delimiter
	}
	return ','
}

// even reports whether rows are those of a table: at least two, all with the same number of columns.
func even(rows [][]string) bool {
	return len(rows) > 1 && len(rows[0]) > 1 && !slices.ContainsFunc(rows, func(row []string) bool {
		return len(row) != len(rows[0])
	})
}

// titleRows counts the rows above the table: each has at most one value, and what follows has more columns.
func titleRows(rows [][]string, delimiter rune) int {
	titles := slices.IndexFunc(rows, func(row []string) bool { return filled(row) > 1 })
	if titles < 1 || titles > maxTitles || isNumber(rows[0][0]) {
		return 0
	}
	table := rows[titles:]
	padded := slices.ContainsFunc(rows[:titles], func(row []string) bool { return len(row) > 1 })
	if !isTable(table, delimiter) || padded && !hasNames(table) {
		return 0
	}
	return titles
}

// filled returns how many values of a row are not empty.
func filled(row []string) int {
	n := 0
	for _, value := range row {
		if strings.TrimSpace(value) != "" {
			n++
		}
	}
	return n
}

// isTable reports whether rows are more than lines of one column with commas in their texts, as in "London, Paris".
func isTable(rows [][]string, delimiter rune) bool {
	wide, texts := 0, 0
	for _, row := range rows {
		if len(row) < 2 {
			continue
		}
		wide++
		if delimiter == ',' && !slices.ContainsFunc(row[1:], func(value string) bool { return !strings.HasPrefix(value, " ") }) {
			texts++
		}
	}
	return len(rows) > 1 && wide*4 >= len(rows)*3 && texts < wide
}

// hasNames reports whether the first row has a name for each column, and the rows below have numbers. A row that has as
// many columns as a title filled up with empty ones may be a record.
func hasNames(rows [][]string) bool {
	return filled(rows[0]) == len(rows[0]) && hasHeader(rows) && slices.ContainsFunc(rows[1:], func(row []string) bool {
		return slices.ContainsFunc(row, isNumber)
	})
}
