package docling_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	wire "github.com/seed-7227ef26/async-worker/internal/docling"
	"github.com/seed-7227ef26/async-worker/internal/docling/doclingtest"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/docling"
)

// converter is a docling-serve that returns a fixed result.
type converter struct {
	result *wire.Result
	sent   wire.Request
}

func (c *converter) Convert(_ context.Context, q wire.Request, _ wire.Memory, _ wire.Shelf) (*wire.Result, error) {
	c.sent = q
	return c.result, nil
}

func read(t *testing.T, document string) *wire.Document {
	t.Helper()
	doc, err := wire.ReadDocument(strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func blocks(t *testing.T, document string) []extract.Block {
	t.Helper()
	var all []extract.Block
	if err := docling.Blocks(read(t, document), func(b extract.Block) error {
		all = append(all, b)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func near(a, b *extract.Box) bool {
	const e = 1e-9
	d := func(x, y float64) bool { return x-y < e && y-x < e }
	return (a == nil) == (b == nil) && (a == nil || d(a.Left, b.Left) && d(a.Top, b.Top) && d(a.Right, b.Right) &&
		d(a.Bottom, b.Bottom))
}

// The reading order is that of the references, boxes of both origins are measured from the top left, and page
// footers are omitted.
func TestSample(t *testing.T) {
	t.Parallel()
	want := []extract.Block{
		{
			Kind: extract.Heading, Level: 1, Text: "Harbour rules", Page: 1,
			Box: &extract.Box{Left: 1. / 6, Top: 0.125, Right: 0.5, Bottom: 0.1875},
		},
		{
			Kind: extract.Paragraph, Text: "Ships report to the harbour master before they enter.", Page: 1,
			Box: &extract.Box{Left: 1. / 6, Top: 0.2, Right: 5. / 6, Bottom: 0.25},
		},
		{Kind: extract.ListItem, Text: "Name of the ship", Marker: "1."},
		{Kind: extract.ListItem, Text: "Draught in metres", Marker: "2."},
		{
			Kind: extract.TableKind, Page: 1, Box: &extract.Box{Left: 1. / 6, Top: 0.375, Right: 5. / 6, Bottom: 0.5},
			Table: &extract.Table{
				Headers: 1, Rows: [][]extract.Cell{
					{{Text: "Length"}, {Text: "Fee"}}, {{Text: "under 10 m"}, {Text: "12"}},
				},
			},
		},
		{Kind: extract.Paragraph, Text: "The tariff holds from January."},
	}
	got := blocks(t, string(doclingtest.Sample))
	if len(got) != len(want) {
		t.Fatalf("%d blocks: %+v", len(got), got)
	}
	for i := range got {
		if !near(got[i].Box, want[i].Box) {
			t.Errorf("block %d: box %+v, want %+v", i, got[i].Box, want[i].Box)
		}
		got[i].Box, want[i].Box = nil, nil
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("block %d: %+v, want %+v", i, got[i], want[i])
		}
	}
}

// document is a DoclingDocument of items; its body refers to refs.
func document(refs string, arrays ...string) string {
	var children []string
	for ref := range strings.FieldsSeq(refs) {
		children = append(children, fmt.Sprintf(`{"$ref": "#/%s"}`, ref))
	}
	return fmt.Sprintf(`{"schema_name": "DoclingDocument", "body": {"children": [%s]}, "pages": {"1": {"size": {"width": 100, "height": 100}}}, %s}`,
		strings.Join(children, ","), strings.Join(arrays, ","))
}

// shape returns one line per block.
func shape(blocks []extract.Block) string {
	var b strings.Builder
	for _, x := range blocks {
		text := x.Text
		if x.Table != nil {
			var rows []string
			for _, row := range x.Table.Rows {
				var cells []string
				for _, c := range row {
					cell := c.Text
					if c.ColSpan > 0 || c.RowSpan > 0 {
						cell += fmt.Sprintf("[%dx%d]", max(c.RowSpan, 1), max(c.ColSpan, 1))
					}
					cells = append(cells, cell)
				}
				rows = append(rows, strings.Join(cells, "|"))
			}
			text = fmt.Sprintf("%d: %s", x.Table.Headers, strings.Join(rows, " / "))
		}
		fmt.Fprintf(&b, "%s%d %s%s\n", x.Kind, x.Level, strings.TrimSpace(x.Marker+" "),
			map[bool]string{true: " " + text, false: text}[x.Marker != ""])
	}
	return b.String()
}

func TestItems(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ document, want string }{
		"nested lists": {
			document("groups/0", `"groups": [{"label": "list", "children": [{"$ref": "#/texts/0"}, {"$ref": "#/texts/1"}]}, {"label": "ordered_list", "children": [{"$ref": "#/texts/2"}]}]`,
				`"texts": [{"label": "list_item", "text": "a", "marker": "-"}, {"label": "list_item", "text": "b", "marker": "(b)", "children": [{"$ref": "#/groups/1"}]}, {"label": "list_item", "text": "c", "enumerated": true}]`),
			"list_item0 - a\nlist_item0 (b) b\nlist_item1 1. c\n",
		},
		"text in parts": {
			document("groups/0 texts/3",
				`"groups": [{"label": "inline", "children": [{"$ref": "#/texts/0"}, {"$ref": "#/texts/1"}]}, {"label": "inline", "children": [{"$ref": "#/texts/2"}]}]`,
				`"texts": [{"label": "text", "text": "some"}, {"label": "code", "text": "code()"}, {"label": "text", "text": "Chapter"}, {"label": "section_header", "level": 2, "text": "", "children": [{"$ref": "#/groups/1"}]}]`),
			"paragraph0 some code()\nheading3 Chapter\n",
		},
		"labels": {
			document("texts/0 texts/1 texts/2 texts/3 texts/4 texts/5 texts/6",
				`"texts": [{"label": "checkbox_selected", "text": "yes"}, {"label": "checkbox_unselected", "text": "no"},
				{"label": "code", "text": "x", "code_language": "Go"}, {"label": "formula", "text": "a^2"}, {"label": "footnote", "text": "1 see"}, {"label": "page_header", "text": "top"}, {"label": "text", "text": "hidden", "content_layer": "invisible"}]`),
			"list_item0 - [x] yes\nlist_item0 - [ ] no\ncode0 x\nparagraph0 a^2\nparagraph0 1 see\n",
		},
		"formulas as they are in the file, without enrichment": {
			document("texts/0 texts/1 texts/2", `"texts": [{"label": "formula", "text": "", "orig": "a 2 + 8 = 12"},
				{"label": "formula", "text": "a^2", "orig": "a 2"}, {"label": "text", "text": "", "orig": "x"}]`),
			"paragraph0 a 2 + 8 = 12\nparagraph0 a^2\nparagraph0 \n",
		},
		"picture": {
			document("pictures/0 texts/0",
				`"texts": [{"label": "caption", "text": "Figure 1"}, {"label": "text", "text": "in the picture"}]`,
				`"pictures": [{"label": "picture", "captions": [{"$ref": "#/texts/0"}], "children": [{"$ref": "#/texts/1"}], "meta": {"classification": {"predictions": [{"class_name": "bar_chart", "confidence": 0.9}]},
				"tabular_chart": {"title": "Ducks", "chart_data": {"num_rows": 1, "num_cols": 1, "table_cells": [{"text": "7", "start_row_offset_idx": 0, "end_row_offset_idx": 1, "start_col_offset_idx": 0, "end_col_offset_idx": 1}]}}}}]`),
			"caption0 Figure 1\npicture0 bar chart\ncaption0 Ducks\ntable0 0: 7\n",
		},
		"old annotations": {
			document("pictures/0", `"pictures": [{"label": "picture", "annotations": [{"kind": "description", "text": "a duck"}, {"kind": "classification", "predicted_classes": [{"class_name": "photo"}]}]}]`),
			"picture0 a duck\n",
		},
		"spans": {
			document("tables/0", `"tables": [{"label": "table", "data": {"num_rows": 3, "num_cols": 3, "table_cells": [
				{"text": "d", "start_row_offset_idx": 2, "end_row_offset_idx": 3, "start_col_offset_idx": 2, "end_col_offset_idx": 3},
				{"text": "wide", "column_header": true, "start_row_offset_idx": 0, "end_row_offset_idx": 1, "start_col_offset_idx": 0, "end_col_offset_idx": 3},
				{"text": "tall", "start_row_offset_idx": 1, "end_row_offset_idx": 3, "start_col_offset_idx": 0, "end_col_offset_idx": 1},
				{"text": "c", "start_row_offset_idx": 1, "end_row_offset_idx": 2, "start_col_offset_idx": 2, "end_col_offset_idx": 3}]}}]`),
			"table0 1: wide[1x3] / tall[2x1]||c / |d\n",
		},
		"rows without cells of their own": {
			document("tables/0", `"tables": [{"label": "table", "data": {"num_rows": 4, "num_cols": 2, "table_cells": [
				{"text": "a", "start_row_offset_idx": 0, "end_row_offset_idx": 3, "start_col_offset_idx": 0, "end_col_offset_idx": 2},
				{"text": "b", "start_row_offset_idx": 3, "end_row_offset_idx": 4, "start_col_offset_idx": 1, "end_col_offset_idx": 2}]}}]`),
			"table0 0: a[3x2] /  /  / |b\n",
		},
		"overlapping cells": {
			document("tables/0", `"tables": [{"label": "table", "data": {"num_rows": 1, "num_cols": 2, "table_cells": [
				{"text": "a", "start_row_offset_idx": 0, "end_row_offset_idx": 1, "start_col_offset_idx": 0, "end_col_offset_idx": 2},
				{"text": "b", "start_row_offset_idx": 0, "end_row_offset_idx": 1, "start_col_offset_idx": 1, "end_col_offset_idx": 2}]}}]`),
			"table0 0: a[1x2]|b\n",
		},
		"rich cells": {
			document("tables/0", `"groups": [{"label": "unspecified", "children": [{"$ref": "#/texts/0"}, {"$ref": "#/texts/1"}]}]`, `"texts": [{"label": "text", "text": "one"}, {"label": "list_item", "marker": "-", "text": "two"}]`,
				`"tables": [{"label": "table", "children": [{"$ref": "#/groups/0"}], "data": {"num_rows": 1, "num_cols": 1, "table_cells": [{"text": "one two", "ref": {"$ref": "#/groups/0"}, "start_row_offset_idx": 0, "end_row_offset_idx": 1, "start_col_offset_idx": 0, "end_col_offset_idx": 1}]}}]`),
			"table0 0: one\n- two\n",
		},
		"keys and values": {
			document("key_value_items/0",
				`"key_value_items": [{"label": "key_value_region", "graph": {"cells": [{"cell_id": 1, "label": "key", "text": "Port:"}, {"cell_id": 2, "label": "value", "text": "Hull"}, {"cell_id": 3, "label": "value", "text": "alone"}],
				"links": [{"label": "to_value", "source_cell_id": 1, "target_cell_id": 2}, {"label": "to_key", "source_cell_id": 2, "target_cell_id": 9}]}}]`),
			"paragraph0 Port: Hull\nparagraph0 alone\n",
		},
		"fields of a form": {
			document("field_regions/0", `"field_regions": [{"label": "field_region", "children": [{"$ref": "#/field_items/0"}]}]`, `"field_items": [{"label": "field_item", "children": [{"$ref": "#/texts/0"}, {"$ref": "#/texts/1"}]}]`,
				`"texts": [{"label": "field_key", "text": "Name:"}, {"label": "field_value", "text": "Ada"}]`),
			"paragraph0 \nparagraph0 Name: Ada\n",
		},
		"sheets": {
			document("groups/0", `"groups": [{"label": "sheet", "name": "Costs", "children": [{"$ref": "#/texts/0"}]}]`,
				`"texts": [{"label": "text", "text": "x"}]`),
			"heading2 Costs\nparagraph0 x\n",
		},
		"references to nothing, and in circles": {
			document("texts/0 texts/0 texts/7 texts/-1 texts/x nothing/0 body groups/0",
				`"texts": [{"label": "text", "text": "once", "children": [{"$ref": "#/texts/0"}, {"$ref": "#/groups/0"}, {"$ref": "elsewhere"}]}]`,
				`"groups": [{"label": "section", "children": [{"$ref": "#/texts/0"}, {"$ref": "#/groups/0"}]}]`),
			"paragraph0 once\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := shape(blocks(t, test.document)); got != test.want {
				t.Errorf("got\n%swant\n%s", got, test.want)
			}
		})
	}
}

// The parts of one item on one page have one box; a page without a size has none.
func TestPlaces(t *testing.T) {
	t.Parallel()
	got := blocks(t, document("texts/0 texts/1 texts/2", `"texts": [
		{"label": "text", "text": "a", "prov": [{"page_no": 1, "bbox": {"l": 10, "t": 20, "r": 30, "b": 10, "coord_origin": "BOTTOMLEFT"}}, {"page_no": 1, "bbox": {"l": 50, "t": 10, "r": 120, "b": 30, "coord_origin": "TOPLEFT"}}, {"page_no": 2, "bbox": {"l": 0, "t": 0, "r": 1, "b": 1}}]},
		{"label": "text", "text": "b", "prov": [{"page_no": 2, "bbox": {"l": 0, "t": 0, "r": 1, "b": 1}}]},
		{"label": "text", "text": "c", "prov": [{"page_no": 1, "bbox": {"l": 5, "t": 5, "r": 5, "b": 5}}]}]`))
	want := []struct {
		page int
		box  *extract.Box
	}{{1, &extract.Box{Left: 0.1, Top: 0.1, Right: 1, Bottom: 0.9}}, {2, nil}, {1, nil}}
	for i, w := range want {
		if got[i].Page != w.page || !near(got[i].Box, w.box) {
			t.Errorf("block %d: page %d, %+v; want page %d, %+v", i, got[i].Page, got[i].Box, w.page, w.box)
		}
	}
}

// A link leads from all of its item's text, wherever that ends up.
func TestLinks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ document, want string }{
		"items": {
			document("texts/0 texts/1 texts/2 texts/3 texts/4", `"texts": [{"label": "text", "text": "Rules", "hyperlink": "https://a.example/r"},
				{"label": "section_header", "text": "Head", "hyperlink": "mailto:a@b.example"}, {"label": "checkbox_selected", "text": "yes",
				"hyperlink": "http://a.example"}, {"label": "text", "text": "script", "hyperlink": "javascript:x()"},
				{"label": "text", "text": "file", "hyperlink": "docs/a.pdf"}]`),
			"[Rules](https://a.example/r)\n\n## [Head](mailto:a@b.example)\n\n- \\[x\\] [yes](http://a.example)\n\nscript\n\nfile\n",
		},
		"parts of a line": {
			document("groups/0 texts/2", `"groups": [{"label": "inline", "children": [{"$ref": "#/texts/0"}, {"$ref": "#/texts/1"}]},
				{"label": "inline", "children": [{"$ref": "#/texts/3"}, {"$ref": "#/texts/4"}]}]`,
				`"texts": [{"label": "text", "text": "Größe: see"}, {"label": "text", "text": "rules", "hyperlink": "https://a.example"},
				{"label": "list_item", "marker": "-", "text": "", "children": [{"$ref": "#/groups/1"}]}, {"label": "text", "text": "and"},
				{"label": "text", "text": "fees", "hyperlink": "https://b.example"}]`),
			"Größe: see [rules](https://a.example)\n\n- and [fees](https://b.example)\n",
		},
		"cells": {
			document("tables/0", `"texts": [{"label": "text", "text": "rules", "hyperlink": "https://a.example"}]`,
				`"tables": [{"label": "table", "data": {"num_rows": 1, "num_cols": 1, "table_cells": [{"text": "rules", "ref":
				{"$ref": "#/texts/0"}, "column_header": true, "start_row_offset_idx": 0, "end_row_offset_idx": 1, "start_col_offset_idx": 0,
				"end_col_offset_idx": 1}]}}]`),
			"| [rules](https://a.example) |\n| - |\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var text strings.Builder
			w := extract.NewMarkdownWriter(&text)
			if err := docling.Blocks(read(t, test.document), w.Write); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if text.String() != test.want {
				t.Errorf("got\n%s\nwant\n%s", text.String(), test.want)
			}
		})
	}
}
