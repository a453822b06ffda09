package pdf_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// TestHostileCharts: charts that a file of a kilobyte can hold are drawn in the time and memory of their points. Before,
// each of them hung, or took the memory of the worker.
func TestHostileCharts(t *testing.T) {
	t.Parallel()
	const many = 250_000
	name := strings.Repeat("g", 4000)
	groups := make([][]string, 8)
	for i := range groups {
		groups[i] = make([]string, many)
		groups[i][0] = name
	}
	single := make([]deck.Series, many)
	for i := range single {
		single[i].Values = values(1)
	}
	for what, c := range map[string]deck.Chart{
		// The lines of the axis are 5 apart, and the numbers 16.
		"numbers without a step between them": {Kind: deck.ScatterChart, Series: []deck.Series{{Values: values(1, 2), X: values(1e17, 1e17+16)}}},
		"long names of large groups":          {Kind: deck.ColumnChart, Categories: make([]string, many), Groups: groups, Series: []deck.Series{{Values: values(1)}}},
		"a category of a megabyte":            {Kind: deck.BarChart, Categories: []string{strings.Repeat("c", 1<<20), "b"}, Series: []deck.Series{{Values: values(1, 2)}}},
		"percents of many series":             {Kind: deck.ColumnChart, Grouping: deck.PercentStacked, Series: single},
		"values of a million digits": {
			Kind: deck.LineChart, Format: "0." + strings.Repeat("0", 1<<20), DataLabels: true,
			Series: []deck.Series{{Values: values(make([]float64, 1000)...)}},
		},
	} {
		t.Run(strings.ReplaceAll(what, " ", "_"), func(t *testing.T) {
			t.Parallel()
			if content := write(t, chart(c)); len(content) > 100<<20 {
				t.Errorf("%d MB", len(content)>>20)
			}
		})
	}
}

// TestTooManyPoints: a chart that would take hours is left out, with a warning.
func TestTooManyPoints(t *testing.T) {
	t.Parallel()
	c := deck.Chart{Kind: deck.AreaChart, Series: make([]deck.Series, 5000)}
	c.Series[0].Values = make([]*float64, 400_000)
	_, warnings := writeWarned(t, chart(c))
	if len(warnings) != 1 || !strings.Contains(warnings[0], "5000 series") {
		t.Errorf("warnings %q", warnings)
	}
}
