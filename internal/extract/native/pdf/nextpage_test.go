package pdf_test

import "testing"

// The levels of a list are those of its items on the page before, whatever the page's margin, and below a footnote.
func TestListOnTheNextPage(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(72, 80, regular, 10, "There are some:")
	m.text(80, 93, regular, 10, "-").text(92, 93, regular, 10, "the first one")
	m.text(100, 106, regular, 10, "-")
	m.text(112, 106, regular, 10, "a part of it that is long enough for another line, which is on the next page, and")
	m.text(72, 770, regular, 7, "The note says what it says, in small print.")
	m.page().text(142, 80, regular, 10, "here it ends.")
	m.text(130, 93, regular, 10, "-").text(142, 93, regular, 10, "another part")
	m.text(110, 106, regular, 10, "-").text(122, 106, regular, 10, "the second one")
	m.text(102, 140, regular, 10, "The text below it is at the margin of this page.")
	assertBlocks(t, m, "paragraph There are some:", "item 0 - the first one",
		"item 1 - a part of it that is long enough for another line, which is on the next page, and here it ends.",
		"paragraph The note says what it says, in small print.",
		"item 1 - another part", "item 0 - the second one", "paragraph The text below it is at the margin of this page.")
}
