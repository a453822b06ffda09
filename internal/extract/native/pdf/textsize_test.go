package pdf_test

import (
	"fmt"
	"testing"
)

// A form whose labels are small has its answers in a larger size. They are text, although most of the form is labels.
func TestAnswersThatAreLargerThanTheirLabels(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(72, 60, bold, 14, "Summary of the incident")
	want := []string{"heading 1 Summary of the incident"}
	y := 90.0
	for i, answer := range []string{"N/A", "", "None", "injuries.", ""} {
		label := fmt.Sprintf("%d of the labels that this form has, which are longer than what is written below them and small", i+1)
		y = m.lines(72, y, 10, regular, 8, label, "so that they go on here, and there are more of them than answers.")
		want = append(want, "paragraph "+label+" so that they go on here, and there are more of them than answers.")
		if answer != "" {
			m.text(72, y+6, serif, 11, answer)
			want = append(want, "paragraph "+answer)
		} else {
			m.lines(72, y+6, 13, serif, 11, "On the tenth of January the agency had a report of a ship that was", "lost, and its crew with it, in the storm of that week, as it wrote in its letter.")
			want = append(want, "paragraph On the tenth of January the agency had a report of a ship that was lost, and its crew with it, in the storm of that week, as it wrote in its letter.")
		}
		y += 50
	}
	assertBlocks(t, m, want...)
}

// Amounts in large letters, the legend of a symbol and a line that goes on in small letters are not headings.
func TestLargeTextThatIsNoHeading(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(72, 60, bold, 14, "Results")
	y := m.lines(72, 90, 12, regular, 10, fullLine, nextLine)
	want := []string{"heading 1 Results", "paragraph " + fullLine + " " + nextLine}
	for _, text := range []string{"$ 17,841 in all", "= harbour master", "#include <harbour.h>"} {
		m.text(72, y+20, bold, 14, text)
		want = append(want, "paragraph "+text)
		y = m.lines(72, y+50, 12, regular, 10, fullLine, nextLine) + 10
		want = append(want, "paragraph "+fullLine+" "+nextLine)
	}
	m.text(72, y+20, regular, 12, "k: number of ships")
	m.lines(72, y+50, 12, regular, 10, fullLine, nextLine)
	assertBlocks(t, m, append(want, "paragraph k: number of ships", "paragraph "+fullLine+" "+nextLine)...)
}

// The lines of an item may be far apart, and those of two items further still.
func TestItemsWithDistantLines(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(72, 60, bold, 14, "Rules")
	want := []string{"heading 1 Rules"}
	y := 100.0
	for i := range 6 {
		m.text(72, y, regular, 10, fmt.Sprintf("%d.", i+1))
		text := "a tested rope"
		if i%3 == 0 {
			text = fullLine + " " + nextLine
			m.text(90, y, regular, 10, fullLine)
			y += 21
			m.text(90, y, regular, 10, nextLine)
		} else {
			m.text(90, y, regular, 10, text)
		}
		y += 27
		want = append(want, fmt.Sprintf("item 0 %d. %s", i+1, text))
	}
	assertBlocks(t, m, want...)
}
