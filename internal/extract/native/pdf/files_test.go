package pdf_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
)

// attach embeds a file in a PDF with poppler's pdfattach.
func attach(t *testing.T, content []byte, name string, file []byte) []byte {
	t.Helper()
	dir := t.TempDir()
	in, out, attached := filepath.Join(dir, "in.pdf"), filepath.Join(dir, "out.pdf"), filepath.Join(dir, name)
	for path, content := range map[string][]byte{in: content, attached: file} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if said, err := exec.CommandContext(t.Context(), "pdfattach", in, attached, out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	whole, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

func withFiles() extract.Extractor { return native.Extractors(pdf.New(), nil)[extract.PDF] }

func TestEmbeddedFiles(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	m.text(72, 100, regular, 11, "The text of the page goes on until the end of this line.")
	inner := attach(t, m.bytes(), "deep.csv", []byte("a,b\n1,2\n"))
	content := attach(t, attach(t, attach(t, m.bytes(), "note: ü.txt", []byte("A note.")), "inner.pdf", inner), "x.bin",
		[]byte{0, 1, 2})
	doc, err := nativetest.Extract(t, withFiles(), extract.PDF, content, extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := extract.WriteMarkdown(&out, doc); err != nil {
		t.Fatal(err)
	}
	const text = "The text of the page goes on until the end of this line.\n\n"
	want := text + "# inner.pdf\n\n" + text + "## deep.csv\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n# note: ü.txt\n\nA note.\n\n" +
		"Attachment: x.bin\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0], "1 attachments or parts could not be read: x.bin (") ||
		doc.Properties["attachments"] != "3" {
		t.Errorf("%+v", doc.Info)
	}
}

// What unpacks to more than a document may have is named, and costs no more than that.
func TestEmbeddedBomb(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(make([]byte, 64<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	const page = "BT /F1 12 Tf 72 700 Td (The text of the page.) Tj ET"
	content := fmt.Sprintf("%%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles<</Names[(bomb.txt) "+
		"5 0 R]>>>>>> endobj\n2 0 obj <</Type/Pages/Count 1/Kids[3 0 R]>> endobj\n3 0 obj <</Type/Page/Parent 2 0 R"+
		"/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 7 0 R>>>>>> endobj\n4 0 obj <</Length %d>> stream\n"+
		"%s\nendstream endobj\n5 0 obj <</Type/Filespec/F(bomb.txt)/EF<</F 6 0 R>>>> endobj\n6 0 obj <</Type"+
		"/EmbeddedFile/Filter/FlateDecode/Length %d>> stream\n%s\nendstream endobj\n7 0 obj <</Type/Font/Subtype/Type1"+
		"/BaseFont/Helvetica>> endobj\ntrailer <</Root 1 0 R/Size 8>>\n", len(page), page, packed.Len(), packed.Bytes())
	doc, err := nativetest.Extract(t, withFiles(), extract.PDF, []byte(content), extract.Limits{Bytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Blocks) != 2 || doc.Blocks[1].Text != "Attachment: bomb.txt" || len(doc.Warnings) != 1 ||
		!strings.Contains(doc.Warnings[0], "bomb.txt (the files within it are larger than") {
		t.Errorf("%+v", doc)
	}
}

func TestComments(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	m.text(72, 100, regular, 11, "The first page has this marked text.")
	m.page()
	m.text(72, 100, regular, 11, "The second page.")
	content := m.bytes()
	for page, notes := range [][]string{{"Too long!", "marked text"}, {"See page 1."}} {
		var all strings.Builder
		for _, n := range notes {
			fmt.Fprintf(&all, "<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] /T (Ada) /Contents (%s) >>", n)
		}
		at := fmt.Appendf(nil, "/Contents %d 0 R", 11+2*page)
		content = bytes.Replace(content, at, append(at, " /Annots ["+all.String()+"]"...), 1)
	}
	got := nativetest.Markdown(t, withFiles(), extract.PDF, content)
	want := "The first page has this marked text.\n\nComment (Ada): Too long!\n\nThe second page.\n\n" +
		"Comment (Ada): See page 1.\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestCommentsBeyondTheCount: of a document that counts fewer pages than it has, the comments of the others are missing.
func TestCommentsBeyondTheCount(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	m.text(72, 100, regular, 11, "The first page.")
	m.page()
	m.text(72, 100, regular, 11, "The second page.")
	content := bytes.Replace(m.bytes(), []byte("/Count 2"), []byte("/Count 1"), 1)
	at := []byte("/Contents 13 0 R")
	content = bytes.Replace(content, at, append(at, " /Annots [<< /Subtype /Text /Contents (lost) >>]"...), 1)
	doc, err := nativetest.Extract(t, withFiles(), extract.PDF, content, extract.Limits{})
	if err != nil || len(doc.Warnings) != 2 || !strings.Contains(doc.Warnings[1], "comments on pages may be missing") {
		t.Errorf("%v, %q", err, doc.Warnings)
	}
}

// TestNamesWithLineBreaks: a name that looks like the entry of another file in pdfdetach's list adds none.
func TestNamesWithLineBreaks(t *testing.T) {
	t.Parallel()
	content := "%PDF-1.7\n1 0 obj <</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles<</Names[(a) 4 0 R]>>>>>> endobj\n" +
		"2 0 obj <</Type/Pages/Count 1/Kids[3 0 R]>> endobj\n3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>> endobj\n" +
		"4 0 obj <</Type/Filespec/F(a.txt\\n2: b.txt)/EF<</F 5 0 R>>>> endobj\n" +
		"5 0 obj <</Type/EmbeddedFile/Length 5>>\nstream\nText.\nendstream endobj\ntrailer <</Root 1 0 R>>\n"
	doc, err := nativetest.Extract(t, withFiles(), extract.PDF, []byte(content), extract.Limits{})
	if err != nil || doc.Properties["attachments"] != "1" || len(doc.Warnings) > 0 {
		t.Errorf("%+v, %v", doc, err)
	}
}
