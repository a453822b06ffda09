package pdf_test

import (
	"strings"
	"testing"
)

// Papers print addresses in a typewriter's letters: they are no program.
func TestAddressesAreNoCode(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	m.lines(72, 80, 13, regular, 10, prose("word", 6, 12)...)
	m.text(72, 190, regular, 10, "1 Institute of Water").text(72, 215, mono, 9, "{ann,ben}@water.example.org")
	m.text(72, 240, regular, 10, "2 Institute of Fire").text(72, 265, mono, 9, "ann.b@fire.example.org")
	m.text(72, 290, regular, 10, "3 The program").text(72, 315, mono, 9, "send(ann@fire)")
	assertBlocks(t, m, paragraphOf(prose("word", 6, 12)), "paragraph 1 Institute of Water", "paragraph {ann,ben}@water.example.org",
		"paragraph 2 Institute of Fire", "paragraph ann.b@fire.example.org", "paragraph 3 The program", "code send(ann@fire)")
}

// A mark between keywords is no bullet where it begins a line.
func TestMarkBetweenKeywords(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	m.text(72, 80, regular, 10, "Keywords: image analysis · deep learning · the layout of a page")
	m.text(72, 92, regular, 10, "· the recognition of characters · toolkit")
	m.text(72, 140, regular, 10, "These are the items of a list:")
	m.text(72, 153, regular, 10, "· one").text(72, 165, regular, 10, "· two")
	assertBlocks(
		t, m,
		"paragraph Keywords: image analysis · deep learning · the layout of a page · the recognition of characters · toolkit",
		"paragraph These are the items of a list:", "item 0 - one", "item 0 - two",
	)
}

// A dot leader may touch the title before it, and the number after it.
func TestLeadersThatTouchTheirTitles(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(72, 80, bold, 14, "Contents")
	for i, entry := range []string{"2.1 Introduction", "2.2 Enumeration", "2.3 Enabling"} {
		dots := strings.Repeat(".", 60)
		m.text(72, 110+13*float64(i), regular, 10, entry+dots+[]string{" 12", "13", " 14"}[i])
	}
	assertBlocks(t, m, "heading 1 Contents", "paragraph 2.1 Introduction 12", "paragraph 2.2 Enumeration 13", "paragraph 2.3 Enabling 14")
}
