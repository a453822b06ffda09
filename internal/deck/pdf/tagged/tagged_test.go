package tagged_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"codeberg.org/go-pdf/fpdf"

	"github.com/seed-7227ef26/async-worker/internal/deck/pdf/tagged"
)

// FuzzWrite: whatever the file is, and wherever it is cut, it is written or refused.
func FuzzWrite(f *testing.F) {
	var file bytes.Buffer
	p := fpdf.New("L", "pt", "A4", "")
	p.AddPage()
	p.Rect(1, 2, 3, 4, "F")
	if err := p.Output(&file); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	for _, change := range [][2]string{
		{"startxref", "startxre"},
		{"/Root", "/Toor"},
		{"xref\n0 ", "xref\n0 9"},
		{"/Type /Catalog", "/Type /Cat"},
		{"/Type /Page\n", "/Type /Leaf\n"},
		{"00000 n", "0000"},
		{"/Info 5", "/Info 900"},
		{"%%EOF", ""},
	} {
		f.Add([]byte(strings.ReplaceAll(file.String(), change[0], change[1])))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := tagged.Document{Root: tagged.Element{Type: "Document"}}
		d.AddPage()
		d.Mark(d.Root.Add(&tagged.Element{Type: "P"}))
		if err := d.Write(io.Discard, data); err != nil && !strings.Contains(err.Error(), "in an unknown way") {
			t.Error(err)
		}
	})
}
