package pdf_test

import "testing"

// square draws a box to tick with its upper left corner at x, y.
func (m *maker) square(x, y float64) *maker {
	return m.rule(x, y, x+10, y).rule(x, y+10, x+10, y+10).rule(x, y, x, y+10).rule(x+10, y, x+10, y+10)
}

// The fields of a form that can be ticked have no text: their states are in their attributes.
func TestTickedFields(t *testing.T) {
	t.Parallel()
	const field = "<< /Type /Annot /Subtype /Widget /FT /Btn /Rect "
	m := (&maker{annots: field + "[72 690 84 702] /AS /Yes >> " + field + "[172 690 184 702] /AS /Off >> " +
		"<< /Type /Annot /Subtype /Widget /Rect [112 650 124 662] /AP << /N << /1 7 0 R /Off 7 0 R >> >> " +
		"/Parent << /FT /Btn /V /1 >> >> " +
		field + "[72 610 84 622] /Ff 65536 /AS /Yes >> " + field + "[72 570 84 582] /F 2 /AS /Yes >> "}).page()
	m.text(90, 150, regular, 10, "Female").text(190, 150, regular, 10, "Male")
	m.text(72, 190, regular, 10, "Married")
	m.text(130, 190, regular, 10, "Single")
	m.text(90, 230, regular, 10, "Press here").text(90, 270, regular, 10, "Not shown")
	assertBlocks(t, m, "item 0 - ☒ Female ☐ Male", "paragraph Married ☒ Single", "paragraph Press here", "paragraph Not shown")
}

// A box that is drawn is ticked by what is written or drawn in it. If none has such a mark, they may be something else.
func TestTickedSquares(t *testing.T) {
	t.Parallel()
	const ticked = "item 0 - ☒ Female ☐ Male"
	for about, tt := range map[string]struct{ letter, drawn, want string }{
		"letter":    {"X", "", ticked},
		"strokes":   {"", "74 692 m 80 698 l 80 692 m 74 698 l S", ticked},
		"area":      {"", "73 694 m 75 692 l 81 699 l 75 694 l f", ticked},
		"white":     {"", "q 1 1 1 RG 74 692 m 80 698 l S Q", "paragraph Female Male"},
		"elsewhere": {"", "74 392 m 80 398 l S", "paragraph Female Male"},
		"digit":     {"1", "", "paragraph 1 Female Male"},
	} {
		m := (&maker{}).page().square(72, 142).square(172, 142)
		m.text(90, 150, regular, 10, "Female").text(190, 150, regular, 10, "Male").text(74, 150, regular, 8, tt.letter)
		m.pages[0].WriteString(tt.drawn + "\n")
		t.Run(about, func(t *testing.T) { t.Parallel(); assertBlocks(t, m, tt.want) })
	}
}

// The boxes of lines that are close to each other nearly touch.
func TestTickedSquaresInAColumn(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	for i, label := range []string{"First choice", "Second choice", "Third choice"} {
		m.square(72, 142+12*float64(i)).text(90, 150+12*float64(i), regular, 10, label)
	}
	m.text(74, 162, regular, 8, "X")
	assertBlocks(t, m, "item 0 - ☐ First choice", "item 0 - ☒ Second choice", "item 0 - ☐ Third choice")
}
