package pdf_test

import "testing"

// Subsets of symbol fonts number their glyphs from the exclamation mark on, and the hyphen of a symbol font is a minus.
func TestBulletsOfSymbolFonts(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(72, 80, regular, 10, "There are some:")
	m.text(80, 93, symbols, 10, "!").text(110, 93, regular, 10, "the first one, which is so long that it has to go on in a")
	m.text(110, 106, regular, 10, "second line")
	m.text(110, 119, symbols, 10, "-").text(122, 119, regular, 10, "a part of it")
	m.text(80, 132, symbols, 10, "!").text(110, 132, regular, 10, "the second one")
	m.text(72, 170, symbols, 10, "-").text(82, 170, regular, 10, "5 is less than nothing.")
	assertBlocks(t, m, "paragraph There are some:", "item 0 - the first one, which is so long that it has to go on in a second line",
		"item 1 - a part of it", "item 0 - the second one", "paragraph − 5 is less than nothing.")
}

// A list goes on below those within its items, though another number was the last one.
func TestListWithinAnItem(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(72, 80, regular, 10, "a)").text(92, 80, regular, 10, "The first one has these parts:")
	m.text(92, 93, regular, 10, "1)").text(112, 93, regular, 10, "one part").text(92, 106, regular, 10, "2)")
	m.text(112, 106, regular, 10, "another part").text(72, 130, regular, 10, "b)").text(92, 130, regular, 10, "The second one has none.")
	assertBlocks(t, m, "item 0 a) The first one has these parts:", "item 1 1) one part", "item 1 2) another part",
		"item 0 b) The second one has none.")
}

// A list goes on in the next column.
func TestListInColumns(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	left, right := prose("left", 20, 9), prose("right", 20, 8)
	m.lines(60, 80, 12, regular, 10, left...)
	m.text(60, 335, regular, 10, "a)").text(75, 335, regular, 10, "The item that ends the first column.")
	m.text(310, 80, regular, 10, "b)").text(325, 80, regular, 10, "The item that begins the other one.")
	m.lines(310, 107, 12, regular, 10, right...)
	assertBlocks(t, m, paragraphOf(left), "item 0 a) The item that ends the first column.",
		"item 0 b) The item that begins the other one.", paragraphOf(right))
}

// The first line of an item of a law is indented; its other lines are at the edge of the column.
func TestItemsWithAnIndent(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	m.lines(84, 80, 12, regular, 10, "(a) The harbour master shall keep a register of all of the cranes that are on the prem-")
	m.lines(72, 92, 12, regular, 10, "ises, and of each of the persons who are allowed to work with them by day or by the",
		"night, as the schedule says.")
	m.lines(84, 116, 12, regular, 10, "(b) The register is open to whoever asks the harbour master for it before the end of the")
	m.lines(72, 128, 12, regular, 10, "Harbour Year, and to the court.")
	m.lines(84, 140, 12, regular, 10, "(c) A copy costs as much as the harbour master has said in the list of fees of the year.")
	m.lines(72, 152, 12, regular, 10, "The list of fees is in the schedule that comes with this law and is printed every year,",
		"and may be asked for.")
	m.lines(108, 176, 12, regular, 10, "(1) A copy of a part of the register that a court has asked for costs nothing if the har-")
	m.lines(96, 188, 12, regular, 10, "bour master has agreed to it.")
	assertBlocks(t, m, "item 0 (a) The harbour master shall keep a register of all of the cranes that are on the premises, and of each "+
		"of the persons who are allowed to work with them by day or by the night, as the schedule says.",
		"item 0 (b) The register is open to whoever asks the harbour master for it before the end of the Harbour Year, and to the court.",
		"item 0 (c) A copy costs as much as the harbour master has said in the list of fees of the year.",
		"paragraph The list of fees is in the schedule that comes with this law and is printed every year, and may be asked for.",
		"item 0 (1) A copy of a part of the register that a court has asked for costs nothing if the harbour master has agreed to it.")
}

// A minus is a sign in a term of a formula, and so are the characters of a symbol font beside others.
func TestSignsOfSymbolFonts(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(72, 80, symbols, 10, "-").text(82, 80, regular, 10, "log p")
	m.text(72, 120, symbols, 10, "-").text(82, 120, regular, 10, "j")
	m.text(72, 160, symbols, 10, "!").text(82, 160, symbols, 10, "a b c")
	assertBlocks(t, m, "paragraph − log p", "paragraph − j", "paragraph ! α β χ")
}

// The margin is another one beside a picture: an item has the level of the one whose number is before its own.
func TestListBesideAPicture(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(72, 80, regular, 10, "1.").text(92, 80, regular, 10, "The first one is above the picture.")
	m.text(110, 100, regular, 10, "2.").text(130, 100, regular, 10, "The second one is beside it.")
	m.text(110, 120, regular, 10, "3.").text(130, 120, regular, 10, "The third one is beside it:")
	m.text(130, 140, regular, 10, "a)").text(150, 140, regular, 10, "it has a part.")
	m.text(110, 160, regular, 10, "4.").text(130, 160, regular, 10, "The last one is beside it, too.")
	assertBlocks(t, m, "item 0 1. The first one is above the picture.", "item 0 2. The second one is beside it.",
		"item 0 3. The third one is beside it:", "item 1 a) it has a part.", "item 0 4. The last one is beside it, too.")
}
