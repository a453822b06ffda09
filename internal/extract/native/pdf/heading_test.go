package pdf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
)

const (
	fullLine = "The amount on this line is the sum of all that was paid to you during the year by"
	nextLine = "everybody who is named above, and it is in full euros."
)

// Bold words that run into their paragraph are no heading, however long they are.
func TestBoldLeadsThatRunIn(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	m.text(72, 80, bold, 14, "Who must file")
	y := m.lines(72, 110, 12, regular, 10, fullLine, nextLine)
	m.text(72, y+6, bold, 10, "Line 4a.").text(118, y+6, regular, 10, "The amount on this line is the sum of all that was paid to you")
	m.text(72, y+18, regular, 10, nextLine)
	m.text(72, y+42, bold, 10, "This whole line is bold and so is the begin of the next one, which goes on for so")
	m.text(72, y+54, bold, 10, "long.").text(102, y+54, regular, 10, "Then the paragraph goes on without it, up to its end.")
	m.text(72, y+78, bold, 10, "This bold line ends exactly where the right margin is, and then its text goes on in")
	m.text(72, y+90, regular, 10, "other letters, up to its end.")
	m.text(72, y+118, bold, 10, "Deadline")
	m.lines(72, y+130, 12, regular, 10, fullLine, nextLine)
	assertBlocks(
		t, m,
		"heading 1 Who must file",
		"paragraph "+fullLine+" "+nextLine,
		"paragraph Line 4a. The amount on this line is the sum of all that was paid to you "+nextLine,
		"paragraph This whole line is bold and so is the begin of the next one, which goes on for so long. Then the paragraph "+
			"goes on without it, up to its end.",
		"paragraph This bold line ends exactly where the right margin is, and then its text goes on in other letters, up to "+
			"its end.",
		"heading 2 Deadline",
		"paragraph "+fullLine+" "+nextLine,
	)
}

// A bold term right above its indented definition is no heading.
func TestTermsOfDefinitions(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	m.text(72, 80, bold, 14, "Words")
	y := m.lines(72, 110, 12, regular, 10, fullLine, nextLine)
	for _, term := range []string{"Depth", "Share"} {
		m.text(72, y+10, bold, 10, term)
		y = m.lines(106, y+22, 12, regular, 10, "The first line of what it means is long enough to go on in", "another line.")
	}
	const meaning = "paragraph The first line of what it means is long enough to go on in another line."
	assertBlocks(t, m, "heading 1 Words", "paragraph "+fullLine+" "+nextLine, "paragraph Depth", meaning,
		"paragraph Share", meaning)
}

// Browsers draw bullets as shapes: a circle, a ring, a square.
func TestDrawnBullets(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	y := m.lines(72, 80, 12, regular, 10, fullLine, nextLine)
	for i, item := range []string{"the signed permit", "two spare fuses", "a tested rope"} {
		m.text(102, y+12*float64(i), regular, 10, item)
		x, middle := 92.0, pageHeight-y-12*float64(i)+3
		fmt.Fprintf(m.pages[0], "%[1]g %[2]g m %[1]g %[4]g %[1]g %[4]g %[3]g %[4]g c %[5]g %[4]g %[5]g %[4]g %[5]g %[2]g c "+
			"%[5]g %[6]g %[5]g %[6]g %[3]g %[6]g c %[1]g %[6]g %[1]g %[6]g %[1]g %[2]g c f\n", x, middle, x+2, middle+2, x+4, middle-2)
	}
	m.lines(72, y+50, 12, regular, 10, fullLine, nextLine)
	text := "paragraph " + fullLine + " " + nextLine
	assertBlocks(t, m, text, "item 0 - the signed permit", "item 0 - two spare fuses", "item 0 - a tested rope", text)
}

// The title of a document of one page is not repeated as its running head.
func TestRunningTitleOfOnePage(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(72, 40, regular, 9, "Study of mountain roads").text(72, 80, bold, 18, "Study of mountain roads")
	m.lines(72, 110, 12, regular, 10, fullLine, nextLine)
	assertBlocks(t, m, "heading 1 Study of mountain roads", "paragraph "+fullLine+" "+nextLine)
}

// Lines that were read from an image become headings, lists and paragraphs as the words of a file do.
func TestLayoutOfReadLines(t *testing.T) {
	t.Parallel()
	var got []string
	l := pdf.NewLayout(1, func(b extract.Block) error {
		got = append(got, fmt.Sprintf("%s %s%s", b.Kind, b.Marker, b.Text))
		return nil
	})
	var r pdf.Reading
	line := func(left, top, em float64, text string) {
		var words pdf.Line
		for w := range strings.FieldsSeq(text) {
			width := 0.5 * em * float64(len(w))
			high, low := 0.72, 0.0
			if strings.ContainsAny(w, "gpqy") {
				low = 0.21
			}
			if !strings.ContainsAny(strings.ToLower(w), "bdfhklit0123456789") && w == strings.ToLower(w) {
				high = 0.5
			}
			words = append(words, pdf.Word{Text: w, Box: extract.Box{
				Left: left / 600, Top: (top - high*em) / 800, Right: (left + width) / 600, Bottom: (top + low*em) / 800,
			}})
			left += width + 0.3*em
		}
		r.Lines = append(r.Lines, words)
	}
	line(60, 80, 18, "Harbour rules")
	line(60, 120, 10, "The harbour master keeps a record of every ship that enters or leaves the port, with the")
	line(60, 133, 10, "name of its captain.")
	line(70, 155, 10, "1. gloves and goggles")
	line(70, 168, 10, "2. a tested rope")
	if err := l.Add(t.Context(), 1, 600, 800, r); err != nil {
		t.Fatal(err)
	}
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := "heading Harbour rules\nparagraph The harbour master keeps a record of every ship that enters or leaves the port, " +
		"with the name of its captain.\nlist_item 1.gloves and goggles\nlist_item 2.a tested rope"
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}
