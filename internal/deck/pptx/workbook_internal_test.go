package pptx

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// TestWorkbookKeepsTexts: a text in the workbook is the chart's, and a number stays one; what a cell can't hold is left out.
func TestWorkbookKeepsTexts(t *testing.T) {
	t.Parallel()
	c := &deck.Chart{Kind: deck.ColumnChart}
	c.Categories = []string{
		" blanks ", "_x0041_ <&> \"q\"", strings.Repeat("😀", 20_000), "üñ\u0001",
		"_x005F_x000D_x0041_", "_x00\u000141_", // the sign in the middle is left out
	}
	c.Series = []deck.Series{{Name: "S", Values: []*float64{new(1.5), nil, new(-2e-7), new(math.NaN())}}}
	var content bytes.Buffer
	if err := workbook(&content, c); err != nil {
		t.Fatal(err)
	}
	book, err := excelize.OpenReader(&content)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := book.GetRows("Sheet1", excelize.Options{RawCellValue: true})
	want := [][]string{
		{"", "S"},
		{c.Categories[0], "1.5"},
		{c.Categories[1]},
		{strings.Repeat("😀", longestCell/2), "-2e-07"},
		{"üñ"},
		{c.Categories[4]},
		{"_x0041_"},
	}
	if err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("%.300q, %v", rows, err)
	}
	for cell, want := range map[string]excelize.CellType{"B2": excelize.CellTypeUnset, "A2": excelize.CellTypeInlineString} {
		if kind, err := book.GetCellType("Sheet1", cell); err != nil || kind != want {
			t.Errorf("%s is of type %v, %v", cell, kind, err)
		}
	}
}
