package xlsx

import (
	"encoding/xml"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

const (
	maxLinks   = 100_000 // of a sheet
	maxArea    = 1000    // cells of one link
	maxFormula = 4 << 10 // bytes
)

// hyperlinkCall is a formula that makes its cell a link to a literal address.
var hyperlinkCall = pattern.New(`(?i)^\s*HYPERLINK\(\s*"((?:[^"]|"")+)"`)

// link reads a hyperlink (18.3.1.47), which follows the rows. Those of a sheet that is streamed are not kept.
func (s *sheet) link(start xml.StartElement, relations map[string]ooxml.Relation) {
	target := relations[ooxml.RelationID(start, "id")].Target
	if place := ooxml.Attr(start, "location"); place != "" && !strings.Contains(target, "#") {
		target += "#" + place
	}
	from, to, _ := strings.Cut(ooxml.Attr(start, "ref"), ":")
	a, ok := parsePlace(from)
	b, area := parsePlace(to)
	if target = extract.Target(target); !ok || target == "" || s.stream {
		return
	}
	if !area || b.row < a.row || b.column < a.column || (b.row-a.row+1)*(b.column-a.column+1) > maxArea {
		b = a
	}
	for row := a.row; row <= b.row; row++ {
		for column := a.column; column <= b.column && len(s.links) < maxLinks; column++ {
			s.links[place{row, column}] = target
		}
	}
}

// linksOf returns the links of a cell's text.
func (s *sheet) linksOf(row int, c cell) []extract.Link {
	target := s.links[place{row, c.column}]
	if target == "" {
		target = extract.Target(c.target)
	}
	if target == "" {
		return nil
	}
	return []extract.Link{{Start: 0, End: len(c.text), Target: target}}
}
