package pdf_test

import "testing"

// A heading in the margin beside the text has several short lines, and is one heading.
func TestHeadingBesideTheText(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	m.lines(40, 100, 12, bold, 10, "Program Scope and", "Objectives")
	y := m.lines(180, 150, 12, regular, 10, fullLine, nextLine)
	m.lines(40, y+20, 12, bold, 10, "Roles of the", "Harbour Master")
	m.lines(180, y+70, 12, regular, 10, fullLine, nextLine)
	text := "paragraph " + fullLine + " " + nextLine
	assertBlocks(t, m, "heading 1 Program Scope and Objectives", text, "heading 1 Roles of the Harbour Master", text)
}

// Running heads may be in the margin beside the text, with the number of the page; so may a date that a page bears, on
// that page alone.
func TestRunningHeadsBesideTheText(t *testing.T) {
	t.Parallel()
	m := &maker{}
	var want []string
	for page := range 4 {
		m.page()
		m.text(30, 84, bold, 12, "ER").text(30, 98, bold, 12, "29,2").text(30, 150, bold, 12, string(rune('4'+page)))
		text := prose(string(rune('a'+page))+"lines", 20, 10)
		m.lines(150, 84, 13, regular, 10, text...)
		want = append(want, paragraphOf(text))
		if page == 2 {
			m.text(30, 420, regular, 8, "Received 7 March")
			want = append(want, "paragraph Received 7 March")
		}
	}
	assertBlocks(t, m, want...)
}
