package structure

import (
	"archive/zip"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

const (
	wordNS = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" ` +
		`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	officeRels = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	declared   = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
)

// DOCX writes a document for Word.
func DOCX(w io.Writer, d *Document) error {
	z := zip.NewWriter(w)
	for _, part := range []struct{ name, text string }{
		{"[Content_Types].xml", declared + contentTypes},
		{"_rels/.rels", declared + relationships(`<Relationship Id="rId1" Type="`+officeRels+
			`/officeDocument" Target="word/document.xml"/>`)},
		{"word/_rels/document.xml.rels", declared + relationships(
			`<Relationship Id="rId1" Type="`+officeRels+`/styles" Target="styles.xml"/>`+
				`<Relationship Id="rId2" Type="`+officeRels+`/numbering" Target="numbering.xml"/>`+
				`<Relationship Id="rId3" Type="`+officeRels+`/header" Target="header1.xml"/>`+
				`<Relationship Id="rId4" Type="`+officeRels+`/footer" Target="footer1.xml"/>`)},
		{"word/styles.xml", declared + styles()},
		{"word/header1.xml", declared + `<w:hdr ` + wordNS + `><w:p><w:r><w:t>` + escape(d.Running) +
			`</w:t></w:r></w:p></w:hdr>`},
		{"word/footer1.xml", declared + `<w:ftr ` + wordNS + `><w:p><w:pPr>` + rightTab("none") + `</w:pPr><w:r><w:t>` +
			escape(d.Foot) + `</w:t></w:r><w:r><w:tab/></w:r><w:fldSimple w:instr=" PAGE "><w:r><w:t>1</w:t></w:r>` +
			`</w:fldSimple></w:p></w:ftr>`},
		{"word/numbering.xml", declared + numberings(d)},
		{"word/document.xml", declared + wordLinks(body(marked(d)))},
	} {
		f, err := z.Create(part.name)
		if err == nil {
			_, err = io.WriteString(f, part.text)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", part.name, err)
		}
	}
	return z.Close()
}

const contentTypes = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
	`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
	`<Default Extension="xml" ContentType="application/xml"/>` +
	`<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>` +
	`<Override PartName="/word/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/>` +
	`<Override PartName="/word/header1.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.header+xml"/>` +
	`<Override PartName="/word/footer1.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.footer+xml"/>` +
	`<Override PartName="/word/numbering.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.numbering+xml"/>` +
	`</Types>`

func relationships(all string) string {
	return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` + all + `</Relationships>`
}

func styles() string {
	return `<w:styles ` + wordNS + `><w:docDefaults><w:rPrDefault><w:rPr>` +
		`<w:rFonts w:ascii="Liberation Sans" w:hAnsi="Liberation Sans" w:eastAsia="Noto Sans CJK SC" w:cs="Noto Sans Arabic"/>` +
		`<w:sz w:val="22"/><w:szCs w:val="22"/></w:rPr></w:rPrDefault><w:pPrDefault><w:pPr><w:spacing w:after="120"/></w:pPr>` +
		`</w:pPrDefault></w:docDefaults><w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>` +
		`<w:style w:type="paragraph" w:styleId="Caption"><w:name w:val="caption"/><w:basedOn w:val="Normal"/></w:style>` +
		headingStyle(1, 36) + headingStyle(2, 28) + headingStyle(3, 24) +
		`<w:style w:type="paragraph" w:styleId="Code"><w:name w:val="HTML Preformatted"/><w:basedOn w:val="Normal"/><w:rPr>` +
		`<w:rFonts w:ascii="Liberation Mono" w:hAnsi="Liberation Mono"/><w:sz w:val="18"/></w:rPr></w:style></w:styles>`
}

func headingStyle(level, halfPoints int) string {
	return fmt.Sprintf(`<w:style w:type="paragraph" w:styleId="Heading%d"><w:name w:val="heading %d"/><w:basedOn w:val="Normal"/>`+
		`<w:pPr><w:keepNext/><w:spacing w:before="240" w:after="80"/><w:outlineLvl w:val="%d"/></w:pPr><w:rPr><w:b/><w:bCs/>`+
		`<w:sz w:val="%d"/><w:szCs w:val="%d"/></w:rPr></w:style>`, level, level, level-1, halfPoints, halfPoints)
}

// numberings has a list of its own for each list of the document, so that each starts at one.
func numberings(d *Document) string {
	var b strings.Builder
	b.WriteString(`<w:numbering ` + wordNS + `>`)
	for id, format := range []string{
		`<w:numFmt w:val="bullet"/><w:lvlText w:val="•"/>`,
		`<w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/>`, `<w:numFmt w:val="lowerLetter"/><w:lvlText w:val="(%1)"/>`,
	} {
		fmt.Fprintf(&b, `<w:abstractNum w:abstractNumId="%d">`, id)
		for level := range 3 {
			if id == 0 && d.Symbols { // as Word does
				format = symbolBullets[level]
			}
			fmt.Fprintf(&b, `<w:lvl w:ilvl="%d"><w:start w:val="1"/>%s</w:lvl>`, level, strings.Replace(format, `%1`,
				fmt.Sprintf(`%%%d`, level+1), 1)+fmt.Sprintf(`<w:pPr><w:ind w:start="%d" w:hanging="360"/></w:pPr>`,
				720*(level+1))+symbolFont(id == 0 && d.Symbols, level))
		}
		b.WriteString(`</w:abstractNum>`)
	}
	for i := range d.Parts {
		fmt.Fprintf(&b, `<w:num w:numId="%d"><w:abstractNumId w:val="%d"/>`, i+1, format(d.Parts[i]))
		for level := range 3 {
			fmt.Fprintf(&b, `<w:lvlOverride w:ilvl="%d"><w:startOverride w:val="1"/></w:lvlOverride>`, level)
		}
		b.WriteString(`</w:num>`)
	}
	b.WriteString(`</w:numbering>`)
	return b.String()
}

// The bullets of Word's lists, which are characters of symbol fonts.
var symbolBullets = []string{
	`<w:numFmt w:val="bullet"/><w:lvlText w:val="&#xF0B7;"/>`, `<w:numFmt w:val="bullet"/><w:lvlText w:val="o"/>`,
	`<w:numFmt w:val="bullet"/><w:lvlText w:val="&#xF0A7;"/>`,
}

func symbolFont(wanted bool, level int) string {
	if !wanted {
		return ""
	}
	font := []string{"Symbol", "Courier New", "Wingdings"}[level]
	return fmt.Sprintf(`<w:rPr><w:rFonts w:ascii="%s" w:hAnsi="%s" w:cs="%s" w:hint="default"/></w:rPr>`, font, font, font)
}

func rightTab(leader string) string {
	return `<w:tabs><w:tab w:val="right" w:leader="` + leader + `" w:pos="9400"/></w:tabs>`
}

func format(p Part) int {
	switch {
	case p.Marker == "-":
		return 0
	case strings.HasPrefix(p.Marker, "("):
		return 2
	}
	return 1
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder never fails
	return b.String()
}

func body(d *Document) string {
	var b strings.Builder
	b.WriteString(`<w:document ` + wordNS + `><w:body>`)
	var lists [3]int // the list that is open at each level
	for i, p := range d.Parts {
		if p.Kind == extract.ListItem && beginsList(d.Parts[:i], p) {
			lists[p.Level] = i + 1
		}
		word{&b, d.RightToLeft(), d.Justified}.part(p, lists[min(p.Level, 2)])
	}
	b.WriteString(`<w:sectPr>`)
	if d.Running != "" {
		b.WriteString(`<w:headerReference w:type="default" r:id="rId3"/>`)
	}
	if d.Foot != "" {
		b.WriteString(`<w:footerReference w:type="default" r:id="rId4"/>`)
	}
	b.WriteString(`<w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1300" w:right="1200" w:bottom="1200" w:left="1200" w:header="600" w:footer="600" w:gutter="0"/>`)
	if d.Columns > 1 {
		fmt.Fprintf(&b, `<w:cols w:num="%d" w:space="500"/>`, d.Columns)
	}
	if d.RightToLeft() {
		b.WriteString(`<w:bidi/>`)
	}
	b.WriteString(`</w:sectPr></w:body></w:document>`)
	return b.String()
}

// beginsList reports whether an item after parts is the first of its list.
func beginsList(parts []Part, item Part) bool {
	for i := len(parts) - 1; i >= 0; i-- {
		switch before := parts[i]; {
		case before.Kind != extract.ListItem || before.Level < item.Level:
			return true
		case before.Level == item.Level:
			return !sameList(before, item, 1)
		}
	}
	return true
}
