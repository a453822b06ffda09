package pdf

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// TestDrawingThatIsLost: a page whose lines can't be read is named in a warning, and the pages after it keep theirs.
func TestDrawingThatIsLost(t *testing.T) {
	t.Parallel()
	broken := "[" + strings.Repeat("1 ", 300_000) + "] n"
	file := fmt.Sprintf("%%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Kids[3 0 R 4 0 R]>> endobj\n"+
		"3 0 obj <</Type/Page/Contents 5 0 R>> endobj\n4 0 obj <</Type/Page/Contents 6 0 R>> endobj\n"+
		"5 0 obj <</Length %d>>stream\n%s\nendstream endobj\n6 0 obj <</Length 16>>stream\n9 9 m 99 9 l S  \nendstream endobj\n",
		len(broken), broken)
	path := filepath.Join(t.TempDir(), "a.pdf")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	d := &drawings{path: path}
	defer d.close()
	if found, _ := d.at(t.Context(), 1); found != nil {
		t.Errorf("got %+v", found)
	}
	if found, _ := d.at(t.Context(), 2); found == nil || len(found.Lines) != 1 {
		t.Errorf("got %+v", found)
	}
	if w := d.warnings(); len(w) != 1 || !strings.Contains(w[0], "page 1") {
		t.Errorf("got %q", w)
	}
}

// TestPagesBeyondTheCount: poppler reads as many pages as a file claims to have; the others are not lost in silence.
func TestPagesBeyondTheCount(t *testing.T) {
	t.Parallel()
	for claimed, want := range map[int]int{1: 1, 2: 0} {
		file := fmt.Sprintf("%%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n"+
			"2 0 obj <</Type/Pages/Count %d/Kids[3 0 R 4 0 R]/MediaBox[0 0 200 200]/Resources<</Font<</F 7 0 R>>>>>> endobj\n"+
			"3 0 obj <</Type/Page/Parent 2 0 R/Contents 5 0 R>> endobj\n4 0 obj <</Type/Page/Parent 2 0 R/Contents 6 0 R>> endobj\n"+
			"5 0 obj <</Length 35>>stream\nBT /F 12 Tf 9 9 Td (First page) Tj ET\nendstream endobj\n"+
			"6 0 obj <</Length 36>>stream\nBT /F 12 Tf 9 9 Td (Second page) Tj ET\nendstream endobj\n"+
			"7 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj\ntrailer <</Root 1 0 R/Size 8>>\n", claimed)
		path := filepath.Join(t.TempDir(), "a.pdf")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		doc, err := extract.Collect(t.Context(), New(), extract.Source{Path: path}, extract.Limits{})
		if err != nil || doc.Pages != claimed || len(doc.Warnings) != want {
			t.Errorf("%d claimed: %d pages, warnings %q, %v", claimed, doc.Pages, doc.Warnings, err)
		}
	}
}
