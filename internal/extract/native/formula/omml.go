package formula

import "strings"

// omml writes an element of Office's language; ok is false for another one.
func (n *node) omml() (p part, ok bool) {
	switch n.name {
	case "oMath", "oMathPara", "e", "num", "den", "sup", "sub", "deg", "lim", "fName", "box", "borderBox", "groupChr",
		"ins", "moveTo", "sdt", "sdtContent", "smartTag", "hyperlink":
		return n.list(), true
	case "r":
		return n.run(), true
	case "t":
		return part{n.text.String(), run}, true
	case "f":
		line := "/"
		if n.property("fPr", "type", "") == "noBar" {
			line = "¦"
		}
		return fraction(n.child("num"), n.child("den"), line), true
	case "sSub", "sSup", "sSubSup":
		return scripts(n.child("e"), n.child("sub"), n.child("sup")), true
	case "sPre":
		pre := scripts(part{}, n.child("sub"), n.child("sup"))
		return part{text: pre.text + " " + n.child("e").text}, true
	case "rad":
		return root(n.child("deg"), n.child("e")), true
	case "nary":
		op := scripts(part{text: n.property("naryPr", "chr", "∫")}, n.child("sub"), n.child("sup"))
		return part{text: op.text + " " + strings.TrimSpace(n.child("e").text)}, true
	case "d":
		return n.delimited(), true
	case "func":
		return part{text: n.child("fName").text + " " + n.child("e").text}, true
	case "limLow":
		return scripts(n.child("e"), n.child("lim"), part{}), true
	case "limUpp":
		return scripts(n.child("e"), part{}, n.child("lim")), true
	case "acc":
		accent := n.property("accPr", "chr", "\u0302")
		if known := accents[accent]; known != "" {
			accent = known
		}
		return accented(n.child("e"), accent), true
	case "bar":
		if n.property("barPr", "pos", "bot") == "top" {
			return accented(n.child("e"), "\u0305"), true
		}
		return accented(n.child("e"), "\u0332"), true
	case "phant":
		if off(n.property("phantPr", "show", "1")) {
			return part{}, true
		}
		return n.list(), true
	case "m":
		return n.matrix(), true
	case "eqArr":
		var lines []string
		for _, c := range n.children {
			if c.name == "e" {
				lines = append(lines, strings.TrimSpace(strings.ReplaceAll(c.list().text, "&", "")))
			}
		}
		return part{text: strings.Join(lines, "; ")}, true
	}
	return part{}, strings.HasSuffix(n.name, "Pr")
}

// list writes the children; several formulas in one paragraph are apart.
func (n *node) list() part {
	if n.name != "oMathPara" {
		return n.row()
	}
	var formulas []string
	for _, c := range n.children {
		if text := strings.TrimSpace(write(c).text); text != "" {
			formulas = append(formulas, text)
		}
	}
	return part{text: strings.Join(formulas, "; ")}
}

// run writes an m:r, or a w:r within a formula: its texts.
func (n *node) run() part {
	var b strings.Builder
	for _, c := range n.children {
		switch c.name {
		case "t":
			b.WriteString(c.text.String())
		case "tab", "br", "cr":
			b.WriteByte(' ')
		}
	}
	return part{b.String(), run}
}

func (n *node) delimited() part {
	separator := n.property("dPr", "sepChr", "|")
	var parts []string
	for _, c := range n.children {
		if c.name == "e" {
			parts = append(parts, strings.TrimSpace(c.list().text))
		}
	}
	return fenced(n.property("dPr", "begChr", "("), n.property("dPr", "endChr", ")"), strings.Join(parts, separator))
}

func (n *node) matrix() part {
	var rows [][]part
	for _, c := range n.children {
		if c.name != "mr" {
			continue
		}
		var row []part
		for _, e := range c.children {
			row = append(row, write(e))
		}
		rows = append(rows, row)
	}
	return table(rows)
}

// child writes the first child of a name, if there is one.
func (n *node) child(name string) part {
	for _, c := range n.children {
		if c.name == name {
			return write(c)
		}
	}
	return part{}
}

// property returns the value of an element's property. A property without a value is empty.
func (n *node) property(list, name, missing string) string {
	for _, c := range n.children {
		if c.name != list {
			continue
		}
		for _, p := range c.children {
			if p.name == name {
				return p.attrs["val"]
			}
		}
	}
	return missing
}

func off(value string) bool { return value == "0" || value == "off" || value == "false" }
