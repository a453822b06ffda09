package docx

import (
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/numeral"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

const maxLevel = 8 // w:ilvl has 0-8

// level is one w:lvl of a list definition.
type level struct {
	format  string // w:numFmt, e.g. decimal, bullet
	text    string // w:lvlText, e.g. "%1.%2."
	start   int
	restart *int // w:lvlRestart: 0: never; otherwise the level (from 1) after which it restarts
	style   string
	legal   bool // w:isLgl: all its numbers are decimal
}

// list is one w:abstractNum with its counters.
type list struct {
	levels  [maxLevel + 1]level
	link    string // w:numStyleLink: the list with this w:styleLink holds the definition
	counts  [maxLevel + 1]int
	running [maxLevel + 1]bool // whether a number of this level was used since its last restart
}

// use is one w:num: a list as paragraphs refer to it.
type use struct {
	list      string
	overrides map[int]int   // level to w:startOverride
	levels    map[int]level // those that it has instead of the list's (w:lvlOverride)
	used      bool
}

// numbering holds the lists of a document.
type numbering struct {
	lists  map[string]*list  // by w:abstractNumId
	linked map[string]string // w:styleLink to w:abstractNumId
	uses   map[int]*use      // by w:numId
}

func (n *numbering) read(d *ooxml.Decoder) error {
	n.lists, n.linked, n.uses = map[string]*list{}, map[string]string{}, map[int]*use{}
	return d.Each(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "abstractNum":
			if len(n.lists) >= maxDefined {
				return d.Skip()
			}
			return n.readList(d, ooxml.Attr(start, "abstractNumId"))
		case "num":
			id, err := strconv.Atoi(ooxml.Attr(start, "numId"))
			if err != nil || len(n.uses) >= maxDefined {
				return d.Skip()
			}
			return n.readUse(d, id)
		}
		return nil
	})
}

func (n *numbering) readList(d *ooxml.Decoder, id string) error {
	l := &list{}
	n.lists[id] = l
	return d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "lvl":
			return readLevel(d, start, func(index int, lvl level) { l.levels[index] = lvl })
		case "numStyleLink":
			l.link = ooxml.Attr(start, "val")
		case "styleLink":
			n.linked[ooxml.Attr(start, "val")] = id
		}
		return d.Skip()
	}, nil)
}

func readLevel(d *ooxml.Decoder, start xml.StartElement, set func(index int, lvl level)) error {
	index, err := strconv.Atoi(ooxml.Attr(start, "ilvl"))
	if err != nil || index < 0 || index > maxLevel {
		return d.Skip()
	}
	lvl := level{format: "decimal"}
	err = d.Children(func(start xml.StartElement) error {
		value := ooxml.Attr(start, "val")
		switch start.Name.Local {
		case "start":
			lvl.start, _ = strconv.Atoi(value) // 0, the default, if it is not a number
		case "numFmt":
			lvl.format = value
		case "lvlText":
			lvl.text = extract.CutMarker(value)
		case "lvlRestart":
			lvl.restart = number(start)
		case "pStyle":
			lvl.style = value
		case "isLgl":
			lvl.legal = on(value)
		}
		return d.Skip()
	}, nil)
	set(index, lvl)
	return err
}

func (n *numbering) readUse(d *ooxml.Decoder, id int) error {
	u := &use{overrides: map[int]int{}, levels: map[int]level{}}
	n.uses[id] = u
	return d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "abstractNumId":
			u.list = ooxml.Attr(start, "val")
		case "lvlOverride":
			index, err := strconv.Atoi(ooxml.Attr(start, "ilvl"))
			if err != nil || index < 0 || index > maxLevel {
				break
			}
			return u.readOverride(d, index)
		}
		return d.Skip()
	}, nil)
}

// readOverride reads a w:lvlOverride (17.9.8): another first number for a level, or another level. That level is the one
// of the w:lvlOverride: its own w:ilvl is the same.
func (u *use) readOverride(d *ooxml.Decoder, index int) error {
	return d.Children(func(start xml.StartElement) error {
		switch first := number(start); {
		case start.Name.Local == "lvl":
			return readLevel(d, start, func(_ int, lvl level) { u.levels[index] = lvl })
		case start.Name.Local == "startOverride" && first != nil:
			u.overrides[index] = *first
		}
		return d.Skip()
	}, nil)
}

// level returns a level as the use has it.
func (u *use) level(l *list, index int) level {
	if lvl, ok := u.levels[index]; ok {
		return lvl
	}
	return l.levels[index]
}

// find returns a w:num and its list, or nil for an unknown id.
func (n *numbering) find(id int) (*use, *list) {
	u := n.uses[id]
	if u == nil {
		return nil, nil
	}
	l := n.lists[u.list]
	if l != nil && l.link != "" {
		if linked := n.lists[n.linked[l.link]]; linked != nil {
			l = linked
		}
	}
	if l == nil {
		return nil, nil
	}
	return u, l
}

// linkedTo returns the level of a list that is linked to a style.
func (n *numbering) linkedTo(id int, style string) (level int, ok bool) {
	u, l := n.find(id)
	if l == nil || style == "" {
		return 0, false
	}
	for i := range l.levels {
		if u.level(l, i).style == style {
			return i, true
		}
	}
	return 0, false
}

// next counts a paragraph and returns its marker: "-" for a bullet, "" for a level that shows none. ok is false
// for an unknown list.
func (n *numbering) next(id, at int) (marker string, ok bool) {
	u, l := n.find(id)
	if l == nil {
		return "", false
	}
	at = min(max(at, 0), maxLevel)
	if !u.used {
		u.used = true
		for index, start := range u.overrides {
			l.counts[index], l.running[index] = start-1, true
		}
	}
	for above := range at { // a skipped level counts as its first number
		if !l.running[above] {
			l.counts[above], l.running[above] = u.level(l, above).start, true
		}
	}
	if !l.running[at] {
		l.counts[at], l.running[at] = u.level(l, at).start-1, true
	}
	l.counts[at]++
	for below := at + 1; below <= maxLevel; below++ {
		if restart := u.level(l, below).restart; restart == nil || *restart != 0 && at < *restart {
			l.running[below] = false
		}
	}
	return u.marker(l, at), true
}

func (u *use) marker(l *list, at int) string {
	lvl := u.level(l, at)
	if lvl.format == "bullet" {
		return "-"
	}
	var b strings.Builder
	for i := 0; i < len(lvl.text); i++ {
		if lvl.text[i] != '%' || i+1 >= len(lvl.text) || lvl.text[i+1] < '1' || lvl.text[i+1] > '9' {
			b.WriteByte(lvl.text[i])
			continue
		}
		i++
		shown := int(lvl.text[i] - '1')
		format := u.level(l, shown).format
		if lvl.legal {
			format = "decimal"
		}
		b.WriteString(numeral.Format(l.counts[shown], format))
	}
	return extract.CutMarker(strings.TrimSpace(b.String()))
}
