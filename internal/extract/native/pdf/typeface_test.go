package pdf_test

import "testing"

// In a document in a light font, the medium one of its headings stands out as bold does elsewhere.
func TestHeadingsOfALightFont(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	y := 80.0
	want := []string{}
	for _, head := range []string{"(1) What the harbour is for", "(2) Who may use it"} {
		m.text(72, y, medium, 10.5, head)
		y = m.lines(72, y+14, 12, light, 10, fullLine, nextLine) + 14
		want = append(want, "heading 1 "+head, "paragraph "+fullLine+" "+nextLine)
	}
	assertBlocks(t, m, want...)
}

// A short line in a font of another family, above the running text, is a heading; a right-aligned one is the author.
func TestHeadingsInAnotherFamily(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(72, 60, regular, 20, "On harbours").text(450, 90, regular, 10, "Ada Reinholdsen")
	y := 120.0
	want := []string{"heading 1 On harbours", "paragraph Ada Reinholdsen"}
	for _, head := range []string{"What the harbour is for", "Who may use it"} {
		m.text(72, y, regular, 10, head)
		y = m.lines(72, y+18, 12, serif, 10, fullLine, nextLine) + 14
		want = append(want, "heading 2 "+head, "paragraph "+fullLine+" "+nextLine)
	}
	assertBlocks(t, m, want...)
}

// The options of a command and the names of variables are terms of definitions; syntax, addresses and the labels of a
// figure are not headings either, however large.
func TestTextThatIsNotProse(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(72, 60, bold, 14, "Options")
	y := m.lines(72, 90, 12, regular, 10, fullLine, nextLine)
	want := []string{"heading 1 Options", "paragraph " + fullLine + " " + nextLine}
	const meaning = "The first line of what it means is long enough to go on in"
	for _, term := range []string{"--login", "$HOME", "CD SILENT"} {
		font := bold
		if term == "CD SILENT" {
			font = regular
		}
		m.text(72, y+12, font, 10, term)
		y = m.lines(106, y+24, 12, regular, 10, meaning, "another line.")
		want = append(want, "paragraph "+term, "paragraph "+meaning+" another line.")
	}
	y += 30
	for _, text := range []string{"|| & && ; ;; ;& ;;& ( ) <newline>", "www.harbour.example", "s 3 s 1"} {
		m.text(72, y, bold, 14, text)
		y = m.lines(72, y+24, 12, regular, 10, fullLine, nextLine) + 24
		want = append(want, "paragraph "+text, "paragraph "+fullLine+" "+nextLine)
	}
	assertBlocks(t, m, want...)
}

// Headings with numbers of one depth have one level, whatever large text is between them.
func TestLevelsOfNumbers(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(72, 60, bold, 20, "On harbours")
	y := 90.0
	want := []string{"heading 1 On harbours"}
	for _, head := range []struct {
		size        float64
		level, text string
	}{{14, "2", "1 Purpose"}, {12, "3", "1.1 Ships"}, {17, "2", "Depth over time"}, {12, "3", "1.2 Cranes"}, {14, "2", "2 Users"}} {
		m.text(72, y, bold, head.size, head.text)
		y = m.lines(72, y+20, 12, regular, 10, fullLine, nextLine) + 20
		want = append(want, "heading "+head.level+" "+head.text, "paragraph "+fullLine+" "+nextLine)
	}
	assertBlocks(t, m, want...)
}

// A heading that looks like an earlier one needs no room above it.
func TestHeadingsLikeEarlierOnes(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(72, 60, italic, 10, "What the harbour is for")
	y := m.lines(72, 74, 12, regular, 10, fullLine, nextLine)
	m.text(72, y, italic, 10, "Who may use it")
	m.lines(72, y+14, 12, regular, 10, fullLine, nextLine)
	assertBlocks(t, m, "heading 1 What the harbour is for", "paragraph "+fullLine+" "+nextLine,
		"heading 1 Who may use it", "paragraph "+fullLine+" "+nextLine)
}

// Sections of a paper have centered heads in small capitals with Roman numbers, and theirs have italic ones with letters.
func TestSmallCapitals(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(120, 60, bold, 20, "On harbours and their cranes")
	y := m.lines(72, 100, 12, regular, 10, fullLine, nextLine)
	m.text(220, y+14, regular, 10, "I. I").text(231.1, y+14, regular, 8, "NTRODUCTION")
	y = m.lines(72, y+36, 12, regular, 10, fullLine, nextLine)
	m.text(72, y+10, italic, 10, "A. Ships")
	y = m.lines(72, y+28, 12, regular, 10, fullLine, nextLine)
	m.text(225, y+14, regular, 10, "II. M").text(244.5, y+14, regular, 8, "ETHODS")
	m.lines(72, y+36, 12, regular, 10, fullLine, nextLine)
	text := "paragraph " + fullLine + " " + nextLine
	assertBlocks(t, m, "heading 1 On harbours and their cranes", text, "heading 2 I. INTRODUCTION", text, "heading 3 A. Ships",
		text, "heading 2 II. METHODS", text)
}

// A bold line above a list is its heading, and one that begins with a table's number is its caption.
func TestBoldLinesAboveOthers(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(72, 60, bold, 14, "What is new")
	y := m.lines(72, 90, 12, regular, 10, fullLine, nextLine)
	m.text(72, y+16, bold, 10, "New commands")
	m.text(84, y+38, regular, 10, "-").text(92, y+38, regular, 10, "moor ties a ship to a quay, which is named")
	m.text(84, y+52, regular, 10, "-").text(92, y+52, regular, 10, "cast unties it")
	m.text(72, y+84, bold, 10, "Table 1 Ships of the year")
	m.lines(72, y+104, 12, regular, 10, fullLine, nextLine)
	text := "paragraph " + fullLine + " " + nextLine
	assertBlocks(t, m, "heading 1 What is new", text, "heading 2 New commands",
		"item 0 - moor ties a ship to a quay, which is named", "item 0 - cast unties it",
		"caption Table 1 Ships of the year", text)
}
