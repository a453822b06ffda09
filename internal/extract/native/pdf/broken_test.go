package pdf_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
)

// squeezed is a file of two pages whose contents are compressed, with some bytes of the second one's changed by spoil.
func squeezed(t *testing.T, spoil func([]byte)) []byte {
	t.Helper()
	var out bytes.Buffer
	var offsets []int
	object := func(body string) {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", len(offsets), body)
	}
	out.WriteString("%PDF-1.4\n")
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Count 2 /Kids [3 0 R 4 0 R] /MediaBox [0 0 400 600] /Resources << /Font << /F 7 0 R >> >> >>")
	object("<< /Type /Page /Parent 2 0 R /Contents 5 0 R >>")
	object("<< /Type /Page /Parent 2 0 R /Contents 6 0 R >>")
	for page := 1; page <= 2; page++ {
		var text strings.Builder
		for line := range 30 {
			fmt.Fprintf(&text, "BT /F 10 Tf 50 %d Td (Line %d of page %d has number %x.) Tj ET\n", 560-15*line, line, page,
				line*7919*page)
		}
		var packed bytes.Buffer
		w := zlib.NewWriter(&packed)
		_, _ = w.Write([]byte(text.String())) // a buffer takes all
		_ = w.Close()                         // as above
		if page == 2 {
			spoil(packed.Bytes())
		}
		object(fmt.Sprintf("<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream", packed.Len(), packed.String()))
	}
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, start)
	return out.Bytes()
}

// TestBrokenContent: a page whose content is damaged may lack text, which is told.
func TestBrokenContent(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct {
		spoil func([]byte)
		page  string
	}{
		"whole":                   {func([]byte) {}, ""},
		"no compressed data":      {func(data []byte) { copy(data[len(data)/3:], bytes.Repeat([]byte{0xFF}, 40)) }, "page 2 "},
		"another text's checksum": {func(data []byte) { data[len(data)-1] ^= 1 }, "page 2 "},
	} {
		doc, err := nativetest.Extract(t, pdf.New(), extract.PDF, squeezed(t, tt.spoil), extract.Limits{})
		if err != nil {
			t.Fatal(what, err)
		}
		warnings := strings.Join(doc.Info.Warnings, "; ")
		told := strings.Contains(warnings, "the content of "+tt.page+"is damaged in the file")
		if told != (tt.page != "") || tt.page == "" && warnings != "" {
			t.Errorf("%s: warnings: %q", what, warnings)
		}
	}
}
