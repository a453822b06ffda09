package pdf_test

import (
	"strings"
	"testing"
)

// The labels of rows may be outside the frame of the amounts and their head.
func TestLabelsBesideTheFrame(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().grid(172, 100, "Calley|Colbeck|Hines", "55|26|47", "40|23|45", "30|30|25", "22|35|17")
	for i, label := range []string{"Alcona", "Caledonia Town", "Curtis", "Gustin"} {
		m.text(80, 147+34*float64(i), regular, 10, label)
	}
	assertBlocks(t, m, "table 1 |Calley|Colbeck|Hines / Alcona|55|26|47 / Caledonia Town|40|23|45 / Curtis|30|30|25 / Gustin|22|35|17")
}

// Text beside a table is no label: it has other lines, or the rows have labels of their own.
func TestTextBesideTheFrame(t *testing.T) {
	t.Parallel()
	rows := []string{"Calley|Colbeck|Hines", "55|26|47", "40|23|45", "30|30|25"}
	text := []string{
		"This is a note", "of several lines", "in the margin", "of this page,", "which is beside", "a table here", "by chance",
		"and no label",
	}
	m := (&maker{}).page().grid(172, 100, rows...)
	m.lines(80, 136, 12, regular, 10, text...)
	named := []string{"Site|Depth|Remarks", "North|26|47", "South|23|45", "West|30|25"}
	m.page().grid(172, 100, named...).lines(80, 147, 34, regular, 10, text[:3]...)
	got := strings.Join(blocksOf(extracted(t, m)), "\n")
	for _, want := range []string{"table 1 " + strings.Join(rows, " / "), "table 1 " + strings.Join(named, " / ")} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
