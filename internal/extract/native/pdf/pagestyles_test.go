package pdf

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/content"
)

// A page is styled by what it draws if that has nearly all of its words, and text that runs up or down doesn't count.
func TestExplains(t *testing.T) {
	t.Parallel()
	text := content.Text{Box: content.Box{Left: 10, Top: 10, Right: 100, Bottom: 22}, Font: &content.Font{Name: "Some"}, Size: 10, Line: 1}
	drawing := func(unknown bool, width float64) *content.Drawing {
		return &content.Drawing{Width: width, Height: 200, Texts: []content.Text{text}, Unknown: unknown}
	}
	within := word{box: box{20, 10, 60, 22}, text: "within"}
	outside := word{box: box{20, 110, 60, 122}, text: "outsider"}
	upright := word{box: box{20, 110, 32, 160}, text: "upright"}
	for name, c := range map[string]struct {
		drawn *content.Drawing
		words []word
		want  bool
	}{
		"all words":      {drawing(false, 100), []word{within, within}, true},
		"a few letters":  {drawing(false, 100), []word{within, outside}, true},
		"many letters":   {drawing(false, 100), []word{within, outside, outside}, false},
		"text upwards":   {drawing(false, 100), []word{within, upright, upright, upright}, true},
		"another size":   {drawing(false, 300), []word{within}, false},
		"unknown fonts":  {drawing(true, 100), []word{within}, false},
		"no drawing":     {nil, []word{within}, false},
		"no words":       {drawing(false, 100), nil, true},
		"1 % is missing": {drawing(false, 100), append(slices.Repeat([]word{within}, 266), outside, outside), true},
	} {
		p := &page{number: 1, width: 100, height: 200, words: c.words}
		runs := runsOf(1, c.drawn)
		if got := runs != nil && runs.explains(p); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The sizes are those that pdftohtml prints: whole thirds of a point.
func TestRunsOf(t *testing.T) {
	t.Parallel()
	font := &content.Font{Name: "ABCDEF+Some-BoldItalic"}
	marked := &content.Font{Name: "Other", Bold: true}
	d := &content.Drawing{Width: 100, Height: 200, Texts: []content.Text{
		{Font: font, Size: 8.966, Line: 1}, {Font: font, Size: 11.8, Line: 1}, {Font: marked, Size: 10, Line: 2, Hidden: true},
	}}
	var got []string
	for _, r := range runsOf(1, d).runs {
		got = append(got, fmt.Sprintf("%d %.2f %s %v %v %v", r.line, r.size, r.face, r.bold, r.italic, r.hidden))
	}
	want := []string{"1 9.00 some true true false", "1 11.67 some true true false", "2 10.00 other true false true"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// The words of text that is drawn twice, for a shadow, are all those of the first one: their order would leap otherwise.
func TestTextDrawnTwice(t *testing.T) {
	t.Parallel()
	font := &content.Font{Name: "Some"}
	text := func(line int, top float64) content.Text {
		return content.Text{Box: content.Box{Left: 10, Top: top, Right: 100, Bottom: top + 12}, Font: font, Size: 10, Line: line}
	}
	p := &page{number: 1, width: 100, height: 200, words: []word{{box: box{10, 10, 40, 22}}, {box: box{50, 10, 90, 22}}}}
	applyStyles(p, runsOf(1, &content.Drawing{Width: 100, Height: 200, Texts: []content.Text{text(3, 10.01), text(8, 10)}}))
	for _, w := range p.words {
		if w.order/maxWords != 3 {
			t.Errorf("a word is in line %d", w.order/maxWords)
		}
	}
}

// Pages that pdftohtml is asked about may be anywhere between others: each gets its own styles, and one that poppler
// leaves out gets none.
func TestStylesOfSomePages(t *testing.T) {
	t.Parallel()
	var asked []string
	s := &styling{last: 20, read: func(_ context.Context, first, last int, yield func(*runPage) error) child.Result {
		asked = append(asked, fmt.Sprint(first, "-", last))
		for n := first; n <= last; n++ {
			if n == 9 {
				continue
			}
			if n == 14 {
				break // it dies
			}
			if err := yield(&runPage{number: n}); err != nil {
				break
			}
		}
		return child.Result{}
	}}
	defer s.close()
	var got []int
	for _, n := range []int{2, 3, 4, 5, 8, 9, 10, 13, 14, 15, 20} {
		if p, _ := s.at(t.Context(), n); p != nil {
			got = append(got, p.number)
		}
	}
	if want := []int{2, 3, 4, 5, 8, 10, 13, 15, 20}; !slices.Equal(got, want) {
		t.Errorf("pages %v, want %v", got, want)
	}
	if got, want := strings.Join(asked, " "), "2-2 3-4 5-8 9-16 15-15 20-20"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
}
