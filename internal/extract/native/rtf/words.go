package rtf

// skippedWords are destinations without text of the document. Destinations with a star are skipped by default.
var skippedWords = map[string]bool{
	"pict": true, "colortbl": true, "header": true, "headerl": true, "headerr": true, "headerf": true, "footer": true,
	"footerl": true,
	"footerr": true, "footerf": true, "nonshppict": true, "shprslt": true, "nonesttables": true,
	"xe": true, "tc": true,
	"tcn": true, "txe": true, "rxe": true, "ftnsep": true, "ftnsepc": true, "ftncn": true, "aftnsep": true,
	"aftnsepc": true, "aftncn": true,
	"filetbl": true, "revtbl": true, "rsidtbl": true, "datafield": true, "bkmkstart": true, "bkmkend": true,
	"objdata": true, "objclass": true,
	"atnid": true, "themedata": true, "colorschememapping": true,
	"latentstyles": true,
	"sp":           true, "listname": true, "leveltext": true, "levelnumbers": true, "private": true, "falt": true,
	"panose": true,
}

// word handles a control word.
func (r *reader) word(t token) error {
	star := r.star
	r.star = false
	switch t.word {
	case "bin":
		r.skip = max(r.skip-1, 0)
		return r.scan.discard(t.number)
	case "uc":
		r.uc = min(max(t.number, 0), 100)
		return nil
	case "ud":
		if star && r.upr {
			r.to, r.upr = r.before, false
			return nil
		}
	}
	if r.to == skipped {
		return nil
	}
	if t.word == "u" && t.has {
		r.skip = 0
		return r.unicode(t.number)
	}
	if _, ok := characters[t.word]; ok && r.skip > 0 {
		r.skip--
		return nil
	}
	r.skip = 0 // the writer omitted the replacement characters
	if r.destination(t) {
		return nil
	}
	if star {
		r.to = skipped
		return nil
	}
	if text, ok := characters[t.word]; ok {
		if t.word == "tab" && r.to == body {
			r.story.look.Tab(r.story.text.String())
		}
		return r.put(text)
	}
	r.global(t)
	switch r.to {
	case body, label, shape:
		return r.format(t)
	case fontTable, styleTable, listTable, overrideTable:
		r.define(t)
	case information:
		r.date(t)
	}
	return nil
}

// destination handles the control words that set the target of their group's text.
func (r *reader) destination(t token) (known bool) {
	switch t.word {
	case "fonttbl":
		r.to = fontTable
	case "stylesheet":
		r.to = styleTable
		r.entry = entry{}
	case "listtable":
		r.to = listTable
	case "listoverridetable":
		r.to = overrideTable
	case "listtext", "pntext":
		r.label()
	case "footnote":
		if r.to == body {
			r.note()
		}
	case "atnauthor":
		r.author()
	case "annotation":
		r.comment()
	case "fldinst":
		r.instruction()
	case "fldrslt":
		r.result()
	case "shpinst", "do":
		if r.to == body {
			r.to = shape
		}
	case "shptxt", "dptxbxtext":
		r.textBox()
	case "nesttableprops":
		r.nested = true
	case "upr":
		r.before, r.to, r.upr = r.to, skipped, true
	case "info":
		r.to = information
	case "generator":
		r.to = information
		return r.property(t.word)
	default:
		if skippedWords[t.word] {
			r.to = skipped
			return true
		}
		return r.to == information && r.property(t.word)
	}
	return true
}

// global handles the control words about the whole document.
func (r *reader) global(t token) {
	switch t.word {
	case "ansicpg":
		if _, ok := codePages[t.number]; ok {
			r.page = t.number
		}
	case "mac":
		r.page = 10000
	case "pc":
		r.page = 437
	case "pca":
		r.page = 850
	case "deff":
		r.deff, r.font = t.number, t.number
	case "deflang":
		r.language = t.number
	}
}

// format handles the formatting words of characters, paragraphs and tables.
func (r *reader) format(t token) error {
	switch t.word {
	case "f":
		r.font = t.number
	case "plain":
		r.font, r.hidden, r.gone, r.bold, r.size = r.deff, false, false, false, standardSize
		r.mark, r.raised = false, false
	case "b":
		r.bold = !t.off()
	case "fs":
		r.size = t.number
	case "super", "sub":
		r.mark = !t.off()
		r.raised = r.mark && t.word == "super"
	case "nosupersub":
		r.mark, r.raised = false, false
	case "v":
		r.hidden = !t.off()
	case "deleted", "mvf":
		r.gone = !t.off()
	case "pard":
		r.par = plain
	case "s":
		r.par.style = t.number
	case "outlinelevel":
		r.par.outline = t.number
	case "ls":
		r.par.list = t.number
	case "ilvl":
		r.par.level = min(max(t.number, 0), maxLevel)
	case "intbl":
		r.par.depth = max(r.par.depth, 1)
		return r.endBeforeTable()
	case "itap":
		r.par.depth = min(max(t.number, 0), maxNesting)
		if r.par.depth > 0 {
			return r.endBeforeTable()
		}
	case "par", "sect", "page", "column":
		if r.to == body && r.gone {
			r.story.leaveUnended(r.par)
			return nil
		}
		if r.to == body {
			return r.endParagraph()
		}
	default:
		if r.to == body {
			return r.tableWord(t)
		}
	}
	return nil
}
