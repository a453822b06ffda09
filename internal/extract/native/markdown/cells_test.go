package markdown_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/markdown"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

// TestEmptyRows: the rows of a wide table are not filled up without end. 60 KB took 17 GB of memory.
func TestEmptyRows(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("|a", 500) + "|\n" + strings.Repeat("|-", 500) + "|\n" + strings.Repeat("|\n", 1000)
	doc, err := nativetest.Extract(t, markdown.New(), extract.Markdown, []byte(content), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range doc.Blocks {
		if b.Table != nil {
			t.Errorf("a table of %d rows", len(b.Table.Rows))
		}
	}
}
