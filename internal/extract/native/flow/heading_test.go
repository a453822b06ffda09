package flow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/flow"
)

// body is a paragraph of running text.
var body = strings.Repeat("The ferry leaves at noon. ", 10)

// block is a block and how it is set.
type block struct {
	extract.Block
	look flow.Look
}

func paragraph(text string, size float64, bold bool) block {
	return block{extract.Block{Kind: extract.Paragraph, Text: text}, flow.Look{Size: size, Bold: bold}}
}

func item(marker, text string, bold bool) block {
	return block{extract.Block{Kind: extract.ListItem, Marker: marker, Text: text}, flow.Look{Size: 11, Bold: bold}}
}

func styled(text string) block {
	return block{Block: extract.Block{Kind: extract.Heading, Level: 1, Text: text}}
}

// TestHeadings: a document without headings by its styles has those that are set as such.
func TestHeadings(t *testing.T) {
	t.Parallel()
	text := paragraph(body, 11, false)
	table := block{Block: extract.Block{Kind: extract.TableKind, Table: &extract.Table{Rows: [][]extract.Cell{{{Text: "a"}}}}}}
	link := paragraph("Timetables", 11, true)
	link.Links = []extract.Link{{End: len(link.Text), Target: "https://example.org"}}
	title := styled("The ferry")
	title.look.Title = true
	tabbed := paragraph("From: Ada", 11, true)
	tabbed.look.Tab("From:")
	tabbed.look.Text()
	numbered := paragraph("IV. Fares", 11, true)
	numbered.look.Tab("IV.")
	numbered.look.Text()
	for _, tt := range []struct {
		what   string
		blocks []block
		want   string // headings with their levels
	}{
		{"bold", []block{paragraph("Scope", 11, true), text}, "1 Scope"},
		{"larger", []block{paragraph("Scope", 14, false), text}, "1 Scope"},
		{"levels", []block{
			paragraph("Ferries", 16, true), paragraph("2.1 Scope", 11, true), text, paragraph("2.1.1 Fares", 11, true), text,
			paragraph("2.2 Times", 11, true), text, paragraph("Buses", 16, true), text,
		}, "1 Ferries, 2 2.1 Scope, 3 2.1.1 Fares, 2 2.2 Times, 1 Buses"},
		{"before a table", []block{text, paragraph("Fares", 11, true), table}, "1 Fares"},
		{"under a title", []block{title, text, paragraph("Fares", 11, true), text}, "1 The ferry, 2 Fares"},
		{"a number that the list gives", []block{item("1.", "SCOPE", true), text, item("2.", "FARES", true), item("2.1.", body, false)}, "1 1. SCOPE, 1 2. FARES"},
		{"a number and a tab", []block{numbered, text}, "1 IV. Fares"},
		{"a document with headings", []block{paragraph("Bold", 11, true), text, styled("Scope"), text}, "1 Scope"},
		{"headings by styles that come late", slices.Concat(slices.Repeat([]block{text}, 1500), []block{styled("Scope"), paragraph("Bold", 11, true), text}), "1 Scope"},
		{"a long document", slices.Concat(slices.Repeat([]block{text}, 1500), []block{paragraph("Scope", 11, true), text}), "1 Scope"},
		{"bold items of a list", []block{text, item("1.", "One", true), item("a.", "a", false), item("2.", "Two", true), item("3.", "Three", true)}, ""},
		{"bullets", []block{text, item("-", "One", true), text}, ""},
		{"an address", []block{paragraph("Ferry Ltd", 11, true), paragraph("1 Quay", 11, true), paragraph("Dover", 11, true), paragraph("Kent", 11, true), text}, ""},
		{"a name below a letter", []block{text, paragraph("Ada Lovelace", 11, true)}, ""},
		{"a name and a short line", []block{text, paragraph("Ada Lovelace", 11, true), paragraph("Director", 11, false), text}, ""},
		{"a sentence", []block{paragraph("The ferry does not leave on any Sunday.", 11, true), text}, ""},
		{"the rest of a sentence", []block{text, paragraph("of the ferry", 11, true), text}, ""},
		{"what leads in a list", []block{text, paragraph("You have to bring with you:", 11, true), item("-", "a pass", false)}, ""},
		{"a line of a form", []block{tabbed, text}, ""},
		{"a line to fill in", []block{paragraph("Name ________", 11, true), text}, ""},
		{"a caption", []block{paragraph("Table 2 Fares", 11, true), table, text}, ""},
		{"a result", []block{paragraph("p = 0.21", 11, true), text}, ""},
		{"an address of the web", []block{paragraph("ada@example.org", 11, true), text}, ""},
		{"a link", []block{link, text}, ""},
		{"a document in bold", []block{paragraph("Scope", 11, true), paragraph(body, 11, true)}, ""},
		{"smaller than the text", []block{paragraph("Scope", 9, true), text}, ""},
		{"an unknown look", []block{paragraph("Scope", 0, true), text}, ""},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			var got []string
			count := 0
			w := flow.New(func(b extract.Block) error {
				count++
				if b.Kind == extract.Heading {
					got = append(got, fmt.Sprintf("%d %s", b.Level, b.Text))
				}
				return nil
			}, 1<<20)
			for _, b := range tt.blocks {
				w.Set(b.look)
				if err := w.Block(b.Block); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if strings.Join(got, ", ") != tt.want || count != len(tt.blocks) {
				t.Errorf("got %q of %d blocks, want %q of %d", got, count, tt.want, len(tt.blocks))
			}
		})
	}
}
