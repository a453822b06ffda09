package fit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/fit"
	"github.com/seed-7227ef26/async-worker/internal/deck/typeset"
)

// words makes a text of n different words.
func words(n, from int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("word%d", from+i)
	}
	return strings.Join(all, " ")
}

func slide(elements ...deck.Element) *deck.Deck {
	d := deck.New("d")
	d.Slides = []deck.Slide{{
		Layout: "content", Title: "Long", Notes: "n", Elements: append(
			[]deck.Element{{Kind: deck.TextElement, Role: deck.TitleRole, Text: deck.Lines("Long")}}, elements...),
	}}
	return d
}

func fitted(t testing.TB, d *deck.Deck) *deck.Deck {
	t.Helper()
	out, _ := warned(t, d)
	return out
}

func warned(t testing.TB, d *deck.Deck) (*deck.Deck, []string) {
	t.Helper()
	r, err := fit.Fit(t.Context(), d, typeset.Typical{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Deck, r.Warnings
}

// overfull finds what does not fit, by the measure that the writers use.
func overfull(t *testing.T, d *deck.Deck) {
	t.Helper()
	set := typeset.Setter{Face: typeset.Typical{}, Deck: d}
	for i, s := range d.Slides {
		l := d.Layout(s.Layout)
		for k, e := range s.Elements {
			box := l.Place(&e)
			if e.Table != nil {
				g, err := set.Table(e.Table, 1)
				if err != nil || g.Height() > float64(d.Size.Height-box.Y)/typeset.Point {
					t.Errorf("slide %d: a table of %g points, %v", i+1, g.Height(), err)
				}
			}
			if e.Text == nil {
				continue
			}
			in := deck.DefaultInset
			b := set.Text(l, &e, e.Text, float64(box.W-in.Left-in.Right)/typeset.Point)
			if high := float64(box.H-in.Top-in.Bottom) / typeset.Point; b.Height > high+1 {
				t.Errorf("slide %d, element %d: %g points high in %g, scale %g", i+1, k, b.Height, high, e.Text.Scale)
			}
		}
	}
}

// text is all words of the bodies, or of the tables without their headers.
func text(d *deck.Deck) string {
	var out []string
	for _, s := range d.Slides {
		for _, e := range s.Elements {
			if e.Role == deck.BodyRole {
				out = append(out, strings.Fields(e.Text.Plain())...)
			}
			if e.Table != nil {
				for _, r := range e.Table.Rows[e.Table.Headers:] {
					for _, c := range r.Cells {
						out = append(out, strings.Fields(c.Text.Plain())...)
					}
				}
			}
		}
	}
	return strings.Join(out, " ")
}

// TestTextFits: a body of any length fits, on as many slides as it needs, and has all its words in order.
func TestTextFits(t *testing.T) {
	t.Parallel()
	for _, paragraphs := range [][]int{{10}, {100}, {180}, {600}, {3000}, {60, 60, 60, 60}, {5, 900, 5}, {30, 30, 30, 30, 30, 30, 30, 30, 30}} {
		body := &deck.Text{}
		count := 0
		for _, n := range paragraphs {
			half := n / 2
			body.Paragraphs = append(body.Paragraphs, deck.Paragraph{Runs: []deck.Run{
				{Text: words(half, count) + " "}, {Text: words(n-half, count+half), Bold: new(true)},
			}})
			count += n
		}
		d := slide(deck.Element{Kind: deck.TextElement, Role: deck.BodyRole, Index: 1, Text: body})
		got := fitted(t, d)
		overfull(t, got)
		if want := words(count, 0); text(got) != want {
			t.Errorf("%v: the words changed:\n%.300s", paragraphs, text(got))
		}
		if n := len(got.Slides); (count >= 270) != (n > 1) {
			t.Errorf("%v: %d slides", paragraphs, n)
		} else if n > 1 && (got.Slides[0].Title != fmt.Sprintf("Long (1/%d)", n) || got.Slides[n-1].TitleElement().Text.Plain() !=
			fmt.Sprintf("Long (%d/%d)", n, n) || got.Slides[n-1].Notes != "n") {
			t.Errorf("%v: the last slide is %q", paragraphs, got.Slides[n-1].TitleElement().Text.Plain())
		}
		if err := got.Check(); err != nil {
			t.Error(err)
		}
		if len(d.Slides) != 1 || d.Slides[0].Elements[1].Text.Scale != 0 || d.Slides[0].Title != "Long" {
			t.Error("the deck itself was changed")
		}
	}
}

// TestTableFits: a long table goes on with its header, and no cell that spans rows is torn apart.
func TestTableFits(t *testing.T) {
	t.Parallel()
	table := &deck.Table{Columns: []int64{3000000, 3000000}, Headers: 1, Rows: []deck.Row{{Cells: []deck.Cell{
		{Text: *deck.Lines("H1")}, {Text: *deck.Lines("H2")},
	}}}}
	for i := range 60 {
		row := deck.Row{Cells: []deck.Cell{{Text: *deck.Lines(fmt.Sprintf("word%d", 2*i))}, {Text: *deck.Lines(fmt.Sprintf("word%d", 2*i+1))}}}
		table.Rows = append(table.Rows, row)
	}
	d := slide(deck.Element{Kind: deck.TableElement, Table: table, Box: &deck.Box{X: 500000, Y: 1417320, W: 6000000, H: 100}})
	got := fitted(t, d)
	overfull(t, got)
	if text(got) != words(120, 0) || len(got.Slides) < 2 {
		t.Errorf("%d slides: %.200s", len(got.Slides), text(got))
	}
	for _, s := range got.Slides {
		if e := s.Elements[1]; e.Table.Rows[0].Cells[0].Text.Plain() != "H1" {
			t.Error("a part has no header")
		}
	}
	for i := range table.Rows[1:] {
		if i%2 == 0 {
			table.Rows[i+1].Cells[0].RowSpan = 2
		} else {
			table.Rows[i+1].Cells = table.Rows[i+1].Cells[1:]
		}
	}
	got = fitted(t, d)
	overfull(t, got)
	if err := got.Check(); err != nil || len(got.Slides) < 2 {
		t.Errorf("%d slides, %v", len(got.Slides), err)
	}
}

// TestTitleShrinks: what can't be divided becomes smaller; links follow slides that move.
func TestTitleShrinks(t *testing.T) {
	t.Parallel()
	d := slide(deck.Element{Kind: deck.TextElement, Role: deck.BodyRole, Index: 1, Text: deck.Lines(words(3000, 0))})
	d.Slides[0].Elements[0].Text = deck.Lines(words(30, 0))
	d.Slides = append(d.Slides, deck.Slide{Layout: "content", Elements: []deck.Element{
		{Kind: deck.TextElement, Role: deck.BodyRole, Index: 1, Text: &deck.Text{Paragraphs: []deck.Paragraph{{
			Runs: []deck.Run{{Text: "to itself", Link: "#slide2"}},
		}}}},
		{Kind: deck.TableElement, Box: &deck.Box{Y: 1417320, W: 6000000, H: 100}, Table: grid(nil, "a", "b")},
	}})
	cells := d.Slides[1].Elements[1].Table.Rows[2].Cells
	cells[0].Text.Paragraphs[0].Runs[0].Link = "#slide2"
	got := fitted(t, d)
	if s := got.Slides[0].Elements[0].Text.Scale; s == 0 || s < 0.3 {
		t.Errorf("the title's scale is %g", s)
	}
	last := got.Slides[len(got.Slides)-1]
	if link := last.Elements[0].Text.Paragraphs[0].Runs[0].Link; link != fmt.Sprintf("#slide%d", len(got.Slides)) {
		t.Errorf("the link goes to %s of %d slides", link, len(got.Slides))
	}
	moved := last.Elements[1].Table.Rows[2].Cells[0].Text.Paragraphs[0].Runs[0].Link
	if kept := cells[0].Text.Paragraphs[0].Runs[0].Link; moved != fmt.Sprintf("#slide%d", len(got.Slides)) || kept != "#slide2" {
		t.Errorf("the link of a cell goes to %s of %d slides; that of the deck itself to %s", moved, len(got.Slides), kept)
	}
}

// TestNumbersContinue: a numbered list goes on where the slide before ends.
func TestNumbersContinue(t *testing.T) {
	t.Parallel()
	body := &deck.Text{}
	for i := range 60 {
		body.Paragraphs = append(body.Paragraphs, deck.Paragraph{
			List: &deck.List{Kind: deck.NumberList}, Runs: []deck.Run{{Text: fmt.Sprint("item", i+1)}},
		})
	}
	got := fitted(t, slide(deck.Element{Kind: deck.TextElement, Role: deck.BodyRole, Index: 1, Text: body}))
	if len(got.Slides) < 2 {
		t.Fatal("one slide")
	}
	for _, s := range got.Slides {
		var c typeset.Counter
		for _, p := range s.Elements[1].Text.Paragraphs {
			if marker := c.Next(p.List, 0); "item"+strings.TrimSuffix(marker, ".") != p.Plain() {
				t.Fatalf("%s has the marker %s", p.Plain(), marker)
			}
		}
	}
}

// BenchmarkLong divides a text of 100,000 words, which must not be measured once for each slide.
func BenchmarkLong(b *testing.B) {
	d := slide(deck.Element{Kind: deck.TextElement, Role: deck.BodyRole, Index: 1, Text: deck.Lines(words(100_000, 0))})
	for b.Loop() {
		if n := len(fitted(b, d).Slides); n < 400 {
			b.Fatal(n)
		}
	}
}

// TestMostSlides: a deck does not become slides without end, and has all its words even then.
func TestMostSlides(t *testing.T) {
	t.Parallel()
	d := deck.New("d")
	lines := make([]string, 5500)
	for i := range lines {
		lines[i] = fmt.Sprint("line", i)
	}
	for range 5 {
		d.Slides = append(d.Slides, deck.Slide{Layout: "content", Title: "t", Elements: []deck.Element{{
			Kind: deck.TextElement, Role: deck.BodyRole, Box: &deck.Box{Y: 6000000, W: 6000000, H: 400000}, Text: deck.Lines(lines...),
		}}})
	}
	divided := fitted(t, d)
	if n := len(divided.Slides); n < 15_000 || n > 20_005 {
		t.Errorf("%d slides", n)
	}
	if got, want := text(divided), text(d); got != want {
		t.Errorf("%d bytes of text, want %d", len(got), len(want))
	}
}
