package pptx_test

import (
	"archive/zip"
	"bytes"
	"io"
	"regexp"
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/decktest"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// content is a part of a presentation.
func content(t *testing.T, file []byte, name string) string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	part, err := z.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(part)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// dated is a presentation of one chart, whose categories are 1 January and 1 February 2024.
func dated(t *testing.T, kind deck.ChartKind) []byte {
	t.Helper()
	c := decktest.Chart(kind)
	c.Categories, c.CategoryFormat = []string{"45292", "45323", ""}, "mmm yy"
	d := deck.New("Chart")
	d.Slides = []deck.Slide{{Layout: "title_only", Elements: []deck.Element{
		{Kind: deck.ChartElement, Box: &deck.Box{W: 5e6, H: 5e6}, Chart: c},
	}}}
	return decktest.PPTX(t, d)
}

// TestDatesOnAxis: categories that are dates are dates on the axis, and not the numbers that are stored. An axis of x has
// numbers.
func TestDatesOnAxis(t *testing.T) {
	t.Parallel()
	for kind, want := range map[deck.ChartKind]string{
		deck.ColumnChart: "mmm yy", deck.BarChart: "mmm yy", deck.RadarChart: "mmm yy", deck.ScatterChart: "General",
	} {
		part := content(t, dated(t, kind), "ppt/charts/deckChart1.xml")
		axis := regexp.MustCompile(`(?s)<c:(?:cat|val)Ax>.*?<c:numFmt formatCode="([^"]*)"`).FindStringSubmatch(part)
		if axis == nil || axis[1] != want {
			t.Errorf("%s: the first axis has the format %q", kind, axis)
		}
	}
}

// TestDatesFrom1904: dates that a chart counts from 1904 are counted from 1900 in the deck, as in all it is written to.
func TestDatesFrom1904(t *testing.T) {
	t.Parallel()
	old := edit(t, dated(t, deck.LineChart), replaced("ppt/charts/deckChart1.xml", `<c:date1904 val="0"/>`, `<c:date1904 val="1"/>`))
	d, err := read(t, old, extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Slides[0].Elements[0].Chart.Categories; !slices.Equal(got, []string{"46754", "46785", ""}) {
		t.Errorf("the categories are %q", got)
	}
}
