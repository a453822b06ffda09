package pdf

import (
	"slices"
	"testing"
)

// TestHeadRows: the head of one column that begins on the line of the head of a group is in one row, that of the columns.
func TestHeadRows(t *testing.T) {
	t.Parallel()
	at := func(line, from, to int, text string) cell {
		place := box{100 * float64(from), 12 * float64(line), 100*float64(to) + 80, 12*float64(line) + 10}
		return cell{box: place, words: []word{{box: place, text: text}}, from: from, to: to, lineAt: line, heads: from < to}
	}
	var got []string
	for _, row := range headRows([]cell{
		at(0, 0, 0, "State"), at(0, 3, 3, "Percent"), at(1, 1, 2, "Sales"), at(1, 3, 3, "of"), at(2, 1, 1, "Total"), at(2, 2, 2, "Retail"),
		at(2, 3, 3, "sales"),
	}) {
		got = append(got, "/")
		for _, c := range row {
			got = append(got, c.words[0].text)
		}
	}
	if want := []string{"/", "State", "Sales", "/", "Percent", "of", "Total", "Retail", "sales"}; !slices.Equal(got, want) {
		t.Errorf(" got %q\nwant %q", got, want)
	}
}
