package nativetest

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// LongPDF writes a PDF of n pages, each with a number, a heading and unique lines of text, or with rows of a
// ruled table if tables is set.
func LongPDF(w io.Writer, pages int, tables bool) error {
	out := &countingWriter{w: bufio.NewWriter(w)}
	offsets := make([]int64, 4, 4+2*pages) // of the objects, from 1
	object := func(number int, text string) {
		for len(offsets) <= number {
			offsets = append(offsets, 0)
		}
		offsets[number] = out.n
		fmt.Fprintf(out, "%d 0 obj\n%s\nendobj\n", number, text)
	}
	fmt.Fprint(out, "%PDF-1.4\n")
	object(1, "<</Type/Catalog/Pages 2 0 R>>")
	object(3, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
	var kids strings.Builder
	for i := range pages {
		content := pageContent(i, tables)
		object(4+2*i, fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 "+
			"R>>>>/Contents %d 0 R>>", 5+2*i))
		object(5+2*i, fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content), content))
		fmt.Fprintf(&kids, "%d 0 R ", 4+2*i)
	}
	object(2, fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", kids.String(), pages))
	xref := out.n
	fmt.Fprintf(out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets))
	for _, at := range offsets[1:] {
		fmt.Fprintf(out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(out, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(offsets), xref)
	if out.err != nil {
		return out.err
	}
	return out.w.Flush()
}

// pageContent draws one page. Its words are unique, so that no two pages share a chunk.
func pageContent(page int, table bool) string {
	const rows, left, top, leading = 40, 60, 740, 16
	var b strings.Builder
	text := func(x, y, size int, s string) { fmt.Fprintf(&b, "BT /F1 %d Tf %d %d Td (%s) Tj ET\n", size, x, y, s) }
	text(left, top, 16, fmt.Sprintf("Section %d of the handbook", page+1))
	for row := range rows {
		y := top - 2*leading - row*leading
		if !table {
			text(left, y, 10, fmt.Sprintf("Line %d of page %d says that berth %d is %d feet long and costs %d a night.",
				row, page+1, page*rows+row, page*7919%97, row*31%89))
			continue
		}
		for column, cell := range []string{"Berth " + fmt.Sprint(page*rows+
			row), fmt.Sprint(page * 7919 % 97), "free since " + fmt.Sprint(row*31%89), "paid"} {
			text(left+column*120+4, y, 10, cell)
		}
		fmt.Fprintf(&b, "%d %d m %d %d l S\n", left, y-4, left+480, y-4)
	}
	if table {
		for column := range 5 {
			fmt.Fprintf(&b, "%d %d m %d %d l S\n", left+column*120, top-leading-4, left+column*120,
				top-2*leading-rows*leading)
		}
	}
	text(300, 30, 9, fmt.Sprint(page+1))
	return b.String()
}

// countingWriter tracks its offset and the first error.
type countingWriter struct {
	w   *bufio.Writer
	n   int64
	err error
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	if c.err == nil {
		c.err = err
	}
	return n, err
}
