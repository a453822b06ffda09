package extract_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

func TestPeriodHeader(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct {
		rows string // cells between spaces; "-" is an empty one
		want bool
	}{
		"years":                    {"Port 2021 2022 2023\nBergen 5 7 8", true},
		"falling years":            {"Port 2023 2022\nBergen 5 7", true},
		"an unnamed first column":  {"- 2021 2022\nBergen 5 7", true},
		"other names":              {"Port Unit 2021 2022 Sum\nBergen t 5 7 12", true},
		"a line without amounts":   {"Port 2021 2022\nNorth - -\nBergen 5 7", true},
		"a line of units":          {"Port 2021 2022\n- kt kt\nBergen 1950 7", true},
		"some amounts like years":  {"Port 2021 2022\nBergen 1950 2000\nOslo 1200 2450\nMoss 40 55", true},
		"dates":                    {"Port 2021-01-31 2021-02-28\nBergen 5 7", true},
		"the first row of data":    {"Bergen 2021 2022 37\nOslo 2020 2022 36", false},
		"years of people":          {"Ada 1950 2001\nBob 1948 1999\nEve 1960 -", false},
		"a year is unknown":        {"Ada 1950 2001\nBob ? 1999\nEve 1960 2010", false},
		"dates of a plan":          {"dredge 2021-01-31 2021-02-28\npave 2021-02-01 2021-03-31", false},
		"a series by years":        {"2021 5 7\n2022 6 8", false},
		"a series by years, again": {"2021 2022 2023\n2024 6 8", false},
		"a series by dates":        {"2021-01-31 2021-02-01 2021-02-28\n2021-02-28 6 8", false},
		"one year":                 {"Port 2021\nBergen 5", false},
		"not in their order":       {"Port 2021 2023 2022\nBergen 5 7 8", false},
		"the same year":            {"Port 2021 2021\nBergen 5 7", false},
		"not years":                {"Port 1850 2021\nBergen 5 7", false},
		"not whole":                {"Port 2021.5 2022.5\nBergen 5 7", false},
		"years and dates":          {"Port 2021 2022-01-31\nBergen 5 7", false},
		"names":                    {"Port Year\nBergen 5", false},
		"nothing below":            {"Port 2021 2022", false},
		"no amounts below":         {"Port 2021 2022\nBergen - -", false},
		"data far below":           {"Ada 1950 2001\n" + strings.Repeat("Bob 1948 1999\n", 20) + strings.Repeat("Eve 5 7\n", 100), false},
	} {
		var rows [][]extract.Value
		for line := range strings.Lines(tt.rows) {
			rows = append(rows, values(line))
		}
		if got := extract.PeriodHeader(rows); got != tt.want {
			t.Errorf("%s: got %v", what, got)
		}
	}
}

func values(line string) (row []extract.Value) {
	for i, text := range strings.Fields(line) {
		v := extract.Value{Column: i, Kind: extract.TextValue, Text: text}
		switch {
		case text == "-":
			v.Kind = extract.NoValue
		case strings.Count(text, "-") == 2:
			v.Kind = extract.DateValue
		case strings.Trim(text, "0123456789.") == "":
			v.Kind = extract.NumberValue
		}
		row = append(row, v)
	}
	return row
}
