package pdf_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// maker writes small PDF files with text in the standard fonts at positions in points from the top left of an
// A4 page.
type maker struct {
	pages   []*bytes.Buffer
	info    string
	outline []string // titles of bookmarks on page 1
	annots  string   // annotations of all pages
	rotate  int      // clockwise rotation of the pages for display, in degrees
	layered bool     // a layer is off, which nothing is in: so pdftohtml is asked for the styles
}

const pageHeight = 842

// The standard fonts of the maker.
const (
	regular = "F1"
	bold    = "F2"
	mono    = "F3"
	italic  = "F4"
	hebrew  = "F5" // a is alef, b is bet
	serif   = "F6"
	light   = "F7" // of a family that has these two weights
	medium  = "F8"
	typed   = "F9" // monospaced, which its name doesn't tell
	symbols = "F0" // its hyphen is a minus
)

// toHebrew maps the characters of the font hebrew to Unicode.
const toHebrew = "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def " +
	"1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfrange <61> <7A> <05D0> endbfrange endcmap end end"

func (m *maker) page() *maker {
	m.pages = append(m.pages, &bytes.Buffer{})
	return m
}

// text writes one line at x, y on the last page.
func (m *maker) text(x, y float64, font string, size float64, s string) *maker {
	s = strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(s)
	var octal strings.Builder
	for _, r := range s {
		if r > 126 && r < 256 { // WinAnsi equals Latin-1 there
			fmt.Fprintf(&octal, `\%03o`, r)
			continue
		}
		octal.WriteRune(r)
	}
	fmt.Fprintf(m.pages[len(m.pages)-1], "BT /%s %g Tf 1 0 0 1 %g %g Tm (%s) Tj ET\n", font, size, x, pageHeight-y,
		octal.String())
	return m
}

// lines writes lines one below the other and returns the y of the next one.
func (m *maker) lines(x, y, leading float64, font string, size float64, lines ...string) float64 {
	for _, l := range lines {
		m.text(x, y, font, size, l)
		y += leading
	}
	return y
}

// bytes returns the file.
func (m *maker) bytes() []byte {
	const fixed = 9 // catalog, page tree, four fonts, info, a font of Hebrew and its map
	var b bytes.Buffer
	var offsets []int
	object := func(body string) {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(offsets), body)
	}
	b.WriteString("%PDF-1.4\n%\xE2\xE3\xCF\xD3\n")
	var kids strings.Builder
	for i := range m.pages {
		fmt.Fprintf(&kids, "%d 0 R ", fixed+1+2*i)
	}
	firstItem := fixed + 1 + 2*len(m.pages) + 1
	outlines := ""
	if len(m.outline) > 0 {
		outlines = fmt.Sprintf("/Outlines %d 0 R", firstItem-1)
	}
	if m.layered {
		outlines += " /OCProperties << /OCGs [7 0 R] /D << /OFF [7 0 R] >> >>"
	}
	object("<< /Type /Catalog /Pages 2 0 R " + outlines + " >>")
	object(fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", len(m.pages), kids.String()))
	for _, name := range []string{"Helvetica", "Helvetica-Bold", "Courier", "Helvetica-Oblique"} {
		object("<< /Type /Font /Subtype /Type1 /Encoding /WinAnsiEncoding /BaseFont /" + name + " >>")
	}
	object("<< " + m.info + " >>")
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 9 0 R >>")
	object(fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(toHebrew), toHebrew))
	var more strings.Builder
	for font, base := range map[string]string{serif: "Times-Roman", light: "Corben-Light", medium: "Corben-Medium"} {
		fmt.Fprintf(&more, "/%s << /Type /Font /Subtype /Type1 /Encoding /WinAnsiEncoding /BaseFont /%s >> ", font, base)
	}
	fmt.Fprintf(&more, "/%s << /Type /Font /Subtype /Type1 /BaseFont /Symbol >> ", symbols)
	fmt.Fprintf(&more, "/%s << /Type /Font /Subtype /Type1 /Encoding /WinAnsiEncoding /BaseFont /Foundry /FirstChar 32 "+
		"/LastChar 126 /Widths [%s] >> ", typed, strings.Repeat("600 ", 95))
	for i, p := range m.pages {
		object(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Rotate %d /Annots [%s] "+
			"/Contents %d 0 R /Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R /F4 6 0 R /F5 8 0 R %s>> >> >>", m.rotate, m.annots, fixed+2+2*i, more.String()))
		object(fmt.Sprintf("<< /Length %d >>\nstream\n%sendstream", p.Len(), p.String()))
	}
	if n := len(m.outline); n > 0 {
		object(fmt.Sprintf("<< /Type /Outlines /First %d 0 R /Last %d 0 R /Count %d >>", firstItem, firstItem+n-1, n))
		for i, title := range m.outline {
			links := ""
			if i > 0 {
				links += fmt.Sprintf(" /Prev %d 0 R", firstItem+i-1)
			}
			if i < n-1 {
				links += fmt.Sprintf(" /Next %d 0 R", firstItem+i+1)
			}
			object(fmt.Sprintf("<< /Title (%s) /Parent %d 0 R /Dest [%d 0 R /Fit]%s >>", title, firstItem-1, fixed+1,
				links))
		}
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R /Info 7 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, xref)
	return b.Bytes()
}

// write writes the file into a folder of the test and returns its path.
func (m *maker) write(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made.pdf")
	if err := os.WriteFile(path, m.bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
