package flow_test

import (
	"reflect"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/flow"
)

func TestItems(t *testing.T) {
	t.Parallel()
	text := func(s string) extract.Block { return extract.Block{Kind: extract.Paragraph, Text: s} }
	item := func(s string) extract.Block { return extract.Block{Kind: extract.ListItem, Text: s, Marker: "-"} }
	for _, tt := range []struct {
		what string
		in   extract.Block
		want []extract.Block
	}{
		{"none", text("Berths\nof the port"), []extract.Block{text("Berths\nof the port")}},
		{"one", text("  •\u00a0 north"), []extract.Block{item("north")}},
		{"a symbol font's", text("\uf0b7\tnorth"), []extract.Block{item("north")}},
		{
			"lines", text("Berths:\n• north\nwith crane\n▪ south"),
			[]extract.Block{text("Berths:\n"), item("north\nwith crane\n"), item("south")},
		},
		{"without a space", text("•north"), []extract.Block{text("•north")}},
		{"without a text", text("• "), []extract.Block{text("• ")}},
		{"a check box, an arrow and a dash", text("☐ sail\n→ ferry\n– tide"), []extract.Block{text("☐ sail\n→ ferry\n– tide")}},
		{
			"another kind",
			extract.Block{Kind: extract.Heading, Text: "• north", Level: 2},
			[]extract.Block{{Kind: extract.Heading, Text: "• north", Level: 2}},
		},
		{
			"links",
			extract.Block{Kind: extract.Paragraph, Text: "a b\n• c d", Links: []extract.Link{
				{Start: 2, End: 3, Target: "u"}, {Start: 10, End: 11, Target: "v"},
			}},
			[]extract.Block{
				{Kind: extract.Paragraph, Text: "a b\n", Links: []extract.Link{{Start: 2, End: 3, Target: "u"}}},
				{Kind: extract.ListItem, Text: "c d", Marker: "-", Links: []extract.Link{{Start: 2, End: 3, Target: "v"}}},
			},
		},
	} {
		var got []extract.Block
		err := flow.Items(func(b extract.Block) error {
			got = append(got, b)
			return nil
		})(tt.in)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, %v, want %+v", tt.what, got, err, tt.want)
		}
	}
}
