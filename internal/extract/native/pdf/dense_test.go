package pdf

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// tablePage is a page of words in rows, each a separate segment.
func tablePage(lines, columns int) *page {
	p := &page{number: 1, width: 600, height: 800}
	w, h := p.width/float64(columns), p.height/float64(lines)
	for i := range lines * columns {
		x, y := w*float64(i%columns), h*float64(i/columns)
		p.words = append(p.words, word{
			box: box{x, y, x + w/2, y + 0.8*h}, style: style{size: h}, text: "word", segment: i, order: i * maxWords,
		})
	}
	return p
}

func wordsOf(regions []region) int {
	n := 0
	for _, r := range regions {
		for _, l := range r.lines {
			n += len(l.words())
		}
	}
	return n
}

// TestEffortGrowsWithThePage: the effort for columns is that of the number of gutters, and each gutter looks at
// a segment equally often on any page.
func TestEffortGrowsWithThePage(t *testing.T) {
	t.Parallel()
	const maxGutters, looks = 40, 2
	for _, lines := range []int{50, 200} {
		p := tablePage(lines, 30)
		e := &effort{maxEffort}
		regions, err := readingOrder(t.Context(), segmentsOf(p.words), e)
		if err != nil || wordsOf(regions) != len(p.words) {
			t.Fatalf("%d of %d words, %v", wordsOf(regions), len(p.words), err)
		}
		if took, most := maxEffort-e.left, looks*maxGutters*maxDepth*len(p.words); took == 0 || took > most {
			t.Errorf("%d words take %d looks, want at most %d", len(p.words), took, most)
		}
	}
}

// TestNoColumnsBeyondTheEffort: a page is cut while effort is left.
func TestNoColumnsBeyondTheEffort(t *testing.T) {
	t.Parallel()
	var words []word
	for column := range 2 {
		for l := range 30 {
			for i := range 6 {
				x, y := 50+280*float64(column)+40*float64(i), 50+14*float64(l)
				words = append(words, word{
					box: box{x, y, x + 37, y + 10}, style: style{size: 10}, text: "word", segment: 30*column + l,
					order: len(words) * maxWords,
				})
			}
		}
	}
	for most, want := range map[int]int{maxEffort: 2, 59: 1} {
		if regions, err := readingOrder(t.Context(), segmentsOf(words), &effort{most}); err != nil ||
			len(regions) != want {
			t.Errorf("%d regions with an effort of %d, want %d: %v", len(regions), most, want, err)
		}
	}
}

// TestPageBeyondTheEffort: no word is lost, and a warning is reported.
func TestPageBeyondTheEffort(t *testing.T) {
	t.Parallel()
	p := tablePage(60, 30)
	words := 0
	d := newDocument(1, func(b extract.Block) error {
		words += len(strings.Fields(b.Text))
		if b.Table != nil {
			for _, row := range b.Table.Rows {
				for _, c := range row {
					words += len(strings.Fields(c.Text))
				}
			}
		}
		return nil
	})
	d.effort = 3 * len(p.words)
	if err := errors.Join(d.add(t.Context(), p), d.flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	if words != 60*30 {
		t.Errorf("%d words of %d are left", words, 60*30)
	}
	if w := d.warnings(); len(w) != 1 || !strings.Contains(w[0], "page 1 ") {
		t.Errorf("warnings: %q", w)
	}
}

// TestLayoutEndsWithTheTask: also between two gutters of a page.
func TestLayoutEndsWithTheTask(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the task was canceled")
	cancel(stop)
	p := tablePage(60, 30)
	if _, err := readingOrder(ctx, segmentsOf(p.words), &effort{maxEffort}); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

// TestLongTextIsCopiedOnce: a text of many parts equals their pairwise join, without copying the whole text for
// each part.
func TestLongTextIsCopiedOnce(t *testing.T) {
	t.Parallel()
	const parts = 20_000
	var lines []line
	want, looked, total := "", 0, 0
	c := vocabularyOf("well-known")
	for i := range parts {
		text := []string{
			"plain words", "a well-", "known case", "mend-", "ed", "\u6f22\u5b57", "\u304b\u306a",
			"soft" + string(softHyphen),
		}[i%8]
		lines = append(lines, line{segments: []segment{{words: []word{{text: text}}}}})
		total += len(text)
		if i < 3000 {
			want = c.join(want, text)
		}
	}
	join := func(a, b string) string { looked += len(a); return c.join(a, b) }
	if got := (&piece{lines: lines[:3000]}).text(join); got != want {
		t.Errorf("the %d bytes differ from the %d of pairwise joins", len(got), len(want))
	}
	looked = 0
	(&piece{lines: lines}).text(join)
	if most := parts * (tailBytes + 64); looked > most {
		t.Errorf("read %d bytes of %d, want at most %d", looked, total, most)
	}
}
