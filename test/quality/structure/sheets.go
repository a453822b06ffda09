package structure

import (
	"archive/zip"
	"fmt"
	"io"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

const sheetNS = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ` +
	`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`

// Sheets returns the tables of a document as a workbook has them, each on a sheet of its own, whose name is a heading of
// the level; nil if the document has no tables. A link in a cell is that of the whole cell.
func Sheets(d *Document, level int) *Document {
	made := &Document{Kind: d.Kind, Language: d.Language}
	name, used := "", map[string]int{}
	add := func(t *extract.Table) {
		used[name]++
		title := name
		if used[name] > 1 {
			title = fmt.Sprintf("%s %d", name, used[name])
		}
		made.Parts = append(made.Parts,
			Part{Block: extract.Block{Kind: extract.Heading, Level: level, Text: title}},
			Part{Block: extract.Block{Kind: extract.TableKind, Table: t}})
	}
	for _, p := range d.Parts {
		switch {
		case p.Kind == extract.Heading:
			name = sheetName(p.Text)
		case p.Table != nil:
			add(p.Table)
			if p.Beside != nil {
				add(p.Beside.Table)
			}
		}
	}
	if len(made.Parts) == 0 {
		return nil
	}
	return made
}

// sheetName returns a text as the name of a sheet, which has at most 31 characters.
func sheetName(text string) string {
	name := []rune(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`[]:*?/\`, r) {
			return -1
		}
		return r
	}, text))
	return strings.TrimSpace(string(name[:min(len(name), 28)]))
}

// XLSX writes the sheets of a document for Excel.
func XLSX(w io.Writer, d *Document) error {
	parts := map[string]string{}
	types, list, relations := "", "", ""
	n := 0
	for i, p := range d.Parts {
		if p.Table == nil {
			continue
		}
		n++
		sheet, links := worksheet(p.Table)
		name := fmt.Sprintf("worksheets/sheet%d.xml", n)
		parts["xl/"+name] = declared + sheet
		if links != "" {
			parts[fmt.Sprintf("xl/worksheets/_rels/sheet%d.xml.rels", n)] = declared + relationships(links)
		}
		types += override("/xl/"+name, "spreadsheetml.worksheet+xml")
		list += fmt.Sprintf(`<sheet name="%s" sheetId="%d" r:id="rId%d"/>`, escape(d.Parts[i-1].Text), n, n)
		relations += relation(n, "worksheet", name)
	}
	parts["xl/workbook.xml"] = declared + `<workbook ` + sheetNS + `><sheets>` + list + `</sheets></workbook>`
	parts["xl/_rels/workbook.xml.rels"] = declared + relationships(relations)
	parts["_rels/.rels"] = declared + relationships(relation(1, "officeDocument", "xl/workbook.xml"))
	parts["[Content_Types].xml"] = declared + contentTypesOf(types+override("/xl/workbook.xml", "spreadsheetml.sheet.main+xml"))
	return zipped(zip.NewWriter(w), parts)
}

// worksheet returns a sheet and its relations.
func worksheet(t *extract.Table) (sheet, relations string) {
	var rows, merges, links strings.Builder
	for r, row := range filled(t) {
		fmt.Fprintf(&rows, `<row r="%d">`, r+1)
		for c, cell := range row {
			ref := fmt.Sprintf("%c%d", 'A'+c, r+1)
			if !cell.covered {
				fmt.Fprintf(&rows, `<c r="%s" t="inlineStr"><is><t xml:space="preserve">%s</t></is></c>`, ref, escape(cell.Text))
			}
			if cell.ColSpan > 1 || cell.RowSpan > 1 {
				fmt.Fprintf(&merges, `<mergeCell ref="%s:%c%d"/>`, ref, 'A'+c+max(cell.ColSpan, 1)-1, r+max(cell.RowSpan, 1))
			}
			for _, l := range cell.Links {
				id := strings.Count(relations, "<Relationship ") + 1
				relations += fmt.Sprintf(`<Relationship Id="rId%d" Type="%s/hyperlink" Target="%s" TargetMode="External"/>`, id,
					officeRels, escape(l.Target))
				fmt.Fprintf(&links, `<hyperlink ref="%s" r:id="rId%d"/>`, ref, id)
			}
		}
		rows.WriteString(`</row>`)
	}
	sheet = `<worksheet ` + sheetNS + `><sheetData>` + rows.String() + `</sheetData>`
	if merges.Len() > 0 {
		sheet += `<mergeCells>` + merges.String() + `</mergeCells>`
	}
	if links.Len() > 0 {
		sheet += `<hyperlinks>` + links.String() + `</hyperlinks>`
	}
	return sheet + `</worksheet>`, relations
}
