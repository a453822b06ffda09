package pdf_test

import (
	"fmt"
	"strings"
	"testing"
)

// A title that is printed on each page is text on the first one. A running head in small letters is not, nor is the number of
// the page beside it.
func TestTitleOnEachPage(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		font string
		size float64
		want []string
	}{
		"large": {regular, 20, []string{"heading 1 Good Tariffs"}},
		"bold":  {bold, 10, []string{"heading 1 Good Tariffs"}},
		"small": {bold, 8, nil},
	} {
		m := &maker{}
		want := tt.want
		for i := range 3 {
			m.page().text(72, 50, tt.font, tt.size, "Good Tariffs").text(400, 50, regular, 14, fmt.Sprintf("Page %d of 3", i+1))
			m.text(300, 800, bold, 14, "All prices without tax")
			text := prose(fmt.Sprintf("%s%c", "word", 'a'+i), 6, 12)
			m.lines(72, 100, 13, regular, 10, text...)
			want = append(want, paragraphOf(text))
		}
		t.Run(name, func(t *testing.T) { t.Parallel(); assertBlocks(t, m, want...) })
	}
}

// A large head that begins on the second page doesn't part the paragraph that goes on there.
func TestLargeHeadOnLaterPages(t *testing.T) {
	t.Parallel()
	m := &maker{}
	first, rest := prose("first", 6, 14), prose("second", 6, 14)
	first[5], rest[0] = "first first first first first first first first first first first first", strings.ToLower(rest[0])
	m.page().lines(72, 100, 13, regular, 10, first...)
	m.page().text(72, 50, regular, 20, "Good Tariffs")
	m.lines(72, 100, 13, regular, 10, rest...)
	m.page().text(72, 50, regular, 20, "Good Tariffs").lines(72, 100, 13, regular, 10, prose("third", 6, 12)...)
	assertBlocks(t, m, paragraphOf(append(first, rest...)), paragraphOf(prose("third", 6, 12)))
}
