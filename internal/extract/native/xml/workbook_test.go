package xml_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// sheet is a sheet of Excel 2003 with the rows.
func sheet(rows ...string) []byte {
	return []byte(`<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" ` +
		`xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet><Table>` + strings.Join(rows, "") +
		`</Table></Worksheet></Workbook>`)
}

// cells is a row: each cell has its attributes before a bar, and its text after it.
func cells(attributes string, all ...string) string {
	var row strings.Builder
	row.WriteString(`<Row ` + attributes + `>`)
	for _, cell := range all {
		attributes, text, _ := strings.Cut(cell, "|")
		row.WriteString(`<Cell ` + attributes + `><Data>` + text + `</Data></Cell>`)
	}
	return row.String() + `</Row>`
}

// TestIndex: a cell that states its column is below the header of that column.
func TestIndex(t *testing.T) {
	t.Parallel()
	header := cells("", "|A", "|B", "|C", "|D")
	const top = "| A | B | C | D |\n| - | - | - | - |\n"
	const down, across = `ss:MergeDown="1"`, `ss:MergeAcross="1"`
	for _, tt := range []struct {
		what string
		rows []string
		want string
	}{
		{"columns left out", []string{header, cells("", `ss:Index="2"|b`, `ss:Index="4"|d`)}, top + "|  | b |  | d |\n"},
		{"the next column", []string{header, cells("", `|a`, `ss:Index="2"|b`, `|c`)}, top + "| a | b | c |  |\n"},
		{"a column that has passed", []string{header, cells("", `|a`, `|b`, `ss:Index="1"|c`)}, top + "| a | b | c |  |\n"},
		{"after columns of one cell", []string{header, cells("", across+`|a`, `ss:Index="4"|d`)}, top + "| a | a |  | d |\n"},
		{
			"beside a cell of two rows",
			[]string{header, cells("", down+`|a`, `|b`), cells("", `ss:Index="2"|b`, `ss:Index="4"|d`), cells("", `ss:Index="2"|b`)},
			top + "| a | b |  |  |\n| a | b |  | d |\n|  | b |  |  |\n",
		},
		{
			"after a cell of two rows in the middle",
			[]string{header, cells("", `|a`, down+` `+across+`|b`, `|d`), cells("", `|a`, `ss:Index="4"|d`)},
			top + "| a | b | b | d |\n| a | b | b | d |\n",
		},
		{
			"a row left out that a cell reaches",
			[]string{header, cells("", `ss:MergeDown="2"|a`, down+`|b`), cells(`ss:Index="4"`, `ss:Index="2"|b`, `|c`)},
			top + "| a | b |  |  |\n| a | b |  |  |\n| a | b | c |  |\n",
		},
		{"rows left out", []string{header, cells(`ss:Index="1000000000"`, `|a`)}, top + "| a |  |  |  |\n"},
	} {
		if got := nativetest.Markdown(t, reader(), extract.XML, sheet(tt.rows...)); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.what, got, tt.want)
		}
	}
}

// TestFarIndex: columns that are left out count as cells, and those far out are not there.
func TestFarIndex(t *testing.T) {
	t.Parallel()
	got := nativetest.Markdown(t, reader(), extract.XML, sheet(cells("", `|A`, `|B`), cells("", `|a`, `ss:Index="1000000000"|b`, `|c`)))
	if columns := strings.Count(got, "-"); columns > 1002 || !strings.Contains(got, "| b | c |") {
		t.Errorf("%d columns: %.100s", columns, got)
	}
	nativetest.RefusesAll(t, reader(), extract.XML, []nativetest.Refusal{{
		What:    "cells left out",
		Content: sheet(strings.Repeat(cells("", fmt.Sprintf(`ss:Index="%d"|b`, 1000)), 1000)),
		Class:   taskerr.QuotaExceeded, Message: "more than 1000000 cells",
	}})
}
