package scrape_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/deck/scrape"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

// drawing is a page that draws a picture of its own some times.
type drawing struct{ width, height, times int }

// document writes a PDF file with a page for each drawing.
func document(t *testing.T, pages ...drawing) string {
	t.Helper()
	var kids strings.Builder
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", ""}
	for i, p := range pages {
		page := len(objects) + 1
		fmt.Fprintf(&kids, "%d 0 R ", page)
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources << /XObject << /X %d 0 R >> >> >>",
				page+1, page+2),
			nativetest.PackedStream("", strings.Repeat("q 144 0 0 144 72 72 cm /X Do Q\n", p.times)),
			nativetest.PackedStream(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray /BitsPerComponent 1",
				p.width, p.height), strings.Repeat(string(rune(i+1)), (p.width+7)/8*p.height)))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), len(pages))
	var out bytes.Buffer
	if err := nativetest.PDF(&out, objects); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.pdf")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPDF: each picture is taken once. A page that draws more than a disk should hold is left, with a warning.
func TestPDF(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("pdfimages"); err != nil {
		t.Skip("pdfimages is not installed; apt install poppler-utils")
	}
	for name, c := range map[string]struct {
		pages  []drawing
		taken  []int // from which pages
		missed bool
	}{
		"pictures":           {[]drawing{{200, 200, 1}, {200, 200, 3}}, []int{1, 2}, false},
		"very many":          {[]drawing{{200, 200, 1}, {200, 200, 500}, {200, 200, 1}}, []int{1, 3}, true},
		"very large":         {[]drawing{{5000, 5000, 5}, {5000, 5000, 1}}, []int{2}, true},
		"a list without end": {[]drawing{{200, 200, 1}, {200, 200, 19_900}, {200, 200, 150}}, []int{1}, true},
		"small ones":         {[]drawing{{100, 100, 500}, {200, 200, 1}}, []int{2}, false},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			found, missed, err := scrape.PDF(t.Context(), document(t, c.pages...), len(c.pages), scrape.Options{
				Folder: t.TempDir(), TempDir: t.TempDir(), Time: time.Minute,
			})
			if err != nil || (missed != "") != c.missed {
				t.Errorf("%q, %v", missed, err)
			}
			var taken []int
			for _, p := range found {
				taken = append(taken, p.Page)
			}
			if fmt.Sprint(taken) != fmt.Sprint(c.taken) {
				t.Errorf("pictures of the pages %v, want %v", taken, c.taken)
			}
		})
	}
}
