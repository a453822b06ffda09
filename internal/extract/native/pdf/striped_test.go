package pdf_test

import (
	"strings"
	"testing"
)

// trial draws a table with lines above and below the head and below the last row, and a line below each of two heads of
// groups.
func (m *maker) trial(rows ...string) *maker {
	columns := []float64{72, 200, 260, 320, 400, 460}
	m.rule(72, 100, 520, 100).rule(72, 130, 520, 130).rule(72, 134+14*float64(len(rows)-1), 520, 134+14*float64(len(rows)-1))
	m.rule(196, 114, 368, 114).rule(394, 114, 520, 114)
	m.text(240, 111, regular, 10, "Heart disease").text(440, 111, regular, 10, "Stroke")
	for i, row := range rows {
		for c, text := range strings.Split(row, "|") {
			m.text(columns[c], 125+14*float64(i), regular, 10, text)
		}
	}
	return m
}

// A head over several columns is a row of its own, and spans the columns above which its line is drawn.
func TestHeadsOfGroupsWithLines(t *testing.T) {
	t.Parallel()
	rows := []string{
		"Group|no.|Rate|Change|no.|Rate", "Female|915|103.1|12|595|42.6", "Male|510|176.5|17|524|43.9",
		"White|445|134.2|13|864|41.7",
	}
	doc := assertBlocks(t, (&maker{}).page().trial(rows...), "table 2 |Heart disease|Stroke / "+strings.Join(rows, " / "))
	if head := doc.Blocks[0].Table.Rows[0]; head[1].ColSpan != 3 || head[2].ColSpan != 2 {
		t.Errorf("%+v", head)
	}
}

// Confidence intervals in the last column are no numbers of formulas.
func TestConfidenceIntervals(t *testing.T) {
	t.Parallel()
	rows := []string{
		"Group|no.|Rate|Change|no.|CI", "Female|915|103.1|12|595|(42.3-42.9)", "Male|510|176.5|17|524|(43.5-44.3)",
		"White|445|134.2|13|864|(41.5-42.0)",
	}
	assertBlocks(t, (&maker{}).page().trial(rows...), "table 2 |Heart disease|Stroke / "+strings.Join(rows, " / "))
}
