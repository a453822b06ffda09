package csv_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/csv"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

// TestTitles: what is above a table is not its header.
func TestTitles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what, file, titles, first string // titles and cells are joined by |
		headers                   int
	}{
		{"a title", "Umsatzbericht 2024\n\nRegion;Umsatz\nNord;1.234,50\n", "Umsatzbericht 2024", "Region|Umsatz", 1},
		{"a title filled up", "Statement for 123,,\nDate,Text,Amount\n2024-01-01,Rent,-500.00\n", "Statement for 123", "Date|Text|Amount", 1},
		{"comments", "# exported 2024\n# by tool\na,b,c\n1,2,3\n", "# exported 2024|# by tool", "a|b|c", 1},
		{"a title of numbers", "Values\n1;2\n3;4\n", "Values", "1|2", 0},
		{"a title and an empty row", "Sales,,\n,,\nCity,A,B\nOslo,1,2\n", "Sales", "City|A|B", 1},
		{"commas in titles", "Sales, net\nNorth, South\nby city, region\na;b\n1;2\n", "Sales, net|North, South|by city, region", "a|b", 1},
		{"a title over decimal commas", "Messwerte\n1,5;2,5\n3,5;4,5\n5,5;6,5\n", "Messwerte", "1,5|2,5", 0},
		{"Excel's hint and a title", "sep=;\nSales\na;b\n1;2\n", "Sales", "a|b", 1},
		{
			"a footer below decimal commas", "Datum;Text;Betrag\n01.02.24;Miete;-500,00\n02.02.24;Strom;-80,50\n03.02.24;Gehalt;2500,00\n" +
				"04.02.24;Netto;-12,40\nSaldo;1907,10\n", "", "Datum|Text|Betrag", 1,
		},
		{
			"a note beside decimal commas", "Datum;Text;Betrag\n01.02.24;Miete;-500,00\n02.02.24;Strom;-80,50;x\n03.02.24;Gehalt;2500,00\n",
			"", "Datum|Text|Betrag", 1,
		},
		{
			"closing lines below decimal commas", "Datum;Text;Betrag\n" + strings.Repeat("01.02.24;Miete;-500,00\n", 12) +
				"Saldo;1907,10\nZinsen;3,20\n", "", "Datum|Text|Betrag", 1,
		},
		{
			"notes beside decimal commas", "Datum;Text;Betrag\n" + strings.Repeat("01.02.24;Miete;-500,00\n", 12) +
				"01.02.24;Strom;-9,50;x\n01.02.24;Gas;-15,50;y\n", "", "Datum|Text|Betrag", 1,
		},
		{
			"no header above decimal commas", strings.Repeat("01.02.24;Miete;-500,00\n", 12) + "Saldo;1907,10\n",
			"", "01.02.24|Miete|-500,00", 0,
		},
		{"a title with another delimiter", "Report | 2024\na,b\n1,2\n3,4\n", "Report | 2024", "a|b", 1},
		{"a footer", "Sales\na,b\n1,2\n3,4\n5,6\nTotal 9\n", "Sales", "a|b", 1},

		{"a record with empty values", "Ann,,\nBob,Paris,5\n", "", "Ann||", 0},
		{"a record of names", "Ann,,\nBob,Paris,single\n", "", "Ann||", 0},
		{"a number alone", "1\n2,3\n4,5\n", "", "1", 0},
		{"one column", "name\nAda\nBob\n", "", "name", 1},
		{"one column with commas in it", "address\n12 High Street, London\n5 Low Road, Paris\n", "", "address", 1},
		{"no rows below", "Sales\na,b\n", "", "Sales", 1},
		{"four lines above", "a\nb\nc\nd\ne;f\n1;2\n", "", "a", 1},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			doc, err := nativetest.Extract(t, csv.New(), extract.CSV, []byte(tt.file), extract.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			var titles, first []string
			for _, b := range doc.Blocks {
				if b.Table == nil {
					titles = append(titles, b.Text)
					continue
				}
				for _, cell := range b.Table.Rows[0] {
					first = append(first, cell.Text)
				}
				if b.Table.Headers != tt.headers {
					t.Errorf("%d header rows, want %d", b.Table.Headers, tt.headers)
				}
			}
			if strings.Join(titles, "|") != tt.titles || strings.Join(first, "|") != tt.first {
				t.Errorf("got titles %q over %q", titles, first)
			}
		})
	}
}
