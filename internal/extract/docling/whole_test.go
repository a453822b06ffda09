package docling_test

import (
	"os"
	"path/filepath"
	"testing"

	wire "github.com/seed-7227ef26/async-worker/internal/docling"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/docling"
)

// Page headers and footers are emitted at their places if the whole document is asked for, and what is invisible is not.
func TestWhole(t *testing.T) {
	t.Parallel()
	content := document("texts/0 texts/1 groups/0 texts/4 texts/5", `"texts": [
		{"label": "page_header", "content_layer": "furniture", "text": "VAT DE 811 907 980"}, {"label": "text", "text": "Total 12"},
		{"label": "text", "text": "Bank"}, {"label": "text", "content_layer": "furniture", "text": "of Southhaven"},
		{"label": "page_footer", "text": "IBAN"}, {"label": "page_footer", "content_layer": "invisible", "text": "hidden"}]`,
		`"groups": [{"label": "inline", "children": [{"$ref": "#/texts/2"}, {"$ref": "#/texts/3"}]}]`)
	path := filepath.Join(t.TempDir(), "in.pdf")
	if err := os.WriteFile(path, []byte("%PDF-1.7"), 0o600); err != nil {
		t.Fatal(err)
	}
	for whole, want := range map[bool]string{
		false: "paragraph0 Total 12\nparagraph0 Bank\n",
		true:  "paragraph0 VAT DE 811 907 980\nparagraph0 Total 12\nparagraph0 Bank of Southhaven\nparagraph0 IBAN\n",
	} {
		x := docling.New(&converter{result: &wire.Result{Status: wire.Success, Document: read(t, content)}}, nil)
		var all []extract.Block
		_, err := x.Extract(t.Context(), extract.Source{Path: path, Format: extract.PDF, Whole: whole}, extract.DefaultLimits,
			func(b extract.Block) error {
				all = append(all, b)
				return nil
			})
		if got := shape(all); err != nil || got != want {
			t.Errorf("whole: %t: %v\n%s", whole, err, got)
		}
	}
}
