package structure

import (
	"fmt"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// word writes parts of a document.
type word struct {
	*strings.Builder
	rtl, justified bool
}

func (w word) paragraph(properties string, runs ...string) {
	if w.rtl {
		properties += `<w:bidi/>`
	}
	if w.justified && !strings.Contains(properties, "<w:jc") {
		properties += `<w:jc w:val="both"/>`
	}
	w.WriteString(`<w:p><w:pPr>` + properties + `</w:pPr>` + strings.Join(runs, "") + `</w:p>`)
}

func (w word) run(text, properties string) string {
	if w.rtl {
		properties += `<w:rtl/>`
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = `<w:t xml:space="preserve">` + escape(line) + `</w:t>`
	}
	return `<w:r><w:rPr>` + properties + `</w:rPr>` + strings.Join(lines, `<w:br/>`) + `</w:r>`
}

func (w word) part(p Part, list int) {
	properties, letters := w.look(p)
	lead := ""
	if p.Lead != "" {
		lead = w.run(p.Lead, letters+`<w:b/><w:bCs/>`)
	}
	rest := strings.TrimPrefix(p.Text, p.Lead)
	switch p.Kind {
	case extract.Heading:
		w.paragraph(fmt.Sprintf(`<w:pStyle w:val="Heading%d"/>`, p.Level)+properties, w.run(p.Text, letters))
	case extract.Code:
		ltr := word{w.Builder, false, false}
		if lead != "" {
			lead = ltr.run(p.Lead, `<w:b/>`)
		}
		w.WriteString(`<w:p><w:pPr><w:pStyle w:val="Code"/></w:pPr>` + lead + ltr.run(rest, "") + `</w:p>`)
	case extract.Caption:
		w.paragraph(`<w:pStyle w:val="Caption"/>`+properties, w.run(p.Text, letters))
	case extract.ListItem:
		w.paragraph(fmt.Sprintf(`<w:numPr><w:ilvl w:val="%d"/><w:numId w:val="%d"/></w:numPr>`, p.Level, list), w.run(p.Text, ""))
	case extract.TableKind:
		w.table(p)
		w.paragraph("")
		if p.Beside != nil {
			w.part(*p.Beside, list)
		}
	default:
		switch p.Look {
		case Entry:
			w.paragraph(properties, lead, w.run(strings.TrimSuffix(rest, p.Leader), letters),
				`<w:r><w:tab/></w:r>`, w.run(p.Leader, letters))
			return
		case Note:
			lead = w.run(p.Lead, `<w:vertAlign w:val="superscript"/>`)
		}
		w.paragraph(properties, lead, w.run(rest, letters))
	}
}

// look returns the properties of a part's paragraph and of its letters.
func (w word) look(p Part) (paragraph, letters string) {
	if p.Break {
		paragraph += `<w:pageBreakBefore/>`
	}
	if p.Bold {
		letters += `<w:b/><w:bCs/>`
	}
	switch p.Look {
	case Small, Note:
		letters += `<w:sz w:val="17"/><w:szCs w:val="17"/>`
	case Centered:
		paragraph += `<w:jc w:val="center"/>`
	case Spaced:
		letters += `<w:spacing w:val="90"/>`
	case Entry:
		paragraph += rightTab("dot")
	case Term:
		paragraph += `<w:keepNext/><w:spacing w:after="0"/>`
	case Definition:
		paragraph += `<w:ind w:left="680"/>`
	}
	return paragraph, letters
}

func (w word) table(p Part) {
	w.WriteString(`<w:tbl><w:tblPr>`)
	if w.rtl {
		w.WriteString(`<w:bidiVisual/>`)
	}
	w.WriteString(`<w:tblW w:w="0" w:type="auto"/>`)
	sides := map[Lines][]string{
		"": {"top", "left", "bottom", "right", "insideH", "insideV"}, Rows: {"top", "bottom", "insideH"}, Book: {"top", "bottom"},
	}[p.Lines]
	if !p.Open && sides != nil {
		w.WriteString(`<w:tblBorders>`)
		for _, side := range sides {
			fmt.Fprintf(w, `<w:%s w:val="single" w:sz="4" w:color="333333"/>`, side)
		}
		w.WriteString(`</w:tblBorders>`)
	}
	columns := width(p.Table)
	w.WriteString(`</w:tblPr><w:tblGrid>`)
	for range columns {
		fmt.Fprintf(w, `<w:gridCol w:w="%d"/>`, 9400/columns)
	}
	w.WriteString(`</w:tblGrid>`)
	below := make([]int, columns) // rows that a cell above still covers, by column
	for r, row := range p.Table.Rows {
		w.WriteString(`<w:tr><w:trPr>`)
		if p.Rotated && r == 0 {
			w.WriteString(`<w:trHeight w:val="1900" w:hRule="exact"/>`)
		}
		if r < p.Table.Headers {
			w.WriteString(`<w:tblHeader/>`)
		}
		w.WriteString(`</w:trPr>`)
		w.row(p, r, row, below)
		w.WriteString(`</w:tr>`)
	}
	w.WriteString(`</w:tbl>`)
}

func (w word) row(p Part, r int, row []extract.Cell, below []int) {
	_, bold := w.look(p)
	if r < p.Table.Headers {
		bold += `<w:b/><w:bCs/>`
	}
	for column, next := 0, 0; column < len(below); {
		if below[column] > 0 {
			below[column]--
			w.WriteString(`<w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc>`)
			column++
			continue
		}
		cell := row[next]
		next++
		w.WriteString(`<w:tc><w:tcPr>`)
		if cell.ColSpan > 1 {
			fmt.Fprintf(w, `<w:gridSpan w:val="%d"/>`, cell.ColSpan)
		}
		if cell.RowSpan > 1 {
			w.WriteString(`<w:vMerge w:val="restart"/>`)
			below[column] = cell.RowSpan - 1
		}
		if p.Lines == Book && r == p.Table.Headers-1 {
			w.WriteString(`<w:tcBorders><w:bottom w:val="single" w:sz="4" w:color="333333"/></w:tcBorders>`)
		}
		if p.Lines == Stripes && r%2 == 1 {
			w.WriteString(`<w:shd w:val="clear" w:color="auto" w:fill="E4E9F0"/>`)
		}
		if p.Rotated && r == 0 && column > 0 {
			w.WriteString(`<w:textDirection w:val="btLr"/>`)
		}
		w.WriteString(`</w:tcPr>`)
		w.paragraph("", w.run(cell.Text, bold))
		w.WriteString(`</w:tc>`)
		column += max(1, cell.ColSpan)
	}
}
