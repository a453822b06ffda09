package main

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"time"
)

const (
	xmlHead = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	wordNS  = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"`
)

// renderDOCX writes blocks as WordprocessingML (ECMA-376) with the built-in styles.
func renderDOCX(title string, blocks []block) ([]byte, error) {
	var body strings.Builder
	body.WriteString(styled("Title", title))

	for _, b := range blocks {
		switch {
		case b.level > 0:
			body.WriteString(styled(fmt.Sprintf("Heading%d", b.level), b.text))
		case b.rows != nil:
			body.WriteString(tableXML(b.rows))
		case b.items != nil:

			for _, item := range b.items {
				body.WriteString(listItem(b.ordered, item))
			}
		default:
			body.WriteString(styled("", b.text))
		}
	}
	parts := []struct{ name, content string }{
		{"[Content_Types].xml", contentTypes},
		{"_rels/.rels", packageRels},
		{"docProps/core.xml", coreXML(title)},
		{"word/_rels/document.xml.rels", documentRels},
		{"word/styles.xml", stylesXML()},
		{"word/numbering.xml", numberingXML},
		{"word/document.xml", xmlHead + "<w:document " + wordNS + "><w:body>" + body.String() +
			"<w:sectPr/></w:body></w:document>"},
	}
	out := &bytes.Buffer{}
	archive := zip.NewWriter(out)
	for _, part := range parts {
		w, err := archive.CreateHeader(&zip.FileHeader{
			Name: part.name, Method: zip.Deflate, Modified: time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC),
		})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte(part.content)); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func textRun(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a strings.Builder takes everything
	return `<w:r><w:t xml:space="preserve">` + b.String() + `</w:t></w:r>`
}

func styled(style, text string) string {
	properties := ""
	if style != "" {
		properties = `<w:pPr><w:pStyle w:val="` + style + `"/></w:pPr>`
	}
	return "<w:p>" + properties + textRun(text) + "</w:p>"
}

func listItem(ordered bool, text string) string {
	number := 1
	if ordered {
		number = 2
	}
	return fmt.Sprintf(`<w:p><w:pPr><w:pStyle w:val="ListParagraph"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="%d"/></w:numPr></w:pPr>%s</w:p>`,
		number, textRun(text))
}

func tableXML(rows [][]string) string {
	var b strings.Builder
	b.WriteString(`<w:tbl><w:tblPr><w:tblStyle w:val="TableGrid"/><w:tblW w:w="0" w:type="auto"/></w:tblPr><w:tblGrid>`)
	b.WriteString(strings.Repeat("<w:gridCol/>", len(rows[0])) + "</w:tblGrid>")
	for i, row := range rows {
		b.WriteString("<w:tr>")
		if i == 0 {
			b.WriteString("<w:trPr><w:tblHeader/></w:trPr>")
		}
		for _, cell := range row {
			b.WriteString("<w:tc>" + styled("", cell) + "</w:tc>")
		}
		b.WriteString("</w:tr>")
	}
	return b.String() + "</w:tbl>"
}

func coreXML(title string) string {
	return xmlHead + `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>` +
		title + `</dc:title><dc:creator>Southhaven Pilot Station</dc:creator></cp:coreProperties>`
}

func stylesXML() string {
	var b strings.Builder
	b.WriteString(xmlHead + "<w:styles " + wordNS +
		`><w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>`)
	b.WriteString(`<w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/><w:basedOn w:val="Normal"/><w:rPr><w:b/><w:sz w:val="52"/></w:rPr></w:style>`)
	for level, size := range []int{36, 28, 24} {
		fmt.Fprintf(&b, `<w:style w:type="paragraph" w:styleId="Heading%d"><w:name w:val="heading %d"/><w:basedOn w:val="Normal"/><w:pPr><w:outlineLvl w:val="%d"/></w:pPr><w:rPr><w:b/><w:sz w:val="%d"/></w:rPr></w:style>`,
			level+1, level+1, level, size)
	}
	b.WriteString(`<w:style w:type="paragraph" w:styleId="ListParagraph"><w:name w:val="List Paragraph"/><w:basedOn w:val="Normal"/></w:style>`)
	return b.String() + `<w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/></w:style></w:styles>`
}

const contentTypes = xmlHead + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
	`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
	`<Default Extension="xml" ContentType="application/xml"/>` +
	`<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>` +
	`<Override PartName="/word/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/>` +
	`<Override PartName="/word/numbering.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.numbering+xml"/>` +
	`<Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/></Types>`

const packageRels = xmlHead + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
	`<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>` +
	`<Relationship Id="r2" Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties" Target="docProps/core.xml"/></Relationships>`

const documentRels = xmlHead + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
	`<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/>` +
	`<Relationship Id="r2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/numbering" Target="numbering.xml"/></Relationships>`

// Number 1 is a bulleted list, number 2 a numbered one.
const numberingXML = xmlHead + `<w:numbering ` + wordNS + `>` +
	`<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="bullet"/><w:lvlText w:val="&#8226;"/></w:lvl></w:abstractNum>` +
	`<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl></w:abstractNum>` +
	`<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num></w:numbering>`
