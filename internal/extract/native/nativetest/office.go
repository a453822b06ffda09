package nativetest

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io"
)

// CostlyOffice returns zip-based files within the limits that need much memory to read.
func CostlyOffice() (all []Costly) {
	for _, c := range containers() {
		switch c.format {
		case "xlsx":
			all = append(all, Costly{
				"two million shared strings.xlsx",
				func(w io.Writer) error { return sharedStrings(w, c, 2_000_000) },
			})
		default:
			open, closing := inElements(c.format)
			all = append(all, Costly{"a hundred thousand paragraphs." + c.format, func(w io.Writer) error {
				return writeContainer(w, c, map[string]func(*bufio.Writer){c.main: func(part *bufio.Writer) {
					part.WriteString(c.before + open[0])
					for i := range 100_000 {
						fmt.Fprintf(part, "%s%d harbour crane tide quay %d%s", open[1], i, i*7919, closing[1])
					}
					part.WriteString(closing[0] + c.after)
				}})
			}})
		}
	}
	return all
}

// sharedStrings writes a workbook with one cell and many strings. All must be held, because any cell may refer
// to any string.
func sharedStrings(w io.Writer, c container, n int) error {
	c.parts = append(c.parts[:len(c.parts):len(c.parts)], "xl/styles.xml", "<styleSheet/>")
	for i, content := range c.parts {
		if i > 0 && c.parts[i-1] == "xl/_rels/workbook.xml.rels" {
			c.parts[i] = content[:len(content)-len("</Relationships>")] +
				`<Relationship Id="s" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/></Relationships>`
		}
	}
	return writeContainer(w, c, map[string]func(*bufio.Writer){
		c.main: func(part *bufio.Writer) {
			fmt.Fprintf(part, `<worksheet><sheetData><row><c t="s"><v>%d</v></c></row>%s`, n-1, c.after)
		},
		"xl/sharedStrings.xml": func(part *bufio.Writer) {
			part.WriteString("<sst>")
			for i := range n {
				fmt.Fprintf(part, "<si><t>%d</t></si>", i*7919)
			}
			part.WriteString("</sst>")
		},
	})
}

// writeContainer writes the format's own parts and further ones.
func writeContainer(w io.Writer, c container, more map[string]func(*bufio.Writer)) error {
	z := zip.NewWriter(w)
	for i := 0; i < len(c.parts); i += 2 {
		part, err := z.Create(c.parts[i])
		if err == nil {
			_, err = io.WriteString(part, c.parts[i+1])
		}
		if err != nil {
			return err
		}
	}
	for name, write := range more {
		part, err := z.Create(name)
		if err != nil {
			return err
		}
		buffered := bufio.NewWriter(part)
		write(buffered)
		if err := buffered.Flush(); err != nil {
			return err
		}
	}
	return z.Close()
}
