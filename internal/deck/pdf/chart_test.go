package pdf_test

import (
	"bytes"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// chart is a deck of one chart.
func chart(c deck.Chart) *deck.Deck {
	d := deck.New("Chart")
	d.Slides = []deck.Slide{{Elements: []deck.Element{{
		Kind: deck.ChartElement, Box: &deck.Box{X: 1 << 20, Y: 1 << 20, W: 6 << 20, H: 4 << 20}, Chart: &c,
	}}}}
	return d
}

// values are those of a series.
func values(all ...float64) []*float64 {
	out := make([]*float64, len(all))
	for i := range all {
		out[i] = &all[i]
	}
	return out
}

// ink is how many pixels of a file's first page are of a colour.
func ink(t *testing.T, content []byte, red, green, blue uint32) (n int) {
	t.Helper()
	if _, err := exec.LookPath("pdftoppm"); err != nil {
		t.Skip("pdftoppm is not installed; apt install poppler-utils")
	}
	path := filepath.Join(t.TempDir(), "deck.pdf")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "pdftoppm", "-png", "-singlefile", "-r", "50", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	near := func(a, b uint32) bool { return max(a>>8, b)-min(a>>8, b) < 40 }
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if r, g, b, _ := img.At(x, y).RGBA(); near(r, red) && near(g, green) && near(b, blue) {
				n++
			}
		}
	}
	return n
}

// TestLinesOfPoints: points of a scatter chart are joined by lines, curves, or not, and marked or not, as the deck says.
func TestLinesOfPoints(t *testing.T) {
	t.Parallel()
	draw := func(s deck.Series) int {
		s.Values, s.X, s.Color = values(0, 8, 0), values(0, 5, 10), "#00FF00"
		return ink(t, write(t, chart(deck.Chart{Kind: deck.ScatterChart, Series: []deck.Series{s}})), 0, 255, 0)
	}
	points, joined, bare := draw(deck.Series{}), draw(deck.Series{Joined: true}), draw(deck.Series{Joined: true, NoMarkers: true})
	if joined < 5*points || bare >= joined || bare < joined/2 {
		t.Errorf("pixels of points: %d, of those that lines join: %d, of the lines alone: %d", points, joined, bare)
	}
	smooth, straight := deck.Series{Joined: true, Smooth: true}, deck.Series{Joined: true}
	smooth.Values, smooth.X = values(0, 8, 0), values(0, 5, 10)
	straight.Values, straight.X = smooth.Values, smooth.X
	var files [2][]byte
	for i, s := range []deck.Series{smooth, straight} {
		files[i] = write(t, chart(deck.Chart{Kind: deck.ScatterChart, Series: []deck.Series{s}}))
	}
	if bytes.Equal(files[0], files[1]) {
		t.Error("a curve is drawn as straight lines")
	}
}

// TestFilledRadar: the areas of a radar chart are filled if it says so.
func TestFilledRadar(t *testing.T) {
	t.Parallel()
	draw := func(filled bool, opaque uint32) int {
		c := deck.Chart{Kind: deck.RadarChart, Filled: filled, Categories: []string{"a", "b", "c"}, Series: []deck.Series{
			{Values: values(3, 4, 5), Color: "#00FF00"},
		}}
		return ink(t, write(t, chart(c)), opaque, 255, opaque)
	}
	if outline, filled := draw(false, 0), draw(true, 0x66); filled < 5*outline { // 0.6 of green on white
		t.Errorf("pixels of the outline: %d, filled: %d", outline, filled)
	}
}

// TestMixedPercent: a line over columns of percents is at its own values, and not a part of them.
func TestMixedPercent(t *testing.T) {
	t.Parallel()
	draw := func(grouping deck.Grouping, columns ...float64) []byte {
		return write(t, chart(deck.Chart{
			Kind: deck.ColumnChart, Grouping: grouping, Format: "0%", Categories: []string{"a", "b"},
			Series: []deck.Series{{Values: values(columns...)}, {Kind: deck.LineChart, Values: values(0.5, 0.25)}},
		}))
	}
	if !bytes.Equal(draw(deck.PercentStacked, 7, 9), draw(deck.Clustered, 1, 1)) {
		t.Error("the line is drawn as a part of the columns")
	}
}

// TestSecondAxis: a series with an axis of its own is drawn in its scale, and the axis has labels and a title.
func TestSecondAxis(t *testing.T) {
	t.Parallel()
	draw := func(kind deck.ChartKind) []byte {
		return write(t, chart(deck.Chart{
			Kind: kind, Categories: []string{"a", "b"}, YTitle: "Number", Y2Title: "Part", Series: []deck.Series{
				{Values: values(100, 200)}, {Kind: deck.LineChart, Values: values(0.1, 0.2), Secondary: true, Format: "0%", Color: "#00FF00"},
			},
		}))
	}
	text := run(t, "poppler-utils", draw(deck.ColumnChart), "pdftotext", "-layout")
	for _, word := range []string{"Number", "Part", "200", "150", "20%", "15%"} {
		if !strings.Contains(text, word) {
			t.Errorf("no axis has %s:\n%s", word, text)
		}
	}
}

// TestBottomUp: the first category of bars is where the deck says, and its label is beside it.
func TestBottomUp(t *testing.T) {
	t.Parallel()
	draw := func(up bool, names []string, v ...float64) []byte {
		return write(t, chart(deck.Chart{Kind: deck.BarChart, BottomUp: up, Categories: names, Series: []deck.Series{{Values: values(v...)}}}))
	}
	up := run(t, "poppler-utils", draw(true, []string{"first", "last"}, 1, 2), "pdftotext", "-layout")
	down := run(t, "poppler-utils", draw(false, []string{"first", "last"}, 1, 2), "pdftotext", "-layout")
	if strings.Index(up, "first") < strings.Index(up, "last") || strings.Index(down, "first") > strings.Index(down, "last") {
		t.Errorf("upwards:\n%s\ndown:\n%s", up, down)
	}
}

// TestDates: categories that are dates are dates on the axis, upright and sideways, and behind the names of groups. Other
// numbers stay what they are.
func TestDates(t *testing.T) {
	t.Parallel()
	for _, c := range []deck.Chart{
		{Kind: deck.ColumnChart, CategoryFormat: "mmm yy"},
		{Kind: deck.BarChart, CategoryFormat: "d.m.yyyy"},
		{Kind: deck.PieChart, CategoryFormat: "m/d", Legend: deck.LegendRight},
		{Kind: deck.LineChart, CategoryFormat: "General"},
	} {
		c.Categories, c.Series = []string{"45292", "45323"}, []deck.Series{{Values: values(1, 2)}}
		text := run(t, "poppler-utils", write(t, chart(c)), "pdftotext", "-layout")
		dates := strings.Contains(text, "2024-01-01") && strings.Contains(text, "2024-02-01")
		if dates == (c.CategoryFormat == "General") || dates == strings.Contains(text, "45292") {
			t.Errorf("%s of %q:\n%s", c.Kind, c.CategoryFormat, text)
		}
	}
}
