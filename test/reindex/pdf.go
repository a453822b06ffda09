package reindex

import (
	"bytes"
	"fmt"
	"strings"
)

// The page of a book: lines of a fixed-width font, in points.
const (
	pageWidth, pageHeight = 612, 792
	margin                = 72
	columns               = 78
	bodySize, headSize    = 10, 16
	leading, gap          = 13, 7 // from line to line, and more between paragraphs
)

// PDF lays the book out: the text flows from page to page, a part begins on a new one, and each page has its number
// at the bottom. saved goes only into the file's properties.
func (b Book) PDF(saved string) []byte {
	l := &layout{}
	for _, p := range b.parts {
		l.newPage()
		if p.heading != "" {
			l.line("F2", headSize, p.heading)
			l.y -= gap
		}
		for _, text := range p.paragraphs {
			for _, line := range wrap(text) {
				l.line("F1", bodySize, line)
			}
			l.y -= gap
		}
	}
	return l.file(b.title, saved)
}

// layout is the content of pages being filled.
type layout struct {
	pages []*bytes.Buffer
	y     int
}

func (l *layout) newPage() {
	l.pages = append(l.pages, &bytes.Buffer{})
	l.y = pageHeight - margin
	l.put("F1", bodySize, pageWidth/2, margin/2, fmt.Sprint(len(l.pages)))
}

func (l *layout) line(font string, size int, text string) {
	if l.y < margin+leading {
		l.newPage()
	}
	l.y -= leading
	l.put(font, size, margin, l.y, text)
}

func (l *layout) put(font string, size, x, y int, text string) {
	fmt.Fprintf(l.pages[len(l.pages)-1], "BT /%s %d Tf %d %d Td (%s) Tj ET\n", font, size, x, y, text)
}

// wrap breaks a text into lines.
func wrap(text string) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > columns {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// file writes the objects of a PDF: catalog, pages, two fonts, properties, then each page and its content.
func (l *layout) file(title, saved string) []byte {
	var out bytes.Buffer
	var offsets []int
	object := func(body string) {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", len(offsets), body)
	}
	const firstPage = 6
	var kids strings.Builder
	for i := range l.pages {
		fmt.Fprintf(&kids, "%d 0 R ", firstPage+2*i)
	}
	out.WriteString("%PDF-1.4\n")
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object(fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), len(l.pages)))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>")
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>")
	object(fmt.Sprintf("<< /Title (%s) /Producer (%s) >>", title, saved))
	for i, page := range l.pages {
		object(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents %d 0 R "+
			"/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>", pageWidth, pageHeight, firstPage+2*i+1))
		object(fmt.Sprintf("<< /Length %d >>\nstream\n%sendstream", page.Len(), page.String()))
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R /Info 5 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1,
		start)
	return out.Bytes()
}
