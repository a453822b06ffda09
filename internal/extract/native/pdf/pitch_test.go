package pdf_test

import "testing"

// Lines in a font whose characters are all as wide as each other are a listing, whatever the font is called.
func TestMonospacedByItsWords(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(72, 60, bold, 14, "Masks")
	y := m.lines(72, 90, 12, regular, 10, fullLine, nextLine) + 8
	y = m.lines(72, y, 11, typed, 8, "CREATE MASK limit ON items", "  RETURN CASE WHEN total > 3 THEN small", "  ELSE NULL END") + 8
	y = m.lines(72, y, 12, regular, 10, fullLine, nextLine) + 14
	m.text(72, y, typed, 10.5, "GRANT MASK TO owner;")
	m.lines(72, y+20, 12, regular, 10, fullLine, nextLine)
	text := "paragraph " + fullLine + " " + nextLine
	assertBlocks(t, m, "heading 1 Masks", text,
		"code CREATE MASK limit ON items\n  RETURN CASE WHEN total > 3 THEN small\n  ELSE NULL END", text,
		"code GRANT MASK TO owner;", text)
}
