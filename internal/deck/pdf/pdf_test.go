package pdf_test

import (
	"bytes"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/decktest"
	"github.com/seed-7227ef26/async-worker/internal/deck/fonts"
	"github.com/seed-7227ef26/async-worker/internal/deck/pdf"
)

func write(t *testing.T, d *deck.Deck) []byte {
	t.Helper()
	content, _ := writeWarned(t, d)
	return content
}

// writeWarned returns the warnings, too.
func writeWarned(t *testing.T, d *deck.Deck) (content []byte, warnings []string) {
	t.Helper()
	faces, err := pdf.NewFaces(fonts.New())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	warnings, err = pdf.Write(t.Context(), &out, d, pdf.Options{Faces: faces, Media: decktest.Media(t)})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), warnings
}

// TestStackedLines: a stacked line is drawn as a line of the sums, and one of percents as a line of the parts.
func TestStackedLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, format  string
		grouping      deck.Grouping
		values, drawn [2][2]float64
	}{
		{"stacked", "", deck.Stacked, [2][2]float64{{1, 2}, {3, 1}}, [2][2]float64{{1, 2}, {4, 3}}},
		{"percent", "0%", deck.PercentStacked, [2][2]float64{{1, 1}, {1, 3}}, [2][2]float64{{0.5, 0.25}, {1, 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := write(t, lines(c.grouping, c.format, c.values))
			if !bytes.Equal(got, write(t, lines(deck.Clustered, c.format, c.drawn))) {
				t.Errorf("lines of %v, %s, are not drawn at %v", c.values, c.grouping, c.drawn)
			}
			if bytes.Equal(got, write(t, lines(deck.Clustered, c.format, c.values))) {
				t.Error("they are drawn as lines that are not stacked")
			}
		})
	}
}

// TestTinyValues: values whose axis has no power of ten are drawn as zeros, and not at places that aren't numbers.
func TestTinyValues(t *testing.T) {
	t.Parallel()
	const tiny = 5e-324
	got := write(t, lines(deck.Clustered, "", [2][2]float64{{tiny, 0}, {0, tiny}}))
	if !bytes.Equal(got, write(t, lines(deck.Clustered, "", [2][2]float64{}))) {
		t.Error("the smallest values are not drawn as zeros")
	}
}

// TestHugeValues: values whose range or sum is no number are drawn at the ends of an axis from 0 to 1.
func TestHugeValues(t *testing.T) {
	t.Parallel()
	const huge = 1.7e308
	got := write(t, lines(deck.Clustered, "", [2][2]float64{{huge, -huge}, {-huge, huge}}))
	if !bytes.Equal(got, write(t, lines(deck.Clustered, "", [2][2]float64{{1, 0}, {0, 1}}))) {
		t.Error("a range that is too large is not drawn at the ends")
	}
	got = write(t, lines(deck.Stacked, "", [2][2]float64{{huge, huge}, {huge, huge}}))
	if !bytes.Equal(got, write(t, lines(deck.Clustered, "", [2][2]float64{{1, 1}, {1, 1}}))) {
		t.Error("a sum that is too large is not drawn at the end")
	}
}

// TestLineOverStack: the line of a chart with stacked columns is at its own values. One column in each stack is drawn
// as columns that are not stacked.
func TestLineOverStack(t *testing.T) {
	t.Parallel()
	draw := func(grouping deck.Grouping) []byte {
		d := lines(grouping, "", [2][2]float64{{1, 2}, {3, 4}})
		c := d.Slides[0].Elements[0].Chart
		c.Kind, c.Series[1].Kind = deck.ColumnChart, deck.LineChart
		return write(t, d)
	}
	if !bytes.Equal(draw(deck.Stacked), draw(deck.Clustered)) {
		t.Error("the line is drawn on top of the columns")
	}
}

func lines(grouping deck.Grouping, format string, values [2][2]float64) *deck.Deck {
	d := deck.New("Lines")
	c := &deck.Chart{Kind: deck.LineChart, Grouping: grouping, Format: format, Categories: []string{"a", "b"}}
	for i, v := range values {
		c.Series = append(c.Series, deck.Series{Name: string(rune('A' + i)), Values: []*float64{&v[0], &v[1]}})
	}
	d.Slides = []deck.Slide{{Elements: []deck.Element{{
		Kind: deck.ChartElement, Box: &deck.Box{X: 1 << 20, Y: 1 << 20, W: 6 << 20, H: 4 << 20}, Chart: c,
	}}}}
	return d
}

type outline struct {
	Items []struct {
		Page int    `xml:"page,attr"`
		Text string `xml:",chardata"`
	} `xml:"item"`
	Below []outline `xml:"outline"`
}

// TestBookmarks: poppler reads the titles of the slides as bookmarks, those of a section below it, and not those of
// hidden slides.
func TestBookmarks(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("pdftohtml"); err != nil {
		t.Skip("pdftohtml is not installed; apt install poppler-utils")
	}
	d := deck.New("Bookmarks")
	for _, s := range []struct {
		kind   deck.LayoutKind
		title  string
		hidden bool
	}{
		{deck.TitleLayout, "Report", false},
		{deck.SectionLayout, "Fees & fines", false},
		{deck.ContentLayout, "\u00c4rger \u4e2d", false},
		{deck.ContentLayout, "Secret", true},
		{deck.ContentLayout, "", false},
		{deck.SectionLayout, "Costs", false},
	} {
		d.Slides = append(d.Slides, deck.Slide{Layout: string(s.kind), Title: s.title, Hidden: s.hidden})
	}
	path := filepath.Join(t.TempDir(), "deck.pdf")
	if err := os.WriteFile(path, write(t, d), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := exec.CommandContext(t.Context(), "pdftohtml", "-xml", "-i", "-stdout", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Outline outline `xml:"outline"`
	}
	parser := xml.NewDecoder(bytes.NewReader(text))
	parser.Strict = false
	if err := parser.Decode(&read); err != nil {
		t.Fatal(err)
	}
	got := map[string][]int{}
	add := func(o outline, level int) {
		for _, i := range o.Items {
			got[i.Text] = []int{level, i.Page}
		}
	}
	add(read.Outline, 0)
	for _, o := range read.Outline.Below {
		add(o, 1)
	}
	want := map[string][]int{
		"Report": {0, 1}, "Fees & fines": {0, 2}, "\u00c4rger \u4e2d": {1, 3}, "5": {1, 4}, "Costs": {0, 5},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("title: level, page: %v, want %v; pdftohtml:\n%s", got, want, text)
	}
}
