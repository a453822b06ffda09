package pptx

import (
	"encoding/xml"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/numeral"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

// The kinds of bullets (21.1.2.4).
const (
	inherited = iota
	none      // a:buNone
	symbol    // a:buChar, a:buBlip
	numbered  // a:buAutoNum
)

// bullet is the marker of a paragraph.
type bullet struct {
	kind   int
	scheme string // ST_TextAutonumberScheme, e.g. "romanUcPeriod"
	start  int    // first number
}

// listStyle holds the bullets by level (a:lstStyle and the styles of a master).
type listStyle [maxLevel + 1]bullet

func (r *reader) listStyle(into *listStyle) error {
	return r.d.Children(func(start xml.StartElement) error {
		name := start.Name.Local // lvl1pPr … lvl9pPr
		if len(name) == len("lvl1pPr") && strings.HasPrefix(name, "lvl") && name[3] >= '1' && name[3] <= '9' {
			return r.bullet(&into[name[3]-'1'])
		}
		return r.d.Skip()
	}, nil)
}

// bullet reads the bullet of paragraph properties.
func (r *reader) bullet(into *bullet) error {
	return r.d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "buNone":
			into.kind = none
		case "buChar", "buBlip":
			into.kind = symbol
		case "buAutoNum":
			*into = bullet{numbered, ooxml.Attr(start, "type"), ooxml.Int(ooxml.Attr(start, "startAt"), 1)}
		}
		return r.d.Skip()
	}, nil)
}

// counter counts the numbered paragraphs of a shape by level.
type counter [maxLevel + 1]struct {
	bullet bullet
	n      int
}

// next returns the marker of the next paragraph, or "". It restarts the deeper levels, and its own level after
// another kind of bullet.
func (c *counter) next(b bullet, level int) string {
	for i := level + 1; i < len(c); i++ {
		c[i].n = 0
	}
	at := &c[level]
	if b.kind != numbered || at.bullet != b {
		at.bullet, at.n = b, 0
	}
	switch b.kind {
	case symbol:
		return "-"
	case numbered:
		at.n++
		return number(b.start+at.n-1, b.scheme)
	}
	return ""
}

// number formats n in a scheme of ST_TextAutonumberScheme (20.1.10.61).
func number(n int, scheme string) string {
	format := "decimal"
	for prefix, f := range map[string]string{
		"alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman", "romanUc": "upperRoman",
	} {
		if strings.HasPrefix(scheme, prefix) {
			format = f
		}
	}
	text := numeral.Format(n, format)
	switch {
	case strings.HasSuffix(scheme, "ParenBoth"):
		return "(" + text + ")"
	case strings.HasSuffix(scheme, "ParenR"):
		return text + ")"
	}
	return text + "."
}
