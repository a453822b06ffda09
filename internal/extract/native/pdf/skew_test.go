package pdf

import (
	"fmt"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// readingAskew returns two columns of text, rotated by degrees clockwise around the middle of the page.
func readingAskew(width, height, degrees float64) Reading {
	r := Reading{Skew: -degrees}
	for column := range 2 {
		for row := range 20 {
			var l Line
			for i := range 6 {
				x, y := tilted(70+float64(column)*260+float64(i)*35, 100+float64(row)*13, width, height, degrees)
				l = append(l, Word{fmt.Sprintf("word%d", column*120+row*6+i), extract.Box{
					Left: (x - 15) / width, Top: (y - 4) / height, Right: (x + 15) / width, Bottom: (y + 4) / height,
				}})
			}
			r.Lines = append(r.Lines, l)
		}
	}
	return r
}

// TestReadingAskew: a page that was straightened to be read is laid out as the straight one, and its blocks are where
// the words were.
func TestReadingAskew(t *testing.T) {
	t.Parallel()
	const width, height = 595, 842
	layOut := func(r Reading) (blocks []extract.Block) {
		l := NewLayout(1, func(b extract.Block) error { blocks = append(blocks, b); return nil })
		if err := l.Add(t.Context(), 1, width, height, r); err != nil {
			t.Fatal(err)
		}
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		return blocks
	}
	want := layOut(readingAskew(width, height, 0))
	for _, degrees := range []float64{-4, 1.5, 3} {
		got := layOut(readingAskew(width, height, degrees))
		if len(got) != len(want) {
			t.Fatalf("%g°: %d blocks, want %d", degrees, len(got), len(want))
		}
		for i, b := range got {
			if b.Text != want[i].Text || b.Kind != want[i].Kind {
				t.Errorf("%g°: %s %q, want %s %q", degrees, b.Kind, b.Text, want[i].Kind, want[i].Text)
			}
			x, y := tilted((want[i].Box.Left+want[i].Box.Right)/2*width, (want[i].Box.Top+want[i].Box.Bottom)/2*height, width,
				height, degrees)
			if dx, dy := (b.Box.Left+b.Box.Right)/2*width-x, (b.Box.Top+b.Box.Bottom)/2*height-y; abs(dx) > 1 || abs(dy) > 1 {
				t.Errorf("%g°: the block %q is off by %g, %g points", degrees, b.Text, dx, dy)
			}
		}
	}
}
