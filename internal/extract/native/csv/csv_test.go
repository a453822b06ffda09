package csv_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/charset"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/csv"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestExtract(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what, file, want string
		headers          int
	}{
		{"comma", "a,b\n1,\"x, \"\"y\"\"\"\n", "| a | b |\n| - | - |\n| 1 | x, \"y\" |\n", 1},
		{
			"semicolon, CRLF, a line break in a cell", "a;b\r\n1,5;\"x\ny\"\r\n", "| a | b |\n| - | - |\n| 1,5 | x y |\n",
			1,
		},
		{"tab, byte order mark", "\xef\xbb\xbfa\tb\n1\t2\n", "| a | b |\n| - | - |\n| 1 | 2 |\n", 1},
		{"pipe", "a|b\nx|2\n", "| a | b |\n| - | - |\n| x | 2 |\n", 1},
		{"Latin-1", "name,city\nJ\xfcrgen,K\xf6ln\n", "| name | city |\n| - | - |\n| Jürgen | Köln |\n", 1},
		{"UTF-16", "\xff\xfea\x00,\x00b\x00\n\x001\x00,\x002\x00\n\x00", "| a | b |\n| - | - |\n| 1 | 2 |\n", 1},
		{"numbers are not a header", "1,2\n3,4\n", "| 1 | 2 |\n| - | - |\n| 3 | 4 |\n", 0},
		{"years are a header", "Port;2021;2022\nBergen;5,5;7\n", "| Port | 2021 | 2022 |\n| - | - | - |\n| Bergen | 5,5 | 7 |\n", 1},
		{"a series by years", "2021,2022\n2023,7\n", "| 2021 | 2022 |\n| - | - |\n| 2023 | 7 |\n", 0},
		{"an unnamed index column", ",name\n0,Ada\n", "|  | name |\n| - | - |\n| 0 | Ada |\n", 1},
		{
			"uneven rows, stray quotes", "a,b\n1\n2,3,4\"\n",
			"| a | b |  |\n| - | - | - |\n| 1 |  |  |\n| 2 | 3 | 4\" |\n", 1,
		},
		{"one column", "name\nAda\n", "| name |\n| - |\n| Ada |\n", 1},
		{"Excel's hint", "sep=;\r\na;b,c,d\r\n1;2,3,4\r\n", "| a | b,c,d |\n| - | - |\n| 1 | 2,3,4 |\n", 1},
		{"a quoted hint", "\"SEP=^\"\na^b\n1^2\n", "| a | b |\n| - | - |\n| 1 | 2 |\n", 1},
		{"a hint of a tab", "sep=\\t\na\tb\n1\t2\n", "| a | b |\n| - | - |\n| 1 | 2 |\n", 1},
		{"a column that looks like a hint", "sep=x;b\n1;2\n", "| sep=x | b |\n| - | - |\n| 1 | 2 |\n", 1},
		{"CR", "a;b\r1;\"x\ry\"\r\r2;z", "| a | b |\n| - | - |\n| 1 | x y |\n| 2 | z |\n", 1},
		{"CR and a hint", "sep=,\ra,b\r1,2\r", "| a | b |\n| - | - |\n| 1 | 2 |\n", 1},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			if got := nativetest.Markdown(t, csv.New(), extract.CSV, []byte(tt.file)); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			doc, err := nativetest.Extract(t, csv.New(), extract.CSV, []byte(tt.file), extract.Limits{})
			if err != nil || doc.Blocks[0].Table.Headers != tt.headers {
				t.Errorf("got %+v, %v; want %d header rows", doc, err, tt.headers)
			}
		})
	}
}

// TestEncoding: a table whose encoding is not known has a warning.
func TestEncoding(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"Nazwa;Region\nSp\xf3\xb3ka;\xa3\xf3dzkie\nZak\xb3ad;\xa6l\xb1skie\n\xafegluga p\xb3yn\xb9ca;Pomorze\n": charset.Doubt, // two at once
		"Nazwa;Region\nSp\xf3\xb3ka;\xa3\xf3dzkie\nZak\xb3ad;\x8cl\xb9skie\n\xafegluga;Pomorze\n":               "",
		"Ort;Stra\xdfe\nM\xfcnchen;K\xf6nigstra\xdfe\nK\xf6ln;M\xfchlg\xe4\xdfchen\n":                           "",
	} {
		doc, err := nativetest.Extract(t, csv.New(), extract.CSV, []byte(file), extract.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(doc.Warnings, " "); got != want {
			t.Errorf("%s read as %s: warnings %q, want %q", file, doc.Properties["encoding"], got, want)
		}
	}
}

func TestLongFileComesInSlices(t *testing.T) {
	t.Parallel()
	doc, err := nativetest.Extract(t, csv.New(), extract.CSV, []byte("a,b\n"+strings.Repeat("x,1\n", 5000)),
		extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for i, b := range doc.Blocks {
		rows += len(b.Table.Rows) - b.Table.Headers
		if b.Table.Headers != 1 || b.Table.Continued != (i > 0) || b.Table.Rows[0][0].Text != "a" {
			t.Fatalf("slice %d: %d headers, continued %v", i, b.Table.Headers, b.Table.Continued)
		}
	}
	if rows != 5000 || len(doc.Blocks) < 5 {
		t.Errorf("%d rows in %d slices", rows, len(doc.Blocks))
	}
}

// TestLateLineEnds: only the start of a file has CR as its line end.
func TestLateLineEnds(t *testing.T) {
	t.Parallel()
	for what, end := range map[string]string{"CR LF": "\r\n", "LF": "\n"} {
		file := "a,b\r" + strings.Repeat("x,1\r", 20_000) + strings.Repeat("x,\"1"+end+"2\""+end, 50_000)
		doc, err := nativetest.Extract(t, csv.New(), extract.CSV, []byte(file), extract.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for _, b := range doc.Blocks {
			rows += len(b.Table.Rows) - b.Table.Headers
		}
		if last := doc.Blocks[len(doc.Blocks)-1].Table.Rows; rows != 70_000 || last[len(last)-1][1].Text != "1\n2" {
			t.Errorf("%s: %d rows, the last is %+v", what, rows, last[len(last)-1])
		}
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what, file string
		limits     extract.Limits
		class      taskerr.Class
		message    string
	}{
		{
			"a quote that is never closed", "a,b\n1,\"" + strings.Repeat("x,y\n", 500_000),
			extract.Limits{},
			taskerr.CorruptionDetected, "row 2 is longer",
		},
		{
			"columns without end", strings.Repeat(",", 20_000) + "\n",
			extract.Limits{},
			taskerr.CorruptionDetected,
			"columns",
		},
		{
			"too much text", strings.Repeat("abcde,fghij\n", 30),
			extract.Limits{Characters: 100},
			taskerr.QuotaExceeded,
			"100 characters",
		},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			nativetest.Refuses(t, csv.New(), extract.CSV, []byte(tt.file), tt.limits, tt.class, tt.message)
		})
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte("a,b\n1,\"x\ny\"\n"))
	f.Add([]byte("\xff\xfea\x00;\x00"))
	f.Fuzz(func(t *testing.T, file []byte) { nativetest.Fuzz(t, csv.New(), extract.CSV, file) })
}
