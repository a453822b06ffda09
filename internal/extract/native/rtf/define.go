package rtf

import (
	"cmp"
	"fmt"
	"strings"
)

const (
	maxEntry   = 1 << 10 // bytes of a name, a label, a property
	maxEntries = 1 << 14 // of the style, font and list tables
)

// entry is a table entry, a label or a property being read.
type entry struct {
	text    strings.Builder
	id      int
	charset int    // code page of \fcharset
	ansi    bool   // \fcharset0
	page    int    // \cpg
	outline int    // level plus 1; 0: none
	date    [5]int // year, month, day, hour, minute
}

func (e *entry) add(text string) {
	if e.text.Len()+len(text) <= maxEntry {
		e.text.WriteString(text)
	}
}

// style is an entry of the style sheet.
type style struct {
	name    string // in lower case
	outline int    // level plus 1; 0: none
}

// list is an entry of the list table.
type list struct {
	formats [maxLevel + 1]int
	starts  [maxLevel + 1]int
	levels  int
}

// use is an entry of the list override table with its counters.
type use struct {
	list   *list
	counts [maxLevel + 1]int
}

// define handles the control words of the tables at the start of the document.
func (r *reader) define(t token) {
	switch t.word {
	case "f":
		if r.to == fontTable {
			r.entry = entry{id: t.number}
		}
	case "fcharset":
		r.entry.charset, r.entry.ansi = charsetPages[t.number], t.has && t.number == 0
	case "cpg":
		if _, ok := codePages[t.number]; ok {
			r.entry.page = t.number
		}
	case "s":
		r.entry.id = t.number
	case "outlinelevel":
		r.entry.outline = t.number + 1
	default:
		r.defineList(t)
	}
}

func (r *reader) defineList(t token) {
	l := r.lists[0] // the current list, until its id comes
	switch t.word {
	case "list":
		r.lists[0] = &list{}
	case "levelnfc", "levelnfcn":
		if l != nil && l.levels > 0 && l.levels <= maxLevel+1 {
			l.formats[l.levels-1] = t.number
		}
	case "levelstartat":
		if l != nil && l.levels > 0 && l.levels <= maxLevel+1 {
			l.starts[l.levels-1] = t.number
		}
	case "listlevel":
		if l != nil {
			l.levels++
		}
	case "listid":
		if r.to == overrideTable {
			r.entry.id = t.number
		} else if l != nil && len(r.lists) < maxEntries {
			r.lists[t.number] = l
		}
	case "ls":
		if l := r.lists[r.entry.id]; r.to == overrideTable && l != nil && r.entry.id != 0 && len(r.uses) < maxEntries {
			r.uses[t.number] = &use{list: l}
		}
	}
}

// record stores an entry of the font table or the style sheet, which ends with a semicolon.
func (r *reader) record() {
	name := strings.ToLower(strings.TrimSpace(r.entry.text.String()))
	switch {
	case r.to == fontTable && len(r.fonts) < maxEntries:
		r.fonts[r.entry.id] = font{name: name, page: cmp.Or(r.entry.page, r.entry.charset), ansi: r.entry.ansi}
		r.charsets[r.entry.charset] = true
	case r.to == styleTable && len(r.styles) < maxEntries:
		st := style{name: name, outline: r.entry.outline}
		var level int
		if _, err := fmt.Sscanf(name, "heading %d", &level); err == nil && st.outline == 0 && level >= 1 &&
			level <= maxLevel {
			st.outline = level
		}
		r.styles[r.entry.id] = st
	}
	r.entry = entry{}
}

// label marks the group as a paragraph's number or bullet.
func (r *reader) label() {
	if r.to != body {
		return
	}
	r.to = label
	r.entry = entry{}
	r.end = func() error {
		r.story.label, r.story.labeled = strings.TrimSpace(r.entry.text.String()), true
		return nil
	}
}

// property marks the group as a document property, if it is a known one.
func (r *reader) property(word string) bool {
	names := map[string]string{
		"title": "title", "author": "author", "subject": "subject", "keywords": "keywords", "doccomm": "description",
		"creatim": "created", "revtim": "modified", "generator": "producer",
	}
	name, ok := names[word]
	if !ok {
		return false
	}
	r.entry = entry{}
	r.end = func() error {
		text := strings.TrimSpace(r.entry.text.String())
		if word == "generator" { // ends with a semicolon, like a table entry
			text = strings.TrimSuffix(text, ";")
		}
		if d := r.entry.date; d[0] > 0 {
			text = fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:00", d[0], d[1], d[2], d[3], d[4])
		}
		if text != "" {
			r.properties[name] = text
		}
		r.entry = entry{}
		return nil
	}
	return true
}

func (r *reader) date(t token) {
	for i, word := range []string{"yr", "mo", "dy", "hr", "min"} {
		if t.word == word {
			r.entry.date[i] = t.number
		}
	}
}

// languages maps common values of \deflang ([MS-LCID] 2.2).
var languages = map[int]string{
	1025: "ar-SA", 1026: "bg-BG", 1028: "zh-TW", 1029: "cs-CZ", 1030: "da-DK", 1031: "de-DE", 1032: "el-GR",
	1033: "en-US", 1034: "es-ES",
	1035: "fi-FI", 1036: "fr-FR", 1037: "he-IL", 1038: "hu-HU", 1040: "it-IT", 1041: "ja-JP", 1042: "ko-KR",
	1043: "nl-NL", 1044: "nb-NO",
	1045: "pl-PL", 1046: "pt-BR", 1048: "ro-RO", 1049: "ru-RU", 1053: "sv-SE", 1055: "tr-TR", 1058: "uk-UA",
	2052: "zh-CN", 2055: "de-CH",
	2057: "en-GB", 2070: "pt-PT", 3079: "de-AT", 3081: "en-AU", 3082: "es-ES", 3084: "fr-CA", 4105: "en-CA",
}
