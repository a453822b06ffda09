// Package einvoicetest makes PDF invoices with files in them, for tests.
package einvoicetest

import (
	"bytes"
	"fmt"
	"strings"
)

// File is a file within a PDF.
type File struct{ Name, Content string }

// CII is a small invoice in the syntax of Factur-X.
const CII = `<?xml version="1.0" encoding="UTF-8"?>
<rsm:CrossIndustryInvoice xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100">` +
	`<rsm:ExchangedDocument/></rsm:CrossIndustryInvoice>
`

// PDF returns a PDF with a page for each text, whose lines are set one below the other, and with files in it.
func PDF(pages []string, files ...File) []byte {
	d := &document{}
	d.WriteString("%PDF-1.7\n")
	catalog, tree, font := d.reserve(), d.reserve(), d.reserve()
	d.object(font, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
	var kids strings.Builder
	for _, text := range pages {
		page, content := d.reserve(), d.reserve()
		fmt.Fprintf(&kids, "%d 0 R ", page)
		d.object(page, fmt.Sprintf("<</Type/Page/Parent %d 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<</Font<</F1 %d 0 R>>>>>>",
			tree, content, font))
		d.stream(content, "", set(text))
	}
	d.object(tree, fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(pages), kids.String()))
	var names strings.Builder
	for _, f := range files {
		spec, data := d.reserve(), d.reserve()
		fmt.Fprintf(&names, "(%s) %d 0 R ", escape(f.Name), spec)
		d.object(spec, fmt.Sprintf("<</Type/Filespec/F(%[1]s)/UF(%[1]s)/AFRelationship/Alternative/EF<</F %[2]d 0 R>>>>",
			escape(f.Name), data))
		d.stream(data, "/Type/EmbeddedFile/Subtype/text#2Fxml", f.Content)
	}
	d.object(catalog, fmt.Sprintf("<</Type/Catalog/Pages %d 0 R/Names<</EmbeddedFiles<</Names[%s]>>>>>>", tree, names.String()))
	return d.end(catalog)
}

// Protected is PDF, and can't be opened without a password, which nobody knows.
func Protected(pages []string, files ...File) []byte {
	key := strings.Repeat("5e", 32) // neither of an owner nor of a user (ISO 32000-1, 7.6.3.3)
	return bytes.Replace(PDF(pages, files...), []byte("trailer\n<<"), []byte("trailer\n<</Encrypt<</Filter/Standard/V 1/R 2/P -4/O<"+
		key+">/U<"+key+">>>/ID[<01><01>]"), 1)
}

func set(text string) string {
	var b strings.Builder
	b.WriteString("BT /F1 11 Tf 14 TL 57 780 Td\n")
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "(%s) Tj T*\n", escape(strings.TrimSpace(line)))
	}
	b.WriteString("ET\n")
	return b.String()
}

func escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(text)
}

// document is a PDF being written.
type document struct {
	bytes.Buffer
	offsets []int
}

func (d *document) reserve() int {
	d.offsets = append(d.offsets, 0)
	return len(d.offsets)
}

func (d *document) object(n int, body string) {
	d.offsets[n-1] = d.Len()
	fmt.Fprintf(d, "%d 0 obj\n%s\nendobj\n", n, body)
}

func (d *document) stream(n int, dict, content string) {
	d.object(n, fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", dict, len(content), content))
}

func (d *document) end(catalog int) []byte {
	start := d.Len()
	fmt.Fprintf(d, "xref\n0 %d\n0000000000 65535 f \n", len(d.offsets)+1)
	for _, at := range d.offsets {
		fmt.Fprintf(d, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(d, "trailer\n<</Size %d/Root %d 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(d.offsets)+1, catalog, start)
	return d.Bytes()
}
