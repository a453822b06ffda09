package pdf

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	if found := d.at(t.Context(), 1); found != nil {
		t.Errorf("got %+v", found)
	}
	if found := d.at(t.Context(), 2); found == nil || len(found.Lines) != 1 {
		t.Errorf("got %+v", found)
	}
	if w := d.warnings(); len(w) != 1 || !strings.Contains(w[0], "page 1") {
		t.Errorf("got %q", w)
	}
}
