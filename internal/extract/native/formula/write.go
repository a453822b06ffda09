package formula

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// part is a written part of a formula.
type part struct {
	text string
	kind kind
}

// kind is how a part meets its neighbors.
type kind int

const (
	ordinary kind = iota
	run           // characters as the author typed them: what follows may continue them
	infix         // an operator with spaces around it, unless it is a sign
	fence         // a bracket or a separator
	sign          // an operator of only the part that follows
	built         // of several parts, such as a fraction
)

// write writes an element of either language: their names differ, except for those that mean the same.
func write(n *node) part {
	if p, ok := n.omml(); ok {
		return p
	}
	return n.mathML()
}

// row writes the children one after the other.
func (n *node) row() part { return join(n.children) }

func join(nodes []*node) part {
	var b strings.Builder
	var last part
	parts := 0
	for _, n := range nodes {
		p := write(n)
		if p.text == "" {
			continue
		}
		parts++
		if p.kind == infix && (parts == 1 || last.kind == infix || opens(last)) {
			p.kind = sign
		}
		if parts > 1 && spaced(last, p) {
			b.WriteByte(' ')
		}
		b.WriteString(p.text)
		last = p
	}
	if parts == 1 {
		return last
	}
	return part{text: b.String()}
}

// spaced reports whether a space is between two neighbors.
func spaced(left, right part) bool {
	switch {
	case left.kind == run && right.kind == run, left.kind == sign: // Word cuts text anywhere
		return false
	case left.kind == infix || right.kind == infix:
		return true
	case left.kind == fence:
		return left.text == "," || left.text == ";"
	case left.kind == built && right.kind != fence && right.kind != run:
		return true
	}
	return apart(left.text, right.text)
}

func opens(p part) bool { return p.kind == fence && strings.ContainsAny(p.text, "([{⟨⌊⌈,;") }

// apart reports whether two neighbors would read as one word.
func apart(left, right string) bool {
	l, _ := utf8.DecodeLastRuneInString(left)
	r, _ := utf8.DecodeRuneInString(right)
	return wordlike(l) && wordlike(r)
}

func wordlike(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// group puts brackets around a part of more than one word.
func group(p part) string {
	text := strings.TrimSpace(p.text)
	if strings.IndexFunc(text, func(r rune) bool { return !wordlike(r) && r != '.' && r != '\'' && r != '∞' && r != '′' }) < 0 ||
		bracketed(text) || utf8.RuneCountInString(text) == 1 {
		return text
	}
	return "(" + text + ")"
}

// bracketed reports whether the first bracket closes at the end of the text.
func bracketed(text string) bool {
	if !strings.HasPrefix(text, "(") && !strings.HasPrefix(text, "[") {
		return false
	}
	depth := 0
	for i, r := range text {
		switch r {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return i == len(text)-1
			}
		}
	}
	return false
}

func fraction(above, below part, line string) part {
	return part{group(above) + line + group(below), built}
}

func scripts(base, sub, sup part) part {
	text := group(base)
	if sub.text != "" {
		text += "_" + group(sub)
	}
	if sup.text != "" {
		text += "^" + group(sup)
	}
	return part{text, built}
}

func root(degree, of part) part {
	sign := "√"
	switch degree := strings.TrimSpace(degree.text); degree {
	case "", "2":
	case "3":
		sign = "∛"
	case "4":
		sign = "∜"
	default:
		sign += "[" + degree + "]"
	}
	return part{text: sign + "(" + strings.TrimSpace(of.text) + ")"}
}

// accented puts a combining character on a base.
func accented(base part, accent string) part {
	text := group(base)
	return part{text: text + accent}
}

// accents are the combining characters of the signs that are drawn above a letter.
var accents = map[string]string{
	"^": "\u0302", "ˆ": "\u0302", "~": "\u0303", "˜": "\u0303", "¯": "\u0305", "‾": "\u0305", "―": "\u0305",
	"_": "\u0305", "˙": "\u0307", ".": "\u0307", "¨": "\u0308", "→": "\u20d7", "⃗": "\u20d7", "ˇ": "\u030c",
}

// table writes rows of cells.
func table(rows [][]part) part {
	lines := make([]string, len(rows))
	for i, row := range rows {
		cells := make([]string, len(row))
		for k, cell := range row {
			cells[k] = strings.TrimSpace(cell.text)
		}
		lines[i] = strings.Join(cells, ", ")
	}
	return part{text: "[" + strings.Join(lines, "; ") + "]"}
}

// fenced puts brackets around a text; those of a matrix become the given ones.
func fenced(open, closing, text string) part {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "[") && strings.Contains(text, ", ") && bracketed(text) && (open != "" || closing != "") {
		text = text[1 : len(text)-1]
	}
	return part{text: open + text + closing}
}
