package pptx

import (
	"archive/zip"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// longestCell is the most UTF-16 code units of a cell's text that Excel opens.
const longestCell = 32767

// worksheet is the content of a workbook's only sheet: rows of cells, both by their number from 0. There are no formulas:
// a text that looks like one stays a text.
type worksheet map[int]map[int]cellValue

// cellValue is a number, or a text if it has one.
type cellValue struct {
	number float64
	text   *string
}

func (s worksheet) set(column, row int, c cellValue) {
	if s[row] == nil {
		s[row] = map[int]cellValue{}
	}
	s[row][column] = c
}

func (s worksheet) text(column, row int, text string) {
	s.set(column, row, cellValue{text: new(clipped(text))})
}

// number sets a cell, unless the value is none that a workbook can hold.
func (s worksheet) number(column, row int, v float64) {
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		s.set(column, row, cellValue{number: v})
	}
}

func (s worksheet) column(column int, values []*float64) {
	for i, v := range values {
		if v != nil {
			s.number(column, i+1, *v)
		}
	}
}

// clipped is a text that fits a cell.
func clipped(text string) string {
	units := 0
	for i, r := range text {
		if units++; r > 0xFFFF {
			units++
		}
		if units > longestCell {
			return text[:i]
		}
	}
	return text
}

// codeLike matches what readers of a cell's text (ST_Xstring, 22.9.2.19) take for the code of a character.
var codeLike = pattern.New(`^_x[0-9A-Fa-f]{4}_`)

// uncoded is a text whose readers take nothing in it for a code. Two codes may share an underscore.
func uncoded(text string) string {
	var out strings.Builder
	for rest := text; ; {
		at := strings.Index(rest, "_x")
		if at < 0 {
			out.WriteString(rest)
			return out.String()
		}
		out.WriteString(rest[:at])
		if codeLike.MatchString(rest[at:]) {
			out.WriteString("_x005F")
		}
		out.WriteByte('_')
		rest = rest[at+1:]
	}
}

// write writes the workbook: the smallest package with one sheet (ECMA-376, 12.2), the same bytes for the same content.
func (s worksheet) write(to io.Writer) error {
	const book, page = "xl/workbook.xml", "xl/worksheets/sheet1.xml"
	z := zip.NewWriter(to)
	for _, part := range []struct {
		name    string
		content []byte
	}{
		{"[Content_Types].xml", sheetTypes(book, page)},
		{"_rels/.rels", relations([]relation{{id: "rId1", kind: "officeDocument", target: "/" + book}})},
		{book, sheetBook()},
		{relationsPart(book), relations([]relation{{id: "rId1", kind: "worksheet", target: "/" + page}})},
		{page, s.part()},
	} {
		out, err := z.Create(part.name)
		if err == nil {
			_, err = out.Write(part.content)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return z.Close()
}

func sheetTypes(book, page string) []byte {
	m := &markup{}
	m.WriteString(xmlHead)
	m.begin("Types", "xmlns", nsTypes)
	m.empty("Default", "Extension", "xml", "ContentType", "application/xml")
	m.empty("Default", "Extension", "rels", "ContentType", typeRels)
	m.empty("Override", "PartName", "/"+book, "ContentType", typeSheet+".main+xml")
	m.empty("Override", "PartName", "/"+page, "ContentType", strings.TrimSuffix(typeSheet, "sheet")+"worksheet+xml")
	m.end()
	return m.Bytes()
}

func sheetBook() []byte {
	m := &markup{}
	m.WriteString(xmlHead)
	m.begin("workbook", "xmlns", nsSheet, "xmlns:r", nsRel)
	m.begin("sheets")
	m.empty("sheet", "name", sheetName, "sheetId", "1", "r:id", "rId1")
	m.ends(2)
	return m.Bytes()
}

// part writes the sheet's part. Rows and cells have to be in order (18.3.1.73, 18.3.1.4).
func (s worksheet) part() []byte {
	m := &markup{}
	m.WriteString(xmlHead)
	m.begin("worksheet", "xmlns", nsSheet)
	m.begin("sheetData")
	for _, row := range slices.Sorted(maps.Keys(s)) {
		m.begin("row", "r", num(row+1))
		for _, column := range slices.Sorted(maps.Keys(s[row])) {
			name := columnName(column) + strconv.Itoa(row+1)
			c := s[row][column]
			if c.text == nil {
				m.begin("c", "r", name)
				m.leaf("v", decimal(c.number))
				m.end()
				continue
			}
			m.begin("c", "r", name, "t", "inlineStr")
			m.begin("is")
			m.begin("t", "xml:space", "preserve") // blanks at its ends belong to it
			m.WriteString(uncoded(escape(*c.text)))
			m.ends(3)
		}
		m.end()
	}
	m.ends(2)
	return m.Bytes()
}
