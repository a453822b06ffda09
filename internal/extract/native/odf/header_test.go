package odf_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/odf"
)

// TestHeaders: the years or months of amounts are a header, those of a series or of data are none.
func TestHeaders(t *testing.T) {
	t.Parallel()
	line := func(cells ...string) string {
		var b strings.Builder
		for _, c := range cells {
			switch {
			case strings.Contains(c, "."):
				b.WriteString(tc(`office:value-type="date"`, p(c)))
			case strings.Trim(c, "0123456789") == "" && c != "":
				b.WriteString(tc(`office:value-type="float"`, p(c)))
			default:
				b.WriteString(tc("", p(c)))
			}
		}
		return tr(b.String())
	}
	for what, tt := range map[string]struct {
		rows string
		want int
	}{
		"names":              {line("", "Port", "Sum") + line("", "Bergen", "7"), 1},
		"years":              {line("", "Port", "2021", "2022") + line("", "Bergen", "5", "7"), 1},
		"months":             {line("Port", "31.01.21", "28.02.21") + line("Bergen", "5", "7"), 1},
		"years at the right": {line("", "", "2021", "2022") + line("", "Bergen", "5", "7"), 1},
		"numbers":            {line("Port", "45292", "45323") + line("Bergen", "5", "7"), 0},
		"a series":           {line("", "2021", "2022", "2023") + line("", "2022", "5", "7"), 0},
		"a series by months": {line("31.12.20", "31.01.21", "28.02.21") + line("Bergen", "5", "7"), 0},
		"years of people":    {line("Ada", "1950", "2001") + line("Bob", "1948", "1999"), 0},
	} {
		doc, err := nativetest.Extract(t, odf.New(), extract.ODF, document(t, sheets(table(`table:name="S"`, tt.rows))), extract.Limits{})
		if err != nil || doc.Blocks[1].Table.Headers != tt.want {
			t.Errorf("%s: got %+v, %v; want %d header rows", what, doc.Blocks[1].Table, err, tt.want)
		}
	}
}
