package nativetest

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Costly is a small, well-formed file that takes much memory or time to draw, decode or read. Some are refused,
// of others a part is read. None may cost the worker or other tasks more than its share.
type Costly struct {
	Name  string // a description with the file extension
	Write func(w io.Writer) error
}

// CostlyPages returns PDF files.
func CostlyPages() []Costly {
	return []Costly{
		{
			"forms that draw the next one ten times, in ten levels.pdf",
			formsInForms(10, 10, "BT /F 8 Tf 72 72 Td (deep) Tj ET"),
		},
		{"forms of lines, ten times in ten levels.pdf", formsInForms(10, 10, "0 0 m 100 100 l S")},
		{"tiling patterns in patterns.pdf", patternsInPatterns(8)},
		{"100,000 rotated glyphs.pdf", onePage(rotatedGlyphs(100_000), "612 792")},
		{"a million strings.pdf", onePage(strings.Repeat("(ab) Tj 1 0 Td ", 1_000_000), "612 792")},
		{"three million words.pdf", onePage(strings.Repeat("(a b c d e f g h) Tj 0 -9 Td ", 400_000), "612 792")},
		{"45,000 words in the rows of a table.pdf", onePage(rowsOfWords(1500, 30), "612 792")},
		{"a page of a million points.pdf", onePage("(wide) Tj", "1000000 1000000")},
		{"a page a million points wide.pdf", onePage("(wide) Tj", "1000000 10")},
		{"transparent groups in groups.pdf", formsInForms(40, 1, "0 0 m 600 700 l S",
			"/Group << /S /Transparency /I true /K true >>")},
	}
}

// Stalling writes a PDF of three pages whose middle page takes its readers hours.
func Stalling(t testing.TB, before, after string) string {
	t.Helper()
	objects := []string{
		catalog, "<< /Type /Pages /Kids [3 0 R 4 0 R 5 0 R] /Count 3 >>",
		pageObject("6 0 R"), pageObject("7 0 R"), pageObject("8 0 R"),
		PackedStream("", "BT /F 10 Tf 72 700 Td ("+before+") Tj ET"), PackedStream("", "/X Do"),
		PackedStream("", "BT /F 10 Tf 72 700 Td ("+after+") Tj ET"),
		font,
	}
	path := filepath.Join(t.TempDir(), "stalling.pdf")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(PDF(file, slices.Concat(objects, forms(10, 10, 10, 9, "0 0 m 100 100 l S"))),
		file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func pageObject(content string) string {
	return "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents " + content +
		" /Resources << /Font << /F 9 0 R >> /XObject << /X 10 0 R >> >> >>"
}

// PDF writes a file of objects, numbered from 1. The first is the catalog.
func PDF(w io.Writer, objects []string) error {
	var out bytes.Buffer
	out.WriteString("%PDF-1.7\n")
	at := make([]int, len(objects))
	for i, o := range objects {
		at[i] = out.Len()
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&out, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, xref)
	_, err := w.Write(out.Bytes())
	return err
}

// PackedStream returns a deflated stream with these entries in its dictionary.
func PackedStream(dictionary, content string) string {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	if _, err := io.WriteString(z, content); err != nil {
		panic(err) // writes to memory don't fail
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return fmt.Sprintf("<< %s /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream", dictionary, out.Len(),
		out.String())
}

const (
	catalog  = "<< /Type /Catalog /Pages 2 0 R >>"
	onlyPage = "<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
	font     = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
)

// onePage returns a writer of one page of text with a media box of the size.
func onePage(content, size string) func(io.Writer) error {
	return func(w io.Writer) error {
		return PDF(w, []string{
			catalog, onlyPage,
			"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 " + size +
				"] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
			PackedStream("", "BT /F 8 Tf 72 720 Td "+content+" ET"), font,
		})
	}
}

// formsInForms is a page that draws a form, which draws the next one n times, and so on; the last draws the
// content.
func formsInForms(levels, times int, content string, more ...string) func(io.Writer) error {
	return func(w io.Writer) error {
		const first = 6 // the object of the first form
		objects := []string{
			catalog, onlyPage,
			"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /XObject << /X 6 0 " +
				"R >> >> >>",
			PackedStream("", "/X Do"), font,
		}
		return PDF(w, append(objects, forms(first, levels, times, 5, content, more...)...))
	}
}

// forms are objects numbered from first. Their font is another object.
func forms(first, levels, times, font int, content string, more ...string) (objects []string) {
	for level := range levels {
		draws := strings.Repeat("/X Do ", times)
		if level == levels-1 {
			draws = content
		}
		objects = append(objects, PackedStream(fmt.Sprintf(
			"/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F %d 0 R >> /XObject << /X "+
				"%d 0 R >> >> %s",
			font, min(first+level+1, first+levels-1), strings.Join(more, " ")), draws))
	}
	return objects
}

// patternsInPatterns is a page filled with tiles that are filled with tiles.
func patternsInPatterns(levels int) func(io.Writer) error {
	return func(w io.Writer) error {
		const first = 5
		objects := []string{
			catalog, onlyPage,
			"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Pattern << /P 5 0 " +
				"R >> >> >>",
			PackedStream("", "/Pattern cs /P scn 0 0 612 792 re f"),
		}
		for level := range levels {
			fill := "/Pattern cs /P scn 0 0 600 700 re f"
			if level == levels-1 {
				fill = "0 0 1 1 re f"
			}
			objects = append(objects, PackedStream(fmt.Sprintf(
				"/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 600 700] /XStep 3 /YStep 3 "+
					"/Resources << /Pattern << /P %d 0 R >> >>",
				min(first+level+1, first+levels-1)), fill))
		}
		return PDF(w, objects)
	}
}

// rowsOfWords returns words in lines of n columns.
func rowsOfWords(lines, columns int) string {
	var b strings.Builder
	b.WriteString("/F 0.4 Tf ")
	for i := range lines * columns {
		fmt.Fprintf(&b, "1 0 0 1 %d %.2f Tm (w%d) Tj\n", 10+20*(i%columns), 780-0.5*float64(i/columns), i%10)
	}
	return b.String()
}

// rotatedGlyphs returns letters with a different rotation each.
func rotatedGlyphs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "0.%03d 0.%03d -0.%03d 0.%03d %d %d Tm (x) Tj\n", i%997, (i*7)%991, (i*7)%991, i%997, i%600,
			(i/600)%780)
	}
	return b.String()
}
