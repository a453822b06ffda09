package main

import (
	"bytes"
	"fmt"
	"strings"
)

// The page is A4 in points; text is set in the standard fonts, which need not be embedded.
const (
	pageWidth, pageHeight = 595.0, 842.0
	margin                = 57.0
	bodySize              = 10.5
)

var headingSizes = []float64{0, 18, 13, 11}

// helvetica holds the advance widths of the characters from space to tilde, in thousandths of the size.
// Source: Adobe's font metrics for the 14 standard fonts, Helvetica.afm.
var helvetica = [...]float64{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
	556,
	556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722,
	778,
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,
	556,
	556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
}

// renderPDF sets blocks under a title, with a running footer.
func renderPDF(title string, blocks []block) []byte {
	s := &setter{title: title}
	s.startPage()
	s.y -= 14
	s.line("F2", 26, margin, title)
	s.y -= 26
	for _, b := range blocks {
		s.block(b)
	}
	return writePDF(title, s.pages)
}

// setter fills pages from top to bottom; y is the base line of the next line of text.
type setter struct {
	title string
	pages []*bytes.Buffer
	y     float64
}

func (s *setter) startPage() {
	page := &bytes.Buffer{}
	s.pages = append(s.pages, page)
	s.y = pageHeight - margin - 12
	fmt.Fprintf(page, "BT /F1 8 Tf %g 34 Td (%s) Tj ET\n", margin,
		escape(fmt.Sprintf("%s - page %d", s.title, len(s.pages))))
}

func (s *setter) page() *bytes.Buffer { return s.pages[len(s.pages)-1] }

func (s *setter) block(b block) {
	switch {
	case b.newPage:
		s.startPage()
	case b.level > 0:
		size := headingSizes[b.level]
		s.y -= size * 0.5
		s.line("F2", size, margin, b.text)
		s.y -= size * 0.9
	case b.rows != nil:
		s.table(b)
	case b.items != nil:
		for i, item := range b.items {
			mark := "\x95" // a bullet in WinAnsiEncoding
			if b.ordered {
				mark = fmt.Sprintf("%d.", i+1)
			}
			s.line("F1", bodySize, margin+8, mark)
			s.paragraph(margin+24, item)
		}
		s.y -= 6
	default:
		s.paragraph(margin, b.text)
		s.y -= 7
	}
}

func (s *setter) paragraph(x float64, text string) {
	for _, line := range wrap(text, pageWidth-margin-x) {
		s.line("F1", bodySize, x, line)
		s.y -= bodySize * 1.42
	}
}

func (s *setter) table(b block) {
	const rowHeight = 20.0
	top := s.y + 13
	for i, row := range b.rows {
		x, font := margin, "F1"
		if i == 0 {
			font = "F2"
		}
		for c, cell := range row {
			s.line(font, bodySize, x+5, cell)
			x += b.widths[c]
		}
		s.y -= rowHeight
	}
	width := 0.0
	for _, w := range b.widths {
		width += w
	}
	height := rowHeight * float64(len(b.rows))
	fmt.Fprintf(s.page(), "0.6 w\n")
	for i := range len(b.rows) + 1 {
		y := top - rowHeight*float64(i)
		fmt.Fprintf(s.page(), "%g %g m %g %g l S\n", margin, y, margin+width, y)
	}
	x := margin
	for _, w := range append([]float64{0}, b.widths...) {
		x += w
		fmt.Fprintf(s.page(), "%g %g m %g %g l S\n", x, top, x, top-height)
	}
	s.y -= 8
}

func (s *setter) line(font string, size, x float64, text string) {
	fmt.Fprintf(s.page(), "BT /%s %g Tf %g %.2f Td (%s) Tj ET\n", font, size, x, s.y, escape(text))
}

// wrap breaks text into lines no wider than width at the body's size.
func wrap(text string, width float64) []string {
	var lines []string
	line, used := "", 0.0
	for word := range strings.FieldsSeq(text) {
		w := 0.0
		for _, r := range word {
			w += helvetica[r-' '] * bodySize / 1000
		}
		space := helvetica[0] * bodySize / 1000
		if line != "" && used+space+w > width {
			lines, line, used = append(lines, line), "", 0
		}
		if line != "" {
			line, used = line+" ", used+space
		}
		line, used = line+word, used+w
	}
	return append(lines, line)
}

func escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(text)
}

// writePDF joins the pages' content into a file (PDF 1.4, ISO 32000-1, 7.5).
func writePDF(title string, pages []*bytes.Buffer) []byte {
	const firstPage = 6
	var kids []string
	for i := range pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", firstPage+2*i))
	}
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R /Lang (en) >>",
		fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", len(pages), strings.Join(kids, " ")),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
		fmt.Sprintf("<< /Title (%s) /Author (Southhaven Harbour Office) >>", escape(title)),
	}
	for i, page := range pages {
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %g %g] /Contents %d 0 R /Resources << /Font << "+
				"/F1 3 0 R /F2 4 0 R >> >> >>",
				pageWidth, pageHeight, firstPage+2*i+1),
			fmt.Sprintf("<< /Length %d >>\nstream\n%sendstream", page.Len(), page))
	}
	out := &bytes.Buffer{}
	out.WriteString("%PDF-1.4\n")
	var offsets []int
	for i, object := range objects {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(out, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := out.Len()
	fmt.Fprintf(out, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range offsets {
		fmt.Fprintf(out, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(out, "trailer\n<< /Size %d /Root 1 0 R /Info 5 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return out.Bytes()
}
