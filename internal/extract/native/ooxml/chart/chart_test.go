package chart_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml/chart"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// read reads a chart and returns its tables, a row in each line.
func read(t *testing.T, content string) (string, error) {
	t.Helper()
	return spending(t, content, func(int) error { return nil })
}

// spending reads a chart whose repeated texts are charged to spend.
func spending(t *testing.T, content string, spend func(int) error) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nativetest.Zip(t, "chart.xml", `<c:chartSpace>`+content+`</c:chartSpace>`), 0o600); err != nil {
		t.Fatal(err)
	}
	pkg, err := ooxml.Open(path, extract.Limits{ZipRatio: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pkg.Close() }() // read-only
	var blocks []extract.Block
	err = pkg.Read(t.Context(), "chart.xml", func(d *ooxml.Decoder) (err error) {
		blocks, err = chart.Read(d, extract.Block{}, spend)
		return err
	})
	var lines []string
	for _, b := range blocks {
		if b.Table != nil {
			for _, row := range b.Table.Grid() {
				lines = append(lines, strings.Join(row, ","))
			}
			lines = append(lines, "")
		}
	}
	return strings.Join(lines, "\n"), err
}

// data is an element with values.
func data(element string, values ...string) string {
	var b strings.Builder
	for i, v := range values {
		fmt.Fprintf(&b, `<c:pt idx="%d"><c:v>%s</c:v></c:pt>`, i, v)
	}
	return `<c:` + element + `><c:numRef><c:numCache>` + b.String() + `</c:numCache></c:numRef></c:` + element + `>`
}

func ser(name string, content ...string) string {
	return `<c:ser><c:tx><c:v>` + name + `</c:v></c:tx>` + strings.Join(content, "") + `</c:ser>`
}

func TestTables(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ what, chart, want string }{
		{
			"categories of the first series", `<c:barChart>` + ser("a", data("cat", "May", "June"), data("val", "1", "2")) +
				ser("b", data("cat", "other", "words"), data("val", "3", "4")) + `</c:barChart>`,
			",a,b\nMay,1,3\nJune,2,4\n",
		},
		{
			"the same x", `<c:scatterChart>` + ser("a", data("xVal", "1", "2"), data("yVal", "5", "6")) +
				ser("b", data("xVal", "1", "2"), data("yVal", "7", "8")) + `</c:scatterChart>`,
			",a,b\n1,5,7\n2,6,8\n",
		},
		{
			"different x", `<c:scatterChart>` + ser("a", data("xVal", "1", "2"), data("yVal", "5", "6")) +
				ser("b", data("xVal", "1.5", "2.5", "3"), data("yVal", "7", "8", "9")) +
				ser("c", data("xVal", "1.5", "2.5", "3"), data("yVal", "0", "1", "2")) + `</c:scatterChart>`,
			",a\n1,5\n2,6\n\n,b,c\n1.5,7,0\n2.5,8,1\n3,9,2\n",
		},
		{
			"no x of its own", `<c:bubbleChart>` + ser("a", data("xVal", "1", "2"), data("yVal", "5", "6")) +
				ser("b", data("yVal", "7", "8")) + `</c:bubbleChart>`,
			",a,b\n1,5,7\n2,6,8\n",
		},
		{
			"digits that are not shown", `<c:barChart>` +
				ser("a", `<c:cat><c:strCache><c:pt idx="0"><c:v>1.10</c:v></c:pt></c:strCache></c:cat>`, data("val", "5.0")) +
				ser("b", data("val", "4.4000000000000004")) + `</c:barChart>`,
			",a,b\n1.10,5,4.4\n",
		},
		{
			"points without an index, one with two values",
			`<c:barChart>` + ser("a", `<c:val><c:pt><c:v>1</c:v><c:v>2</c:v></c:pt><c:pt><c:v>3</c:v></c:pt></c:val>`) + `</c:barChart>`,
			",a\n,2\n,3\n",
		},
		{"no values", `<c:scatterChart>` + ser("a") + `</c:scatterChart>`, ""},
	} {
		if got, err := read(t, tt.chart); err != nil || got != tt.want {
			t.Errorf("%s: got\n%s\n%v; want\n%s", tt.what, got, err, tt.want)
		}
	}
}

// TestEpoch1904: charts of old Mac workbooks count days from 1904.
func TestEpoch1904(t *testing.T) {
	t.Parallel()
	const days = `<c:lineChart><c:ser><c:cat><c:numCache><c:formatCode>yyyy\-mm\-dd</c:formatCode><c:pt idx="0"><c:v>366</c:v></c:pt>` +
		`</c:numCache></c:cat><c:val><c:pt idx="0"><c:v>7</c:v></c:pt></c:val></c:ser></c:lineChart>`
	for epoch, want := range map[string]string{
		"":                         "1900-12-31",
		`<c:date1904 val="0"/>`:    "1900-12-31",
		`<c:date1904 val="1"/>`:    "1905-01-01",
		`<c:date1904 val="true"/>`: "1905-01-01",
		`<c:date1904/>`:            "1905-01-01",
	} {
		if got, err := read(t, epoch+days); err != nil || got != ",\n"+want+",7\n" {
			t.Errorf("%s: got %q, %v; want %s", epoch, got, err, want)
		}
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for what, content := range map[string]string{
		"values":       data("val", strings.Split(strings.Repeat("1 ", 500_001), " ")...),
		"empty series": strings.Repeat("<c:ser/>", 500_001),
		"cells": ser("a", data("val", strings.Split(strings.Repeat("1 ", 1000), " ")...)) +
			strings.Repeat("<c:ser/>", 500),
		"tables": strings.Repeat(ser("a", data("xVal", "1"), data("yVal", "2"))+ser("b", data("xVal", "3"), data("yVal", "4")), 15_000),
	} {
		if what == "values" {
			content = ser("a", content)
		}
		if _, err := read(t, content); !nativetest.IsClass(err, taskerr.QuotaExceeded) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
