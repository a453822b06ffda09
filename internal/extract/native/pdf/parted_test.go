package pdf_test

import (
	"strings"
	"testing"
)

// groups draws a table of two groups of two columns with a line below the head, and writes its rows.
func (m *maker) groups(y float64, rows ...string) *maker {
	lefts := []float64{72, 192, 312, 432}
	bottom := y + 30 + 14*float64(len(rows)) + 6
	for _, x := range lefts {
		m.rule(x, y, x, bottom)
	}
	for _, at := range []float64{y, y + 30, bottom} {
		m.rule(lefts[0], at, lefts[3], at)
	}
	m.text(76, y+12, regular, 10, "Age").text(196, y+12, regular, 10, "Of the north").text(316, y+12, regular, 10, "Of the south")
	for i := range 2 {
		left := lefts[i+1]
		m.text(left+4, y+24, regular, 10, "Male").text(left+64, y+24, regular, 10, "Female")
	}
	for r, row := range rows {
		for c, text := range strings.Split(row, "|") {
			m.text([]float64{76, 196, 256, 316, 376}[c], y+44+14*float64(r), regular, 10, text)
		}
	}
	return m
}

// Lines part groups of columns only: their amounts are apart at the same places.
func TestGroupsOfAmounts(t *testing.T) {
	t.Parallel()
	rows := []string{"1-2|258|256|647|639", "3-5|386|357|935|938", "6-11|780|740|177|173", "12-19|979|920|219|221", "All|957|982|392|622"}
	m := (&maker{}).page().groups(100, rows...)
	doc := assertBlocks(t, m, "table 1 Age|Of the north Male Female|Of the south Male Female / "+strings.Join(rows, " / "))
	if span := doc.Blocks[0].Table.Rows[0][1].ColSpan; span != 2 {
		t.Errorf("the head of a group spans %d columns", span)
	}
}

// If the lines of the labels look like those of a text, the rows of such a table are not known: the text shows them then.
func TestGroupsOfAmountsWithLongLabels(t *testing.T) {
	t.Parallel()
	rows := []string{
		"Robbing banks in town|258|256|647|639", "Forging money at home|386|357|935|938", "Leaving home as young|780|740|177|173",
		"Driving cars too fast|979|920|219|221", "Gambling for our gold|957|982|392|622",
	}
	got := strings.Join(blocksOf(extracted(t, (&maker{}).page().groups(100, rows...))), "\n")
	for _, row := range rows {
		if !strings.Contains(got, row) {
			t.Errorf("%q is not in\n%s", row, got)
		}
	}
}

// A column isn't cut into more columns than a table has.
func TestTooManyAmountsInAColumn(t *testing.T) {
	t.Parallel()
	const many = 70
	m := (&maker{}).page()
	for r := range 6 {
		y := 100 + 14*float64(r)
		m.rule(72, y, 500, y)
		if r < 5 {
			m.text(76, y+9, regular, 8, "Site").text(136, y+9, regular, 4, strings.Repeat("1  ", many))
		}
	}
	for _, x := range []float64{72, 132, 500} {
		m.rule(x, 100, x, 170)
	}
	row := "Site|" + strings.TrimSpace(strings.Repeat("1 ", many))
	assertBlocks(t, m, "table 0 "+strings.Join([]string{row, row, row, row, row}, " / "))
}
